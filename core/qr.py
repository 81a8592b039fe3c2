"""A QR code as the outline of an SVG path: no style, no script, no image file."""

import segno

# ISO/IEC 18004 asks for a quiet zone of four modules.
QUIET_ZONE = 4


def qr_path(text: str) -> tuple[str, int]:
    """The path data of the dark modules and the side of the square, in modules."""
    rows = [list(row) for row in segno.make(text, error="m", micro=False).matrix_iter(border=QUIET_ZONE)]
    parts = []
    for y, row in enumerate(rows):
        x = 0
        while x < len(row):
            width = 0
            while x + width < len(row) and row[x + width]:
                width += 1
            if width:
                parts.append(f"M{x} {y}h{width}v1h-{width}z")
            x += width or 1
    return "".join(parts), len(rows)
