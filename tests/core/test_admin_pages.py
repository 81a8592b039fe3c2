"""Every page of the admin opens, hostile input breaks none, and what services own cannot be edited there."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db import models, transaction
from django.test import Client, RequestFactory
from django.urls import reverse

from catalog.models import Accelerator, Option
from core import clock, decisions, outbox
from core.admin_rows import ReadOnlyAdmin
from core.mail import queue_mail
from core.models import AuditEntry, SweepRun
from fleet.services.maintenance_window import add_window
from orders.models import Order
from orders.services.cancel import cancel
from partners.services.change_endpoint import add_endpoint
from partners.services.change_member import add_member
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from partners.services.send_test_event import send_test_event
from tests import scenario
from tests.core.desk import address, save

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
OWNED = [model for model in MODELS if isinstance(admin.site._registry[model], ReadOnlyAdmin)]
IDS = [model._meta.label for model in MODELS]
# Rows that no buyer's path makes in a test.
EMPTY_HERE = {
    "billing.DemoTransfer",
    "billing.Acceptance",
    "billing.CardEvent",
    "billing.CardSession",
    "billing.Credit",
    "billing.ScreeningVerdict",
    "fleet.SimulatedMachine",
    "fleet.SimulatedFault",
    "fleet.Outage",
    "fleet.EngineSilence",
    "auth.Group",
    "catalog.PriceDraft",
}


def page(model: type[models.Model], name: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


@pytest.fixture
def shop(db: None) -> None:
    """At least one row of nearly everything."""
    scenario.open_shop()
    scenario.pay(scenario.order())
    paid = scenario.order()
    scenario.pay(paid)
    with transaction.atomic():
        cancel(order_id=paid.public_id, actor="buyer")
    outbox.drain()
    scenario.order()
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    make_key(partner_id=partner.pk, actor="test")
    add_member(partner_id=partner.pk, name="Ada", mail="ada@acme.example", actor="test")
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example.com/", actor="test")
    send_test_event(endpoint_id=endpoint.pk, actor="test")
    decisions.open_decision(kind="refund_due", subject="order:1")
    queue_mail(key="k", to="a@example.com", language="en", subject="s", text="t")
    SweepRun.objects.create(name="leases")
    add_window(
        node_id=scenario.add_node("spare", "h100-sxm-80", 2).pk,
        from_at=clock.now() + timedelta(days=1),
        to_at=clock.now() + timedelta(days=2),
        actor="test",
        reason="new power supply",
    )


def test_every_list_and_row_opens(shop: None, chief: Client) -> None:
    empty = set()
    for model in MODELS:
        response = chief.get(page(model, "changelist"))
        assert response.status_code == 200, model
        row = model._default_manager.first()
        if row is None:
            empty.add(model._meta.label)
            continue
        response = chief.get(address(row))
        assert response.status_code == 200, model
        assert b"{#" not in response.content
        assert b"Delivery is simulated" in response.content
    assert sorted(empty ^ EMPTY_HERE) == []


def test_lists_make_no_query_per_row(shop: None, chief: Client, django_assert_max_num_queries: Any) -> None:
    for model in MODELS:
        with django_assert_max_num_queries(16):
            chief.get(page(model, "changelist"))


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_hostile_input_breaks_no_list(chief: Client, model: type[models.Model]) -> None:
    for query in (
        {"q": "\x00"},
        {"q": "a" * 5000},
        {"status": "\x00"},
        {"status__exact": "\x00"},
        {"id": "9" * 30},
        {"p": "-1"},
        {"p": "9" * 30},
        {"o": "99.-99"},
        {"nothing__here": "1"},
    ):
        assert chief.get(page(model, "changelist"), query).status_code in {200, 302, 400}, query


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_an_id_that_no_row_has_breaks_nothing(chief: Client, model: type[models.Model]) -> None:
    for object_id in ["a\x00b", "9" * 30, "-1", "2147483648", "none", "é"]:
        path = page(model, "changelist") + f"{object_id}/change/"
        assert chief.get(path).status_code in {302, 400, 404}, object_id


@pytest.mark.django_db
@pytest.mark.parametrize("model", OWNED, ids=[model._meta.label for model in OWNED])
def test_what_services_own_can_be_neither_added_nor_changed_nor_deleted(
    chief: Client, model: type[models.Model]
) -> None:
    assert chief.get(page(model, "add")).status_code == 403
    assert chief.post(page(model, "add"), {}).status_code == 403


def test_no_table_offers_a_delete_or_a_bulk_action(shop: None, chief: Client) -> None:
    for model in MODELS:
        site = admin.site._registry[model]
        request = chief.get(page(model, "changelist")).wsgi_request
        assert not site.has_delete_permission(request), model
        assert site.get_actions(request) == {}, model
        row = model._default_manager.first()
        if row is not None:
            assert chief.post(address(row, "delete"), {"post": "yes"}).status_code == 403, model


def test_a_post_to_an_owned_row_changes_nothing(shop: None, chief: Client) -> None:
    for model in OWNED:
        row = model._default_manager.first()
        if row is None:
            continue
        before = model._default_manager.filter(pk=row.pk).values().get()
        assert chief.post(address(row), {"status": "ended", "serial": "x"}).status_code == 403, model
        assert model._default_manager.filter(pk=row.pk).values().get() == before


def test_secrets_stay_out_of_the_pages(shop: None, chief: Client) -> None:
    order = admin.site._registry  # the registry knows the model without another import
    model = next(found for found in order if found._meta.label == "orders.Order")
    row: Any = model._default_manager.first()
    assert row.token.encode() not in chief.get(address(row)).content


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_a_time_carries_its_zone(chief: Client, language: str) -> None:
    row = decisions.open_decision(kind="refund_due", subject="order:1")
    page = chief.get(address(row), headers={"accept-language": language}).content.decode()
    assert f"{row.opened_at:%Y-%m-%d %H:%M:%S} UTC" in page


def option_form(option: Option, **changes: str) -> dict[str, str]:
    values = {
        "name": option.name,
        "description": option.description,
        "needs": option.needs,
        "unit": option.unit,
        "max_quantity": str(option.max_quantity),
        "on_sale": "on",
        "for_all_lots": "on",
    }
    return values | changes


@pytest.mark.parametrize("figure", ["-1", "1.5", "1" + "0" * 30, "NaN", "abc"])
def test_s28_a_figure_that_cannot_be_is_refused_by_the_form(shop: None, chief: Client, figure: str) -> None:
    """Prices are no fields of these forms: they change by a draft (tests/desk/test_prices.py)."""
    option = Option.objects.get(code="nvme-extra")
    response = save(chief, option, **option_form(option, max_quantity=figure))
    assert response.status_code == 200
    assert response.context["adminform"].form.errors["max_quantity"]
    assert Option.objects.get(pk=option.pk).max_quantity == option.max_quantity


def test_a_changed_figure_is_kept_with_who_and_what(shop: None, chief: Client) -> None:
    option = Option.objects.get(code="nvme-extra")
    response = save(chief, option, **option_form(option, max_quantity="9"))
    assert response.status_code == 302
    entry = AuditEntry.objects.get(action="option.change")
    assert entry.actor == "chief"
    assert entry.before["max_quantity"] == str(option.max_quantity)
    assert entry.after["max_quantity"] == "9"


@pytest.mark.parametrize("text", ['{"tensor": "\\u0000"}', '{"a\\u0000": 1}', '{"a": "\\ud800"}'])
def test_json_that_cannot_be_stored_is_refused_by_the_form(shop: None, chief: Client, text: str) -> None:
    row = Accelerator.objects.get(slug="b200-180")
    response = save(chief, row, name=row.name, cores=text)
    assert response.status_code == 200
    assert response.context["adminform"].form.errors["cores"]


def test_the_admin_has_a_policy_without_third_parties(chief: Client) -> None:
    policy = chief.get("/admin/tables/")["Content-Security-Policy"]
    assert "'unsafe-eval'" in policy
    assert "http" not in policy
    assert "default-src 'none'" in policy
    # Where passwords are typed, and on the desk, nothing is evaluated.
    assert "unsafe" not in Client().get("/admin/login/")["Content-Security-Policy"]
    assert "unsafe" not in chief.get("/admin/")["Content-Security-Policy"]


def test_who_is_not_staff_sees_the_login_only(db: None, client: Client) -> None:
    for model in MODELS:
        assert client.get(page(model, "changelist")).status_code == 302


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_no_column_that_a_list_hides_can_be_asked_for(model: type[models.Model], rf: RequestFactory) -> None:
    page_of, request = admin.site._registry[model], rf.get("/")
    parts = [part[0] if isinstance(part, tuple) else part for part in page_of.list_filter]
    shown = {*map(str, page_of.list_display), *map(str, parts), "id"}
    hidden = [field for field in model._meta.concrete_fields if field.name not in shown]
    taken = [field.name for field in hidden if page_of.lookup_allowed(f"{field.name}__gt", "a", request)]
    assert taken == []


def test_a_secret_is_not_guessed_letter_by_letter(shop: None, admin_client: Client) -> None:
    order = Order.objects.latest("pk")
    orders = page(Order, "changelist")
    assert admin_client.get(f"{orders}?token__startswith={order.token[0]}").status_code == 400
    assert admin_client.get(f"{orders}?status__exact={order.status}").status_code == 200
