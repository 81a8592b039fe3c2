"""Nodes and cards, holds and reservations, leases, their keys and records."""

from fleet.models.holds import Hold, Reservation
from fleet.models.leases import AccessKey, Lease
from fleet.models.machines import Card, MaintenanceWindow, Node
from fleet.models.records import EngineSilence, Outage, Reminder
from fleet.models.simulated import SimulatedFault, SimulatedMachine
from fleet.models.slurm import SlurmMachine

__all__ = [
    "AccessKey",
    "Card",
    "EngineSilence",
    "Hold",
    "Lease",
    "MaintenanceWindow",
    "Node",
    "Outage",
    "Reminder",
    "Reservation",
    "SimulatedFault",
    "SimulatedMachine",
    "SlurmMachine",
]
