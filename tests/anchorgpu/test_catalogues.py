"""Translations are compiled where their text changed; a program that would speak English by mistake does not start."""

from pathlib import Path

import pytest

from anchorgpu import catalogues, startup
from anchorgpu.addresses import SettingError


def test_what_changed_is_compiled_and_what_is_stale_stops_the_start(tmp_path: Path) -> None:
    source = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text('msgid "Pay"\nmsgstr "Zahlen"\n', encoding="utf-8")
    with pytest.raises(SettingError, match=r"not compiled \(de\): run bin/install"):
        startup.refuse_stale_translations(tmp_path)
    assert catalogues.compile_all(tmp_path) == 1
    assert sorted(file.name for file in source.parent.iterdir()) == ["django.mo", "django.po"]
    startup.refuse_stale_translations(tmp_path)
    assert catalogues.compile_all(tmp_path) == 0
    # Another text, whatever the times of the files say.
    source.write_text('msgid "Pay"\nmsgstr "Bezahlen"\n', encoding="utf-8")
    with pytest.raises(SettingError):
        startup.refuse_stale_translations(tmp_path)
    assert catalogues.compile_all(tmp_path) == 1
    source.with_suffix(".mo").write_bytes(b"half")
    assert [found.name for found in catalogues.stale_sources(tmp_path)] == ["django.po"]
