"""What the Slurm driver keeps of a lease because Slurm itself has no place for it."""

from django.db import models
from django.db.models import Q


class SlurmMachine(models.Model):
    """One lease on a Slurm cluster: its account from the pool, the cards that were asked for, how far it has come.

    Written before the reservation is made, so that a worker that is killed in between loses neither. What the
    controller knows (nodes, times, jobs) is read from there. Only fleet.providers.slurm reads or writes it.
    """

    class State(models.TextChoices):
        ASKED = "asked"
        RESERVED = "reserved"
        PREPARED = "prepared"
        OPEN = "open"
        ENDED = "ended"
        WIPED = "wiped"

    lease_id = models.BigIntegerField(unique=True)
    account = models.CharField(max_length=32)
    cards = models.JSONField(help_text="[{node, index, serial, model}]")
    image = models.CharField(max_length=60)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(help_text="To the microsecond; Slurm's own is the next whole second.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)
    opened_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the buyer was let in; before that there is nothing of his to erase.",
    )
    wipe_job = models.BigIntegerField(null=True, blank=True)
    wiped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account"], condition=~Q(state="wiped"), name="slurm_account_one_lease"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} {self.state}"

    @property
    def node_names(self) -> list[str]:
        return sorted({str(card["node"]) for card in self.cards})
