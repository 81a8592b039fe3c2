"""Celery faces of core: the outbox sweep and mail."""

from celery import shared_task

from core import hints, mail, outbox, staff_login, staff_sessions
from core.services import watch_sweeps
from core.sweeps import sweep


@shared_task(name="core.sweep_outbox", ignore_result=True)
@sweep("outbox")
def sweep_outbox() -> None:
    outbox.drain()


@shared_task(name="core.pass_on_hints", ignore_result=True)
def pass_on_hints(given: list[tuple[str, list[object]]]) -> None:
    hints.pass_on(given)


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
    staff_sessions.forget_old()


@shared_task(name="core.sweep_late_sweeps", ignore_result=True)
@sweep("late_sweeps")
def sweep_late_sweeps() -> None:
    watch_sweeps.watch_sweeps()
