"""Static files as they are served: hashed, compressed, and the style sheets as one file.

css/shop.css names its parts by @import, which browsers understand as it stands (tests, development). Where files are
collected the parts are put in its place: a page waits for one request instead of five.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]

BUNDLE = "css/shop.css"
_IMPORT = re.compile(r'^@import "([a-z-]+\.css)";$', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)


def bundled(paths: Mapping[str, tuple[Storage, str]]) -> str:
    """The text of the bundle. `paths`: source of each collected file. Raises KeyError where a part is missing."""
    source = _text(paths, BUNDLE)
    return _COMMENT.sub("", _IMPORT.sub(lambda found: _text(paths, f"css/{found[1]}"), source))


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """whitenoise's storage; the bundle is made before names are hashed."""

    def post_process(
        self, paths: dict[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        if not dry_run and BUNDLE in paths:
            Path(self.path(BUNDLE)).write_text(bundled(paths), encoding="utf-8")
            # Names are hashed over the text at its source: that of the bundle is where it was written just now.
            paths = {**paths, BUNDLE: (self, BUNDLE)}
        yield from super().post_process(paths, dry_run, **options)


def _text(paths: Mapping[str, tuple[Storage, str]], name: str) -> str:
    storage, path = paths[name]
    with storage.open(path) as file:
        return str(file.read().decode())
