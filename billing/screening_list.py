"""The form of a screening list. Free of Django's models: the settings check it before there are any."""

from billing.addresses import normalize_address
from core.errors import Invalid


def parse(text: str) -> frozenset[str]:
    """Addresses of a list: one on a line, # begins a comment. Raises ValueError that names the line: a list that was
    read in half would clear people that it names."""
    found = set()
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        try:
            found.add(normalize_address(entry))
        except Invalid as error:
            raise ValueError(f"line {number} holds no address") from error
    return frozenset(found)
