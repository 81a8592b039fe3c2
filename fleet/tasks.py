"""Celery faces of the fleet: hints and sweeps, the rows are the job."""

from celery import shared_task

from core.sweeps import sweep
from fleet.services import reminders, watch_health
from fleet.services import sweep as sweeps


@shared_task(name="fleet.work_lease", ignore_result=True)
def work_lease(lease_id: int) -> None:
    sweeps.advance_lease(lease_id=lease_id)


@shared_task(name="fleet.sweep_leases", ignore_result=True)
@sweep("leases")
def sweep_leases() -> None:
    sweeps.sweep_leases()


@shared_task(name="fleet.sweep_holds", ignore_result=True)
@sweep("holds")
def sweep_holds() -> None:
    sweeps.release_overdue_holds()


@shared_task(name="fleet.sweep_health", ignore_result=True)
@sweep("health")
def sweep_health() -> None:
    watch_health.watch_health()


@shared_task(name="fleet.sweep_machines", ignore_result=True)
@sweep("machines")
def sweep_machines() -> None:
    sweeps.reconcile_machines()


@shared_task(name="fleet.sweep_reminders", ignore_result=True)
@sweep("reminders")
def sweep_reminders() -> None:
    reminders.sweep_reminders()
