"""Reads all gauges for one scrape, bounded in time; one that cannot be read leaves the others."""

from collections.abc import Iterable, Iterator, Sequence

import structlog
from django.db import DatabaseError, connection, transaction
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from anchorgpu.metrics import shop, work
from anchorgpu.metrics.gauges import RowGauge, Sample
from core.version import VERSION

log = structlog.get_logger(__name__)

PREFIX = "anchorgpu_"
# Prometheus gives a scrape ten seconds; a table that is locked must not hold a web thread for longer.
STATEMENT_MILLISECONDS = 2000
GAUGES: Sequence[RowGauge] = (*shop.GAUGES, *work.GAUGES)


class RowsCollector(Collector):
    """The state of the shop. `anchorgpu_unreadable` is 1 for each gauge that is missing from this scrape."""

    def collect(self) -> Iterator[Metric]:
        version = GaugeMetricFamily(f"{PREFIX}info", "The version that runs.", labels=["version"])
        version.add_metric([VERSION], 1)
        yield version
        unreadable = GaugeMetricFamily(
            f"{PREFIX}unreadable", "Gauges that this scrape could not read.", labels=["gauge"]
        )
        for gauge in GAUGES:
            try:
                yield _family(gauge, _read(gauge))
            except DatabaseError as error:
                log.warning("gauge_unreadable", gauge=gauge.name, error=type(error).__name__)
                unreadable.add_metric([gauge.name], 1)
        yield unreadable


def _read(gauge: RowGauge) -> list[Sample]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MILLISECONDS}")
        return list(gauge.read())


def _family(gauge: RowGauge, samples: Iterable[Sample]) -> Metric:
    make = CounterMetricFamily if gauge.is_counter else GaugeMetricFamily
    family = make(f"{PREFIX}{gauge.name}", gauge.text, labels=gauge.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family
