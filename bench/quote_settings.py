"""The shop's own settings with one more address: the bare view that bench.api_quote measures against."""

from anchorgpu.settings import *  # noqa: F403

ROOT_URLCONF = "bench.bare_quote"
