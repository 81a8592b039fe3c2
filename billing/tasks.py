"""Celery faces of billing: watching, the pool, the demo wallet, event handlers."""

from celery import shared_task

from billing import offers
from billing.services import fill_pool as pool_service
from billing.services import missing_networks, refund_due, watch
from billing.services import send_demo_transfer as demo
from core.models import Event
from core.outbox import handler
from core.sweeps import sweep


@shared_task(name="billing.watch_network", ignore_result=True)
def watch_network(slug: str) -> None:
    watch.watch_network(slug)


@shared_task(name="billing.sweep_networks", ignore_result=True)
@sweep("networks")
def sweep_networks() -> None:
    for slug in offers.networks():
        watch.watch_network(slug)


@shared_task(name="billing.sweep_missing_networks", ignore_result=True)
@sweep("missing_networks")
def sweep_missing_networks() -> None:
    missing_networks.report_missing()


@shared_task(name="billing.fill_pool", ignore_result=True)
@sweep("pool")
def fill_pool() -> None:
    pool_service.fill_pool()


@shared_task(name="billing.send_demo_transfer", ignore_result=True)
def send_demo_transfer(row_id: int) -> None:
    demo.send_demo_transfer(row_id)


@shared_task(name="billing.sweep_demo_transfers", ignore_result=True)
@sweep("demo_transfers")
def sweep_demo_transfers() -> None:
    for row_id in demo.unsent_ids():
        demo.send_demo_transfer(row_id)


@handler("billing.on_order_cancelled")
def on_order_cancelled(event: Event) -> None:
    refund_due.after_cancel(order_id=event.order_ref)
