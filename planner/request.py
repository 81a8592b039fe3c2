"""What somebody asks of the planner, read from a form, JSON or the command line and checked field by field."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from planner import checks, tensor
from planner.config_json import architecture_from_config, architecture_from_text
from planner.errors import PlanError
from planner.pilot import Pilot, pilot_from_mapping
from planner.presets import preset
from planner.run import RUN_FIELDS, Run, run_from_mapping
from planner.sizes import Candidates, guessed, known

DEFAULT_CHANCE: Final = Fraction(4, 5)
"""Share of runs that end with a usable result, until a pilot and a restored checkpoint say more. An assumption."""

MAX_TOKENS: Final = 10**15
MAX_LOTS: Final = 500

_OWN_FIELDS: Final = ("model", "tokens", "epochs", "chance", "rocm_ready", "pilot", "lots")


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """`tokens` include padding, of one epoch; None: memory only. `lots` are codes to judge; empty: all.

    Where `shape_given` is False the planner chooses between one card and sharding for each lot.
    """

    candidates: Candidates
    run: Run
    tokens: int | None = None
    epochs: Fraction = Fraction(1)
    chance: Fraction = DEFAULT_CHANCE
    rocm_ready: bool = False
    pilot: Pilot | None = None
    lots: tuple[str, ...] = ()
    shape_given: bool = False

    @property
    def trained_tokens(self) -> float | None:
        return None if self.tokens is None else self.tokens * float(self.epochs)


def request_from_mapping(data: object) -> PlanRequest:
    """The fields of `POST plans`: model, the fields of Run, tokens, epochs, chance, rocm_ready, pilot, lots.

    Raises PlanError with the field at fault.
    """
    given = checks.mapping(data, field="request")
    checks.known_fields(given, (*_OWN_FIELDS, *RUN_FIELDS))
    run = run_from_mapping(given)
    tokens = given.get("tokens")
    candidates = candidates_from(given.get("model"))
    # The heads of a guessed shape are a guess, nothing to refuse a run by.
    if run.tensor_parallel and candidates.certain:
        tensor.check_heads(candidates.likely, run.n_cards)
    return PlanRequest(
        candidates=candidates,
        run=run,
        tokens=None if tokens is None else checks.whole(tokens, field="tokens", low=1, high=MAX_TOKENS),
        epochs=_fraction(given, "epochs", Fraction(1), Fraction(1, 1000), Fraction(10_000)),
        chance=_fraction(given, "chance", DEFAULT_CHANCE, Fraction(1, 1000), Fraction(1)),
        rocm_ready=checks.truth(given.get("rocm_ready") or False, field="rocm_ready"),
        pilot=pilot_from_mapping(given.get("pilot")),
        lots=_lots(given.get("lots")),
        shape_given=run.sharding != "none" or given.get("n_cards") is not None,
    )


def candidates_from(value: object) -> Candidates:
    """{"preset": name}, {"config": text or object} or {"params": size}: exactly one of them."""
    model = checks.mapping(value, field="model")
    checks.known_fields(model, ("preset", "config", "params"), prefix="model.")
    ways = [name for name in ("preset", "config", "params") if model.get(name) not in (None, "")]
    if len(ways) != 1:
        raise PlanError(
            code="one_model",
            field="model",
            message="Give exactly one of: a known name, a config.json, a number of parameters.",
        )
    if ways == ["preset"]:
        return known(preset(model["preset"]))
    if ways == ["params"]:
        return guessed(model["params"])
    config = model["config"]
    return known(
        architecture_from_text(config) if isinstance(config, str) else architecture_from_config(config)
    )


def _fraction(given: checks.Mapped, name: str, default: Fraction, low: Fraction, high: Fraction) -> Fraction:
    value = given.get(name)
    return default if value is None else checks.exact(value, field=name, low=low, high=high)


def _lots(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or len(value) > MAX_LOTS:
        raise PlanError(code="not_a_list", field="lots", message="Enter a list of lot codes.")
    return tuple(checks.code(item, field="lots") for item in value)
