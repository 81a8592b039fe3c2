"""Tests mirror the apps; what they share is in tests.services (servers) and tests.factories (rows)."""
