"""Whom a buyer's request for his data, or for their erasure, is passed to: the twin of events.py and decisions.py.

The order is that of the locks: orders, then billing, then fleet, then the rest.
"""

FINDER = "orders.person.find"


def _part(app: str) -> dict[str, str]:
    return {
        "kept": f"{app}.person.kept",
        "open_matters": f"{app}.person.open_matters",
        "erase": f"{app}.services.erase_person.erase",
    }


PARTS = [
    _part("orders"),
    _part("billing"),
    _part("fleet"),
    _part("partners"),
    {
        "kept": "core.person_rows.kept",
        "open_matters": "core.person_rows.open_matters",
        "erase": "core.services.blank_rows.erase",
    },
]
