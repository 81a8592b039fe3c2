"""Remember when a key was last used, so that staff see which ones nobody needs any more."""

from datetime import timedelta

from django.db.models import Q

from core import clock
from partners.models import ApiKey

# A busy key would otherwise write a row at each request; a minute is exact enough for its purpose.
_GRAIN = timedelta(minutes=1)


def note_use(key: ApiKey) -> None:
    """One UPDATE at most once a minute; no lock, safe to repeat."""
    moment = clock.now()
    if key.last_used_at is None or key.last_used_at <= moment - _GRAIN:
        ApiKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lt=moment), pk=key.pk).update(
            last_used_at=moment
        )
