"""Instants in the admin: one sortable form in every language, with the zone. Figures group as in core.formats."""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i:s T"
THOUSAND_SEPARATOR = "\u202f"
