"""Each kind of decision in words. A kind that this version does not know is said by its name: nothing is hidden."""

from django.utils.translation import gettext_lazy as _

from desk.decision_words.machines import MACHINES
from desk.decision_words.money import MONEY
from desk.decision_words.rails import RAILS
from desk.decision_words.restored import RESTORED
from desk.decision_words.running import RUNNING
from desk.decision_words.said import Words

WORDS: dict[str, Words] = MONEY | RAILS | MACHINES | RUNNING | RESTORED

UNKNOWN = Words(
    tone="warn",
    icon="warn",
    badge=_("Decision"),
    heading=lambda about: about.decision.kind,
    text=lambda about: about.decision.subject,
)


def words_of(kind: str) -> Words:
    return WORDS.get(kind, UNKNOWN)
