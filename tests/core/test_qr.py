"""The QR code: the outline is the code, module by module, and holds nothing but the address."""

import re

import segno

from core.qr import QUIET_ZONE, qr_path

ADDRESS = "0x91f77CF69ECC5a59F80e08CD4394295d7212BA84"


def _modules(path: str, side: int) -> list[list[int]]:
    """Draw the path again."""
    rows = [[0] * side for _ in range(side)]
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path):
        for step in range(int(width)):
            rows[int(y)][int(x) + step] = 1
    return rows


def test_the_outline_is_the_code() -> None:
    path, side = qr_path(ADDRESS)
    wanted = segno.make(ADDRESS, error="m", micro=False)
    drawn = _modules(path, side)
    assert drawn == [list(row) for row in wanted.matrix_iter(border=QUIET_ZONE)]
    assert side == wanted.symbol_size(border=0)[0] + 8
    assert re.fullmatch(r"(M\d+ \d+h\d+v1h-\d+z)+", path)


def test_the_margin_is_as_wide_as_readers_ask() -> None:
    path, side = qr_path(ADDRESS)
    rows = _modules(path, side)
    assert QUIET_ZONE == 4
    assert not any(any(row) for row in rows[:4] + rows[-4:])
    assert not any(any(row[:4] + row[-4:]) for row in rows)
