"""Gauges of what has to go on by itself: decisions, outbox, mail, webhooks, sweeps."""

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Count, Min, Q

from anchorgpu import keeping
from anchorgpu.metrics.gauges import RowGauge, Sample, age, counted, number, product_age
from core import clock, sweeps
from core.models import Decision, Event, LoginAttempt, OutboxRow, OutgoingMail, SweepRun
from fleet.gateway import heartbeat
from partners.models import WebhookDelivery, WebhookEndpoint


def _decisions_by_kind() -> Iterable[Sample]:
    found = dict(Decision.objects.filter(closed_at=None).order_by().values_list("kind").annotate(Count("pk")))
    return [((kind,), float(found.get(kind, 0))) for kind in sorted({*settings.DECISION_KINDS, *found})]


def _oldest_decision() -> Iterable[Sample]:
    oldest = Decision.objects.filter(closed_at=None).aggregate(at=Min("opened_at"))["at"]
    return [((), product_age(oldest))]


def _overdue_decisions() -> Iterable[Sample]:
    return number(Decision.objects.filter(closed_at=None, due_at__lt=clock.now()))


def _outbox() -> Iterable[Sample]:
    waiting = (OutboxRow.Status.PENDING, OutboxRow.Status.PARKED)
    return counted(OutboxRow.objects.filter(status__in=waiting), "status", waiting)


def _oldest_pending() -> Iterable[Sample]:
    oldest = OutboxRow.objects.filter(status=OutboxRow.Status.PENDING).aggregate(at=Min("event__at"))["at"]
    return [((), product_age(oldest))]


def _mail() -> Iterable[Sample]:
    waiting = (OutgoingMail.Status.QUEUED, OutgoingMail.Status.FAILED)
    return counted(OutgoingMail.objects.filter(status__in=waiting), "status", waiting)


def _webhooks() -> Iterable[Sample]:
    pending = WebhookDelivery.objects.filter(status=WebhookDelivery.Status.PENDING)
    found = pending.aggregate(waiting=Count("pk"), failing=Count("pk", filter=Q(attempts__gt=0)))
    return [(("pending",), float(found["waiting"])), (("failing",), float(found["failing"]))]


def _runs() -> list[SweepRun]:
    # Gateways have a gauge of their own, and their names those of machines.
    return list(SweepRun.objects.exclude(name__startswith=heartbeat.NAME).order_by("name"))


def _sweep_ages() -> Iterable[Sample]:
    return [
        ((run.name,), age(run.last_finished_at or run.last_started_at))
        for run in _runs()
        if run.name in settings.SWEEP_INTERVALS
    ]


def _sweep_limits() -> Iterable[Sample]:
    return [((name,), sweeps.limit(name).total_seconds()) for name in sorted(settings.SWEEP_INTERVALS)]


def _failing_sweeps() -> Iterable[Sample]:
    return [((run.name,), float(bool(run.last_error))) for run in _runs()]


def _last_backup() -> Iterable[Sample]:
    run = SweepRun.objects.filter(name=keeping.NAME).first()
    return [((), age(run.last_finished_at))] if run is not None and run.last_finished_at else []


def _gateway_age() -> Iterable[Sample]:
    run = SweepRun.objects.filter(name=heartbeat.NAME).first()
    return [((), age(run.last_finished_at))] if run is not None else []


GAUGES = (
    RowGauge("decisions_open", "Decisions that wait for staff.", ("kind",), _decisions_by_kind),
    RowGauge("decision_oldest_age_seconds", "Age of the oldest open decision.", (), _oldest_decision),
    RowGauge("decisions_overdue", "Open decisions whose time is over.", (), _overdue_decisions),
    RowGauge(
        "outbox_rows", "Events that are not handled yet, or parked as a decision.", ("status",), _outbox
    ),
    RowGauge(
        "outbox_oldest_age_seconds", "Age of the oldest event still to be handled.", (), _oldest_pending
    ),
    RowGauge("mails", "Mails that wait, or that nobody took.", ("status",), _mail),
    RowGauge(
        "webhook_deliveries", "Webhooks still to be delivered; failing: tried before.", ("state",), _webhooks
    ),
    RowGauge(
        "webhook_endpoints",
        "Endpoints of partners.",
        ("status",),
        lambda: counted(WebhookEndpoint.objects.all(), "status", WebhookEndpoint.Status.values),
    ),
    RowGauge("sweep_age_seconds", "Time since a sweep last finished.", ("sweep",), _sweep_ages),
    RowGauge("sweep_limit_seconds", "How long a sweep may be silent.", ("sweep",), _sweep_limits),
    RowGauge(
        "sweep_failing", "1 where the last run of a sweep raised an error.", ("sweep",), _failing_sweeps
    ),
    RowGauge(
        "gateway_age_seconds", "Time since the SSH gateway last said that it listens.", (), _gateway_age
    ),
    RowGauge(
        "backup_age_seconds", "Time since the last good backup; absent before the first.", (), _last_backup
    ),
    RowGauge(
        "ssh_logins",
        "Logins of buyers at the gateway, as their events tell (one a minute above 60 an hour of a key).",
        (),
        lambda: number(Event.objects.filter(name="lease.login")),
        is_counter=True,
    ),
    RowGauge(
        "staff_login_failures",
        "Failed staff logins that still count against their bounds.",
        (),
        lambda: number(LoginAttempt.objects.all()),
    ),
)
