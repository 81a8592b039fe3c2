"""The demo's page for faults: staff switch one on and off, and outside the demo there is no such page."""

from typing import Any

import pytest
from django.test import Client

from fleet.models import SimulatedFault
from fleet.providers.simulated import SimulatedProvider
from tests.fleet.open_leases import open_lease, serials

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


def test_staff_switch_a_fault_on_and_off_in_the_demo(admin_client: Client) -> None:
    lease = open_lease()
    page = admin_client.get("/admin/fleet/simulatedfault/add/")
    assert page.status_code == 200
    answer = admin_client.post(
        "/admin/fleet/simulatedfault/add/",
        {
            "kind": "card_missing",
            "verb": "",
            "lease_id": "",
            "card_serial": serials(lease)[0],
            "node_name": "",
            "seconds": "0",
            "uses_left": "",
        },
    )
    assert answer.status_code == 302, answer.content.decode()[-3000:]
    row = SimulatedFault.objects.get()
    assert row.made_by == "admin"
    assert len(SimulatedProvider().verify(lease.pk)) == 1
    answer = admin_client.post(f"/admin/fleet/simulatedfault/{row.pk}/do/off/", {"reason": ""})
    assert answer.status_code == 302
    assert len(SimulatedProvider().verify(lease.pk)) == 2


def test_staff_hear_why_a_fault_is_refused(admin_client: Client) -> None:
    answer = admin_client.post(
        "/admin/fleet/simulatedfault/add/",
        {"kind": "node_away", "verb": "", "card_serial": "", "node_name": "", "seconds": "0"},
    )
    assert answer.status_code == 200
    assert "Say which node is away." in answer.content.decode()
    assert not SimulatedFault.objects.exists()


def test_outside_the_demo_the_page_is_not_there(admin_client: Client, settings: Any) -> None:
    settings.DEMO = False
    for path in ("", "add/"):
        assert admin_client.get(f"/admin/fleet/simulatedfault/{path}").status_code == 403
    assert "simulatedfault" not in admin_client.get("/admin/").content.decode()
