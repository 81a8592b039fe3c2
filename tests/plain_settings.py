"""The settings of an installation for programs that a test starts: nothing was collected, so files keep their names."""

from anchorgpu.settings import *  # noqa: F403
from anchorgpu.settings import STORAGES as COLLECTED

STORAGES = {
    **COLLECTED,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
