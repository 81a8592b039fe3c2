"""Documents on the order's page and as files: stored bytes only, the same 404 for "none" and "not yours"."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from billing.services.render_invoice import render_due
from orders.models import Order
from tests import scenario
from tests.billing.invoicing import document, paid

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def order(db: None) -> Order:
    scenario.open_shop()
    return paid()


def address(order: Order, token: str) -> str:
    return f"/en/orders/{order.token}/invoices/{token}.pdf"


def test_the_page_lists_documents_and_the_link_serves_the_stored_bytes(client: Client, order: Order) -> None:
    render_due()
    invoice = document(order)
    page = client.get(f"/en/orders/{order.token}/").content.decode()
    for row in (invoice, document(order, "receipt")):
        assert str(row) in page
        assert address(order, row.token) in page
    response = client.get(address(order, invoice.token))
    assert response.status_code == 200
    assert response["Content-Type"] == "application/pdf"
    assert response["Content-Disposition"] == f'inline; filename="AnchorGPU-{invoice}.pdf"'
    assert response["Cache-Control"] == "private, no-store"
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert response.content == bytes(invoice.pdf or b"")
    assert response.content.startswith(b"%PDF")
    head = client.head(address(order, invoice.token))
    assert (head.status_code, head.content) == (200, b"")


def test_a_document_that_is_not_made_yet_says_so(client: Client, order: Order) -> None:
    invoice = document(order)
    page = client.get(f"/en/orders/{order.token}/").content.decode()
    assert "is being made" in page
    assert address(order, invoice.token) not in page
    response = client.get(address(order, invoice.token))
    assert (response.status_code, response["Retry-After"]) == (202, "5")
    assert "Your document is being made" in response.content.decode()


def test_a_foreign_or_unknown_document_is_not_there(client: Client, order: Order) -> None:
    render_due()
    other = paid()
    answers = [
        client.get(address(other, document(order).token)),
        client.get(address(order, "x" * 43)),
        client.get(f"/en/orders/{'y' * 43}/invoices/{document(order).token}.pdf"),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert client.post(address(order, document(order).token)).status_code == 405


def test_an_order_without_documents_shows_no_list(client: Client, db: None) -> None:
    scenario.open_shop()
    page = client.get(f"/en/orders/{scenario.order().token}/").content.decode()
    assert 'id="dc"' not in page


def test_the_web_process_never_loads_typst() -> None:
    script = (
        "import sys; import anchorgpu.wsgi; from django.urls import get_resolver; "
        "get_resolver().url_patterns; print(sorted(set(sys.modules) & {'typst', 'billing.issued'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "anchorgpu.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['billing.issued']\n"
