"""Instants in the admin: one sortable form in every language, with the zone."""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i:s T"
