"""The shop's own settings with the bare pages of bench.pages, its templates and static files in its own folder."""

import os
from pathlib import Path

from anchorgpu.settings import *  # noqa: F403
from anchorgpu.settings import COMPRESSED_VIEWS as SHOP_VIEWS
from anchorgpu.settings import TEMPLATES as SHOP_TEMPLATES

_FOLDER = Path(os.environ["BENCH_FOLDER"])
ROOT_URLCONF = "bench.bare_page"
STATIC_ROOT = _FOLDER / "static"
COMPRESSED_VIEWS = SHOP_VIEWS | {"bare_page"}
TEMPLATES = [{**SHOP_TEMPLATES[0], "DIRS": [*SHOP_TEMPLATES[0]["DIRS"], _FOLDER / "bare"]}]  # type: ignore[misc]
