"""The style sheets: sources as they are written, one file as they are served."""

import re
from pathlib import Path

from django.contrib.staticfiles.finders import get_finders
from django.core.files.storage import Storage

from anchorgpu.bundle import BUNDLE, StaticStorage, bundled

CSS = Path(__file__).resolve().parents[2] / "static" / "css"


def _paths() -> dict[str, tuple[Storage, str]]:
    return {name: (storage, name) for finder in get_finders() for name, storage in finder.list([])}


def test_the_bundle_holds_every_part_in_its_order() -> None:
    parts = re.findall(r'@import "([^"]+)";', (CSS / "shop.css").read_text())
    assert parts == ["tokens.css", "fonts.css", "site.css", "plan.css"]
    text = bundled(_paths())
    assert "@import" not in text
    assert "/*" not in text
    assert text.index("@layer tokens, reset") < text.index("@font-face") < text.index("@layer layout")
    for part in parts:
        source = re.sub(r"/\*.*?\*/", "", (CSS / part).read_text(), flags=re.DOTALL)
        assert sum(map(source.count, "{}")) <= sum(map(text.count, "{}"))
        assert source.strip().splitlines()[-1] in text


def test_layers_come_in_the_order_of_the_tokens() -> None:
    assert BUNDLE == "css/shop.css"
    assert bundled(_paths()).lstrip().startswith("@layer tokens,")


def test_the_file_that_pages_name_is_the_bundle(tmp_path: Path) -> None:
    """Names are hashed after the parts are in their place, and the pictures and fonts in them lead to hashed files."""
    paths = {name: found for name, found in _paths().items() if name.startswith(("css/", "fonts/", "icons/"))}
    storage = StaticStorage(location=tmp_path, base_url="/static/")
    for name, (source, path) in paths.items():
        with source.open(path) as file:
            storage.save(name, file)
    failed = [found for *_names, found in storage.post_process(paths) if isinstance(found, Exception)]
    assert failed == []
    served = (tmp_path / storage.hashed_files[BUNDLE]).read_text()
    assert served.lstrip().startswith("@layer tokens,")
    assert "@import" not in served
    fonts = re.findall(r'url\("?(\.\./fonts/[^")]+)', served)
    assert fonts
    assert all((tmp_path / "css" / font).is_file() and font.count(".") > 3 for font in fonts)
