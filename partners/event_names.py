"""Which events an endpoint can ask for: those that the wiring hands to this app."""

from django.conf import settings

HANDLER = "partners.on_event"
# Sent when somebody asks for it; it is of no order and in no log.
TEST_EVENT = "webhook.test"


def event_names() -> list[str]:
    """All of them, in the order of the alphabet."""
    return sorted(name for name, handlers in settings.DOMAIN_EVENT_HANDLERS.items() if HANDLER in handlers)
