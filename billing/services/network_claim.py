"""The row of one network while a worker holds it: renewed on the way, written by its holder only."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from billing.models import ChainState
from core import clock

# A step of a round takes seconds: endpoints time out after 5 s each. A killed worker blocks the network this long.
CLAIM_SECONDS = 60


class ClaimLost(Exception):
    """Another worker has the network now: what this one found is not written."""


@dataclass(frozen=True)
class NetworkClaim:
    """A claim on a ChainState row by its token."""

    rows: QuerySet[ChainState]
    token: uuid.UUID

    def renew(self) -> None:
        """Before each step. Raises ClaimLost where the time is over and another worker came."""
        until = clock.system_now() + timedelta(seconds=CLAIM_SECONDS)
        self.write(claim_until=until)

    def write(self, **values: Any) -> None:
        """Only the holder of the claim writes the row. Raises ClaimLost."""
        if not self.rows.filter(claim_token=self.token).update(**values):
            raise ClaimLost
