"""The shop's own settings with one more address: the bare view that bench.checkout_rate measures against."""

from anchorgpu.settings import *  # noqa: F403

ROOT_URLCONF = "bench.bare"
