"""The lease on the order's page: members by form, the export, what goes when the lease is over."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import translation

from core import clock, events
from core.models import Event, OutgoingMail
from fleet.gateway.identity import identity
from fleet.models import AccessKey, Lease
from orders.models import Order
from tests import scenario
from tests.fleet.test_keys import KEY, OTHER, WRAPPED
from tests.shop.states import active, ended
from tests.shop.test_refusals import errors_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(buyer: Client) -> Order:
    row = scenario.order()
    scenario.pay(row)
    active(row)
    return row


def page(buyer: Client, order: Order, tail: str = "") -> str:
    answer = buyer.get(f"/en/orders/{order.token}/{tail}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def add(buyer: Client, order: Order, **fields: object) -> str:
    """Add a key and read the page that follows."""
    answer = buyer.post(f"/en/orders/{order.token}/keys/", fields)
    assert answer.status_code == 303, answer.content.decode()
    assert answer["Location"] == f"/en/orders/{order.token}/#members"
    return page(buyer, order)


def log_in(order: Order, key: AccessKey) -> None:
    """As the gateway tells it."""
    with transaction.atomic():
        events.emit(
            name="lease.login",
            subject=f"lease:{key.lease_id}",
            order_ref=order.public_id,
            payload={"fingerprint": key.fingerprint, "member": key.member, "network": "10.1.2.0/24"},
        )


def keys(order: Order) -> list[AccessKey]:
    rows = AccessKey.objects.filter(lease__order_ref=order.public_id, removed_at=None, purpose="buyer")
    return list(rows.order_by("pk"))


def test_a_member_is_added_shown_used_replaced_and_removed(buyer: Client, order: Order) -> None:
    html = add(buyer, order, ssh_keys=f"{KEY} grace@laptop", member="Grace <b>Hopper</b>")
    first, second = keys(order)
    assert html.count(second.fingerprint) >= 3, "said, in the table, in the log"
    assert "Grace &lt;b&gt;Hopper&lt;/b&gt;" in html
    assert "none yet" in html
    log_in(order, second)
    assert page(buyer, order).count("none yet") == 1
    one = page(buyer, order, f"keys/{second.pk}/")
    assert second.fingerprint in one
    assert "Remove the key" in one
    assert buyer.post(f"/en/orders/{order.token}/keys/{second.pk}/", {"ssh_keys": OTHER}).status_code == 303
    first, third = keys(order)
    assert (third.line, third.member) == (OTHER, second.member)
    assert buyer.post(f"/en/orders/{order.token}/keys/{first.pk}/remove/").status_code == 303
    assert keys(order) == [third]
    html = page(buyer, order)
    assert html.count("Key added") == 2
    assert html.count("Key removed") == 2
    assert re.search(r'id="members".*?</section>', html, re.DOTALL).group().count("SHA256:") == 2  # type: ignore[union-attr]


def test_the_last_key_has_no_button_and_the_bare_call_is_refused(buyer: Client, order: Order) -> None:
    (only,) = keys(order)
    assert "cannot be removed" in page(buyer, order, f"keys/{only.pk}/")
    assert "Remove the key" not in page(buyer, order, f"keys/{only.pk}/")
    answer = buyer.post(f"/en/orders/{order.token}/keys/{only.pk}/remove/", follow=True)
    assert "nobody could log in" in answer.content.decode()
    assert keys(order) == [only]


def test_s49_two_clicks_remove_once_and_say_so(buyer: Client, order: Order) -> None:
    add(buyer, order, ssh_keys=KEY)
    second = keys(order)[1]
    target = f"/en/orders/{order.token}/keys/{second.pk}/remove/"
    assert "was removed. Its" in buyer.post(target, follow=True).content.decode()
    assert "was removed already" in buyer.post(target, follow=True).content.decode()
    assert Event.objects.filter(name="lease.key_removed").count() == 1


PASTED = [
    (f"{KEY}\r\n", [KEY]),
    (f"\ufeff\t{KEY}", [KEY]),
    (WRAPPED.replace("\n", "\r\n"), [KEY]),
    (f"\u201c{KEY}\u201d", [KEY]),
    (f"{KEY}\r\n{OTHER}", [KEY, OTHER]),
    (f"{KEY} Анна с ноутбука", [f"{KEY} Анна с ноутбука"]),
]


def test_s46_by_form_and_by_file(buyer: Client, order: Order) -> None:
    for pasted, kept in PASTED:
        for fields in (
            {"ssh_keys": pasted},
            {"ssh_keys": "", "ssh_key_file": SimpleUploadedFile("id.pub", pasted.encode())},
        ):
            html = add(buyer, order, **fields)
            rows = keys(order)[1:]
            assert [row.line for row in rows] == kept, pasted
            assert all(row.fingerprint in html for row in rows)
            for row in rows:
                buyer.post(f"/en/orders/{order.token}/keys/{row.pk}/remove/")


REFUSED = [
    (f'command="/bin/sh" {KEY}', "Line 1 is not"),
    (f"# mine\n{KEY}", "Line 1 is not"),
    (f"{KEY}\n{OTHER[:-20]}", "Line 2 holds a key that is broken"),
    (f"{KEY}\n#!/bin/sh\nreboot", "Line 2 is not"),
    ("\n".join([KEY] * 1000), "too long"),
    ("\n".join([KEY] * 11), "Up to 10 keys"),
    (f"{KEY}\n{KEY}", "Line 2 repeats"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "leaked"),
    ("", "At least one"),
]


def test_s47_by_form_refuses_beside_the_field(buyer: Client, order: Order) -> None:
    for text, words in REFUSED:
        for tail in ("keys/", f"keys/{keys(order)[0].pk}/"):
            answer = buyer.post(f"/en/orders/{order.token}/{tail}", {"ssh_keys": text})
            assert answer.status_code == 422, text
            assert words in errors_of(answer.content.decode(), "ssh_keys")
    assert len(keys(order)) == 1


def test_a_broken_name_is_refused_beside_its_field(buyer: Client, order: Order) -> None:
    answer = buyer.post(f"/en/orders/{order.token}/keys/", {"ssh_keys": KEY, "member": "x" * 61})
    assert answer.status_code == 400
    assert "longer than 60" in errors_of(answer.content.decode(), "member")


def test_foreign_keys_and_orders_are_not_found(buyer: Client, order: Order) -> None:
    other = scenario.order(scenario.quote(lot="h100-sxm-80x1"))
    scenario.pay(other)
    foreign = keys(other)[0].pk
    for target in (
        f"/en/orders/{order.token}/keys/{foreign}/",
        f"/en/orders/{order.token}/keys/{10**30}/",
        f"/en/orders/{'x' * len(order.token)}/keys/",
        f"/en/orders/{'x' * len(order.token)}/export/",
    ):
        assert buyer.get(target).status_code == 404, target
    assert buyer.post(f"/en/orders/{order.token}/keys/{foreign}/remove/").status_code == 404
    assert len(keys(other)) == 1


def test_looking_changes_nothing_and_removal_is_never_a_link(buyer: Client, order: Order) -> None:
    before = Event.objects.count()
    key = keys(order)[0]
    for tail in ("keys/", f"keys/{key.pk}/", "export/"):
        assert buyer.head(f"/en/orders/{order.token}/{tail}").status_code == 200
        page(buyer, order, tail)
    assert buyer.get(f"/en/orders/{order.token}/keys/{key.pk}/remove/").status_code == 405
    assert Event.objects.count() == before


def test_keys_can_be_changed_before_access_opens_and_not_before_the_payment(buyer: Client) -> None:
    order = scenario.order()
    assert "Who may log in" not in page(buyer, order)
    for tail in ("keys/", "export/"):
        answer = buyer.get(f"/en/orders/{order.token}/{tail}")
        assert answer.status_code == 409
        assert "payment" in answer.content.decode()
    scenario.pay(order)
    html = add(buyer, order, ssh_keys=KEY)
    assert "as soon as access opens" in html
    assert "data-access" not in html


WRITTEN = [
    ("en", "1,200", "250", "mb_s", (1_200_000_000_000, 250_000_000)),
    ("en", "1200.5", "2", "gbit_s", (1_200_500_000_000, 250_000_000)),
    ("en", "0,5", "0.125", "mb_s", (500_000_000, 125_000)),
    ("en", "0,125", "1", "mb_s", (125_000_000, 1_000_000)),
    ("de", "1.200,5", "2,5", "gbit_s", (1_200_500_000_000, 312_500_000)),
    ("de", "1.200", "0.5", "gbit_s", (1_200_000_000_000, 62_500_000)),
    ("fr", "1\u202f200,5", "250", "", (1_200_500_000_000, 250_000_000)),
    ("fr", "1 200", "250", "mb_s", (1_200_000_000_000, 250_000_000)),
    ("ru", "12\u00a0000,25", "250", "mb_s", (12_000_250_000_000, 250_000_000)),
]
AMBIGUOUS = [
    ("de", "1,2,3"),
    ("fr", "1.200"),
    ("en", "1.200,5"),
    ("en", "abc"),
    ("en", "-1"),
    ("en", "1e9"),
    ("en", "NaN"),
    ("en", "\u0663"),
    ("en", "12 34"),
    ("en", "9" * 31),
]
OUT_OF_RANGE: list[tuple[dict[str, str], str]] = [
    ({"size": "0"}, "size"),
    ({"size": "1000001"}, "size"),
    ({"size": "9" * 29}, "size"),
    ({"size": "1", "rate": "0.0001"}, "rate"),
    ({"size": "1", "rate": "401", "rate_unit": "gbit_s"}, "rate"),
    ({"size": "1000000", "rate": "0.001"}, "rate"),
    ({"size": "1", "rate": "1", "rate_unit": "furlongs"}, "rate_unit"),
]


def test_size_and_rate_as_they_are_written_in_each_language(buyer: Client, order: Order) -> None:
    for language, size, rate, unit, kept in WRITTEN:
        fields = {"size": size, "rate": rate, "rate_unit": unit}
        answer = buyer.post(f"/{language}/orders/{order.token}/export/", fields)
        assert answer.status_code == 303, (language, fields)
        lease = Lease.objects.get(order_ref=order.public_id)
        assert (lease.export_bytes, lease.export_rate_bytes_s) == kept, (language, fields)


def test_a_number_that_could_be_two_is_asked_back(buyer: Client, order: Order) -> None:
    for language, size in AMBIGUOUS:
        answer = buyer.post(f"/{language}/orders/{order.token}/export/", {"size": size})
        assert answer.status_code == 400, (language, size)
        assert "1200" in errors_of(answer.content.decode(), "size")
    assert Lease.objects.get(order_ref=order.public_id).export_bytes is None


def test_bounds_are_said_beside_the_field(buyer: Client, order: Order) -> None:
    for fields, name in OUT_OF_RANGE:
        answer = buyer.post(f"/en/orders/{order.token}/export/", fields)
        assert answer.status_code == 400, fields
        assert errors_of(answer.content.decode(), name), fields
    assert Lease.objects.get(order_ref=order.public_id).export_bytes is None


def test_the_last_safe_start_stands_on_the_page_and_moves_with_the_end(buyer: Client, order: Order) -> None:
    assert "is not known yet" in page(buyer, order)
    buyer.post(f"/en/orders/{order.token}/export/", {"size": "900", "rate": "250"})
    lease = Lease.objects.get(order_ref=order.public_id)
    assert lease.ends_at is not None
    html = page(buyer, order)
    assert (
        f'Last safe start</span><span class="sum"><time datetime="{_machine(lease.ends_at - timedelta(minutes=90))}'
        in html
    )
    assert "900 GB at 250 MB/s take 1\u00a0h; 30\u00a0min more" in html
    assert 'value="900"' in html
    lease.ends_at += timedelta(days=3)
    lease.save()
    assert _machine(lease.ends_at - timedelta(minutes=90)) in page(buyer, order)
    clock.skip(lease.ends_at - clock.now() - timedelta(minutes=60))
    assert "may no longer get out in time" in page(buyer, order)
    buyer.post(f"/en/orders/{order.token}/export/", {"size": "", "rate": ""})
    assert "is not known yet" in page(buyer, order)


def _machine(moment: object) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}"


def test_s10_after_the_end_no_login_data_is_left_on_page_or_in_mails(buyer: Client, order: Order) -> None:
    lease = Lease.objects.get(order_ref=order.public_id)
    known = identity()
    secrets = [lease.username, f"{known.host}:{known.port}", known.fingerprint, *_fingerprints(order)]
    html = page(buyer, order)
    assert all(text in html for text in (lease.username, known.fingerprint, *_fingerprints(order)))
    ended(order)
    html = page(buyer, order)
    assert not [text for text in secrets if text in _without_log(html)]
    assert "data-access" not in html
    assert "known_hosts" not in html
    assert "Record of the wipe" in html
    assert "Simulated: no disk was written." in html
    for tail in ("keys/", "export/", f"keys/{keys(order)[0].pk}/"):
        answer = buyer.get(f"/en/orders/{order.token}/{tail}")
        assert answer.status_code == 409
        assert "This lease is over" in answer.content.decode()
    assert buyer.post(f"/en/orders/{order.token}/keys/", {"ssh_keys": KEY}).status_code == 409
    for mail in OutgoingMail.objects.filter(order_ref=order.public_id):
        assert not [text for text in secrets if text in mail.text + mail.subject], mail.key


def test_s10_from_the_last_second_on_before_any_sweep(buyer: Client, order: Order) -> None:
    lease = Lease.objects.get(order_ref=order.public_id)
    assert lease.ends_at is not None
    clock.skip(lease.ends_at - clock.now())
    html = page(buyer, order)
    assert Lease.objects.get(pk=lease.pk).status == "ready"
    assert lease.username not in html
    assert "Who may log in" not in html


def test_no_login_data_while_the_lease_moves(buyer: Client, order: Order) -> None:
    lease = Lease.objects.get(order_ref=order.public_id)
    Lease.objects.filter(pk=lease.pk).update(status="degraded", moving_at=clock.now())
    html = page(buyer, order)
    assert lease.username not in html
    assert "as soon as access opens" in html


def _fingerprints(order: Order) -> list[str]:
    return [key.fingerprint for key in keys(order)]


def _without_log(html: str) -> str:
    """History stays readable, the log of logins among it; it names no machine."""
    return re.sub(r'<ol class="log.*?</ol>', "", html, flags=re.DOTALL)


def test_the_words_of_the_log_fit_every_language(order: Order, buyer: Client) -> None:
    add(buyer, order, ssh_keys=KEY, member="Grace")
    for language in ("en", "de", "fr", "ru"):
        html = buyer.get(f"/{language}/orders/{order.token}/").content.decode()
        assert "%(" not in html
        with translation.override(language):
            assert "Grace" in html


def test_a_flood_of_logins_hides_nothing_else(buyer: Client, order: Order) -> None:
    (key,) = keys(order)
    for _number in range(25):
        log_in(order, key)
    html = page(buyer, order)
    assert html.count("<b>Login</b>") == 20
    assert "Order placed, cards held" in html
