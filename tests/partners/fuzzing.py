"""The API against its own document: schemathesis sends what a machine makes up and judges each answer."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "response_schema_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "negative_data_rejection",
    "ignored_auth",
)
# How a request that the document does not allow may be refused. 413: a text that is too long can be that long.
REFUSED = ("400", "401", "403", "404", "406", "409", "410", "413", "415", "422", "429")
PHASES = ("examples", "fuzzing", "stateful")

Change = Callable[[], dict[str, Any]]


@dataclass
class Found:
    """What a run saw: requests by phase, answers by call and status, checks, and what failed."""

    requests: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> set[str]:
        """The calls that were answered by a success at least once."""
        return {call for (call, status), _count in self.answers.items() if status < 300}


def run(address: str, key: str, *, examples: int, seed: int, bodies: Mapping[str, Change]) -> Found:
    """All phases over the whole document, `examples` for each call of it in a phase.

    In sequences of calls `bodies` (by call) gives fields of a body: a lot that is sold, a key that can be used. A
    machine that makes up words never gets as far as an order.
    """
    found = Found()
    schema = schemathesis.openapi.from_url(
        f"{address}/api/v1/openapi.json", config=_config(key, examples, seed)
    )
    with _sensible(bodies):
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                _note(event, found)
            elif isinstance(event, events.NonFatalError):
                found.failures.append(f"{event.phase} {event.label}: {event.value!r}")
            elif isinstance(event, events.FatalError):
                raise event.exception
    return found


@contextmanager
def _sensible(bodies: Mapping[str, Change]) -> Iterator[None]:
    def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
        is_stateful = case.meta is not None and case.meta.phase.name.value == "stateful"
        changes = bodies.get(case.operation.label)
        if is_stateful and changes and case.meta.generation.mode.is_positive and isinstance(case.body, dict):
            case.body = case.body | changes()

    schemathesis.hook(before_call)
    try:
        yield
    finally:
        schemathesis.hooks.unregister(before_call)


def _note(event: events.ScenarioFinished, found: Found) -> None:
    recorder = event.recorder
    for case_id, interaction in recorder.interactions.items():
        if interaction.response is not None:
            found.requests[event.phase.value] += 1
            call = recorder.cases[case_id].value.operation.label
            found.answers[call, interaction.response.status_code] += 1
    for checks in recorder.checks.values():
        for check in checks:
            found.checked[check.name] += 1
            if check.status == Status.FAILURE and check.failure_info is not None:
                failure = check.failure_info.failure
                said = f"{event.phase.value} {event.label} {check.name}: {failure.title} {failure.message}"
                found.failures.append(f"{said}\n{check.failure_info.code_sample}")


def _config(key: str, examples: int, seed: int) -> SchemathesisConfig:
    on = {"enabled": True}
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "continue-on-failure": True,
            "headers": {"Authorization": f"Bearer {key}"},
            "checks": {
                "enabled": False,
                **dict.fromkeys(CHECKS, on),
                "negative_data_rejection": on | {"expected-statuses": list(REFUSED)},
            },
            "phases": {"enabled": False, **dict.fromkeys(PHASES, on)},
            "generation": {"max-examples": examples},
        }
    )
