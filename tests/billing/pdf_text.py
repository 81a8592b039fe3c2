"""The text of a PDF as a reader copies it: glyphs of each font through the font's own map to Unicode."""

import re
import zlib

_OBJECT = re.compile(rb"(\d+) 0 obj\s(.*?)endobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
# Of strings only those that are shown: /Lang (de) marks a run.
_MARK = re.compile(rb"/Lang ?\(\w*\)|/(\w+) [\d.]+ Tf|(\()")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def text_of(pdf: bytes) -> str:
    """All pages without white space, which a PDF does not keep. Knows what typst writes and no more."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    pages = [body for body in objects.values() if re.search(rb"/Type\s*/Page\b", body)]
    assert pages
    return squeezed("".join(_page(body, objects) for body in pages))


def squeezed(text: str) -> str:
    """A text as `text_of` gives it."""
    return "".join(text.split())


def _page(body: bytes, objects: dict[int, bytes]) -> str:
    fonts = {
        name: _unicode_map(objects[int(number)], objects)
        for name, number in re.findall(rb"/(f\d+) (\d+) 0 R", _referred(body, b"Resources", objects))
    }
    content = _content(_referred(body, b"Contents", objects))
    text, font, at = "", {}, 0
    while found := _MARK.search(content, at):
        at = found.end()
        if found[1]:
            font = fonts[found[1]]
        elif found[2]:
            end = _end_of_string(content, at)
            codes = _ESCAPE.sub(_unescape, content[at:end])
            text += "".join(font.get(codes[i : i + 2], "\ufffd") for i in range(0, len(codes), 2))
            at = end + 1
    return text


def _end_of_string(content: bytes, at: int) -> int:
    """Brackets inside a string stand alone where they are in pairs."""
    depth = 1
    while depth:
        mark = content[at : at + 1]
        depth += {b"(": 1, b")": -1}.get(mark, 0)
        at += 2 if mark == b"\\" else 1
    return at - 1


def _unescape(found: re.Match[bytes]) -> bytes:
    mark = found[1]
    return bytes([int(mark, 8)]) if mark[:1] in b"01234567" else _ESCAPED.get(mark, mark)


def _referred(body: bytes, key: bytes, objects: dict[int, bytes]) -> bytes:
    found = re.search(rb"/%s (\d+) 0 R" % key, body)
    assert found is not None
    return objects[int(found[1])]


def _content(body: bytes) -> bytes:
    found = _STREAM.search(body)
    assert found is not None
    return zlib.decompressobj().decompress(found[1]) if b"FlateDecode" in body[: found.start()] else found[1]


def _unicode_map(font: bytes, objects: dict[int, bytes]) -> dict[bytes, str]:
    cmap = _content(_referred(font, b"ToUnicode", objects))
    pairs = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.DOTALL):
        for code, text in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            pairs[bytes.fromhex(code.decode())] = bytes.fromhex(text.decode()).decode("utf-16-be")
    return pairs
