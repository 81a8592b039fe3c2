"""Partners, their people and keys; whose order is whose; requests that are answered once; webhooks."""

from partners.models.accounts import ApiKey, LoginLink, Member, Partner
from partners.models.requests import IdempotentRequest, PartnerEvent, PartnerOrder
from partners.models.webhooks import DeliveryAttempt, WebhookDelivery, WebhookEndpoint

__all__ = [
    "ApiKey",
    "DeliveryAttempt",
    "IdempotentRequest",
    "LoginLink",
    "Member",
    "Partner",
    "PartnerEvent",
    "PartnerOrder",
    "WebhookDelivery",
    "WebhookEndpoint",
]
