"""Celery faces of core: the outbox sweep and mail."""

from celery import shared_task

from core import mail, outbox, staff_login
from core.sweeps import sweep


@shared_task(name="core.sweep_outbox", ignore_result=True)
@sweep("outbox")
def sweep_outbox() -> None:
    outbox.drain()


@shared_task(name="core.send_mail", ignore_result=True)
def send_mail(mail_id: int) -> None:
    mail.send_one(mail_id)


@shared_task(name="core.sweep_mail", ignore_result=True)
@sweep("mail")
def sweep_mail() -> None:
    for mail_id in mail.due_ids():
        mail.send_one(mail_id)


@shared_task(name="core.sweep_logins", ignore_result=True)
@sweep("logins")
def sweep_logins() -> None:
    staff_login.forget_old()
