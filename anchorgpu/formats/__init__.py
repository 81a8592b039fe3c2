"""Formats that Django uses where no page has its own: the admin. Pages use core.formats."""
