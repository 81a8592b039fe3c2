"""Celery faces of billing: watching, the pool, the demo wallet, event handlers."""

from celery import shared_task

from billing import card_tasks, money_tasks
from billing.services import fill_pool as pool_service
from billing.services import issue_missing, missing_networks, search_cards, search_gap, watch
from billing.services import read_prices as price_service
from billing.services import render_invoice as render_invoices
from billing.services import send_demo_transfer as demo
from core.sweeps import each, sweep


@shared_task(name="billing.watch_network", ignore_result=True)
def watch_network(slug: str) -> None:
    watch.watch_network(slug)


@shared_task(name="billing.sweep_networks", ignore_result=True)
@sweep("networks")
def sweep_networks() -> None:
    watch.watch_all()


@shared_task(name="billing.sweep_missing_networks", ignore_result=True)
@sweep("missing_networks")
def sweep_missing_networks() -> None:
    missing_networks.report_missing()


@shared_task(name="billing.sweep_prices", ignore_result=True)
@sweep("prices")
def sweep_prices() -> None:
    price_service.read_prices()


@shared_task(name="billing.fill_pool", ignore_result=True)
@sweep("pool")
def fill_pool() -> None:
    pool_service.fill_pool()


@shared_task(name="billing.sweep_lost_orders", ignore_result=True)
@sweep("lost_orders")
def sweep_lost_orders() -> None:
    each((search_gap.search_gap, search_cards.search_cards), lambda look: look())


@shared_task(name="billing.send_demo_transfer", ignore_result=True)
def send_demo_transfer(row_id: int) -> None:
    demo.send_demo_transfer(row_id)


@shared_task(name="billing.sweep_demo_transfers", ignore_result=True)
@sweep("demo_transfers")
def sweep_demo_transfers() -> None:
    for row_id in demo.unsent_ids():
        demo.send_demo_transfer(row_id)


@shared_task(name="billing.render_invoice", ignore_result=True)
def render_invoice(invoice_id: int) -> None:
    render_invoices.render_invoice(invoice_id)


@shared_task(name="billing.sweep_invoices", ignore_result=True)
@sweep("invoices")
def sweep_invoices() -> None:
    issue_missing.issue_missing()
    render_invoices.render_due()


# Celery finds tasks by this module; those of bank cards and of money that goes back have one of their own.
__all__ = ["card_tasks", "money_tasks"]
