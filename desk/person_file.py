"""The file that a buyer gets: his data as JSON in plain names, with his documents."""

import json
import zipfile
from io import BytesIO
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from billing.person import documents_of
from core import clock
from core.person import Kept, Person
from desk.person_words import SECTIONS

# Where a JSON reader loses digits: base units are far larger.
_EXACT = 2**53


def as_zip(person: Person, kept: Kept) -> bytes:
    """`personal-data.json` and `documents/<number>.pdf`. Held in memory: it is what one person has bought."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("personal-data.json", as_json(person, kept))
        for document in documents_of(person):
            archive.writestr(f"documents/{document}.pdf", bytes(document.pdf or b""))
    return file.getvalue()


def as_json(person: Person, kept: Kept) -> str:
    """Every section with what it is in words."""
    content = {
        "address": person.address,
        "made_at": clock.now(),
        "sections": {
            section: {"what": str(SECTIONS[section]), "rows": _exact(rows)} for section, rows in kept.items()
        },
    }
    return json.dumps(content, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)


def _exact(value: Any) -> Any:
    """Whole numbers that JSON readers would round become texts."""
    if isinstance(value, dict):
        return {key: _exact(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_exact(part) for part in value]
    return str(value) if isinstance(value, int) and abs(value) > _EXACT else value
