"""Memory, time and cost of a training run, computed without Django, settings or a database."""

from planner.advise import LotVerdict, Plan, plan
from planner.errors import PlanError
from planner.request import PlanRequest, request_from_mapping

__all__ = ["LotVerdict", "Plan", "PlanError", "PlanRequest", "plan", "request_from_mapping"]
