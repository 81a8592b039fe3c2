"""The settings as the type checker loads them: whole and valid without an installation."""

import os
import tempfile
from pathlib import Path

from tests.environment import production_settings

with tempfile.TemporaryDirectory(prefix="anchorgpu-types-") as _folder:
    if "DATABASE_URL" not in os.environ:
        os.environ.update(production_settings(Path(_folder)))
    from anchorgpu.settings import *  # noqa: F403  # the files are read while it is imported, and only then
