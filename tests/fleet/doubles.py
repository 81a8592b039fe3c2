"""A provider that goes wrong where a test wants it to; beside the switch of the simulated engine itself."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from fleet.providers.base import Health, LeaseSpec, Login, Observation, ObservedCard, WipeReport
from fleet.providers.simulated import SimulatedProvider

Hook = Callable[[], object]


class FaultyProvider:
    """The simulated engine with hooks: `before` and `after` run round a verb and may raise, `seen` alters verify."""

    def __init__(self) -> None:
        self.inner = SimulatedProvider()
        self.before: dict[str, list[Hook]] = defaultdict(list)
        self.after: dict[str, list[Hook]] = defaultdict(list)
        self.calls: list[str] = []
        self.seen: Callable[[tuple[ObservedCard, ...]], tuple[ObservedCard, ...]] | None = None
        self.granted: Callable[[Observation], Observation] | None = None

    def fail(self, verb: str, error: Exception, *, times: int = 1, after_effect: bool = False) -> None:
        """Raise instead of the verb, or after it has taken effect, the next `times` times."""

        def hook() -> None:
            raise error

        (self.after if after_effect else self.before)[verb].extend([hook] * times)

    def _run(self, verb: str, call: Callable[[], Any]) -> Any:
        self.calls.append(verb)
        if self.before[verb]:
            self.before[verb].pop(0)()
        result = call()
        if self.after[verb]:
            self.after[verb].pop(0)()
        return result

    def reserve(self, spec: LeaseSpec) -> Observation:
        granted: Observation = self._run("reserve", lambda: self.inner.reserve(spec))
        return granted if self.granted is None else self.granted(granted)

    def prepare(self, lease_id: int) -> None:
        self._run("prepare", lambda: self.inner.prepare(lease_id))

    def verify(self, lease_id: int) -> tuple[ObservedCard, ...]:
        cards: tuple[ObservedCard, ...] = self._run("verify", lambda: self.inner.verify(lease_id))
        return cards if self.seen is None else self.seen(cards)

    def open_access(self, lease_id: int, members: tuple[str, ...]) -> None:
        self._run("open_access", lambda: self.inner.open_access(lease_id, members))

    def members(self, lease_id: int, members: tuple[str, ...]) -> None:
        self._run("members", lambda: self.inner.members(lease_id, members))

    def admit_test(self, lease_id: int, key_line: str) -> None:
        self.inner.admit_test(lease_id, key_line)

    def login(self, lease_id: int, username: str) -> Login:
        return self.inner.login(lease_id, username)

    def extend(self, lease_id: int, ends_at: datetime) -> None:
        self._run("extend", lambda: self.inner.extend(lease_id, ends_at))

    def end(self, lease_id: int) -> None:
        self._run("end", lambda: self.inner.end(lease_id))

    def wipe(self, lease_id: int) -> WipeReport:
        report: WipeReport = self._run("wipe", lambda: self.inner.wipe(lease_id))
        return report

    def observe(self, lease_id: int) -> Observation | None:
        return self.inner.observe(lease_id)

    def living(self) -> tuple[int, ...]:
        return self.inner.living()

    def health(self, lease_ids: tuple[int, ...]) -> dict[int, Health]:
        found: dict[int, Health] = self._run("health", lambda: self.inner.health(lease_ids))
        if self.seen is not None:
            see = self.seen
            return {pk: replace(entry, cards=see(entry.cards)) for pk, entry in found.items()}
        return found

    def nodes_away(self) -> tuple[str, ...]:
        return self.inner.nodes_away()
