"""The quality gate: what bin/test runs besides the tests."""
