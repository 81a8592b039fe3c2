"""What an API key may do. A call names the scope that it needs; catalogue, plans and quotes need none."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    ORDERS_READ = "orders:read", _("read orders and events")
    ORDERS_WRITE = "orders:write", _("place, extend and cancel orders")
    ACCESS_READ = "access:read", _("read logins")
    WEBHOOKS = "webhooks", _("manage webhooks")
