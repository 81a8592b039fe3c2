"""The shop's own settings with the bare views of all measurements, for bench.load."""

from bench.page_settings import *  # noqa: F403

ROOT_URLCONF = "bench.bare_load"
