"""Bank cards for staff: sessions with what the processor said of them, and the events that came. Read-only."""

from django.contrib import admin

from billing.models import CardEvent, CardFact, CardSession
from core.admin_rows import ReadOnlyAdmin, ReadOnlyInline


class CardFactInline(ReadOnlyInline):
    model = CardFact
    fields = [
        "kind",
        "reference",
        "status",
        "payment_status",
        "amount_minor",
        "currency",
        "problem",
        "read_at",
    ]


@admin.register(CardSession)
class CardSessionAdmin(ReadOnlyAdmin):
    list_display = ["payment", "attempt", "status", "amount_minor", "currency", "expires_at", "last_error"]
    list_filter = ["status"]
    list_select_related = ["payment", "payment__order"]
    search_fields = ["payment__order__public_id", "session_id", "facts__payment_intent"]
    # The address of the payment page is the buyer's.
    exclude = ["claim_token", "claim_until", "url"]
    ordering = ["-id"]
    inlines = [CardFactInline]


@admin.register(CardEvent)
class CardEventAdmin(ReadOnlyAdmin):
    list_display = ["event_id", "kind", "session_id", "received_at", "applied_at", "last_error"]
    list_filter = ["kind"]
    search_fields = ["event_id", "session_id", "payment_intent"]
    # It names the payment page, and the order page to which that leads back: who has these can act as the buyer.
    exclude = ["body"]
    ordering = ["-id"]
