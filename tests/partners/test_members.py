"""Members: a mailed link that works once, by a button alone; pages that show a partner his own things and no others."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core import clock, outward_target
from core.errors import Conflict, Gone, Invalid
from core.models import AuditEntry, LoginAttempt, OutgoingMail
from partners import session
from partners.key_text import digest
from partners.models import ApiKey, LoginLink, Member, Partner, WebhookDelivery, WebhookEndpoint
from partners.services import log_in
from partners.services.change_endpoint import add_endpoint
from partners.services.change_member import add_member, switch_member
from partners.services.make_key import MAX_LIVING, make_key
from partners.services.make_partner import make_partner
from partners.services.revoke_key import revoke_key
from partners.services.rotate_key import rotate_key
from partners.services.send_webhooks import send_webhooks
from tests.partners import hooks
from tests.races import at_once

pytestmark = pytest.mark.django_db
ROOT = "/en/partner/"
MAIL = "ada@acme.example"


@pytest.fixture
def member(partner: Partner) -> Member:
    return add_member(partner_id=partner.pk, name="Ada", mail=MAIL, actor="test", language="de")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Let time pass on the system clock."""
    real = clock.system_now
    passed = timedelta()

    def step(delta: timedelta) -> None:
        nonlocal passed
        passed += delta

    monkeypatch.setattr(clock, "system_now", lambda: real() + passed)
    return step


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward_target, "_ask", lambda host, _port: ["10.0.0.1"] if "inner" in host else [])


def ask(mail: str = MAIL, *, address: str = "198.51.100.7") -> Any:
    return Client(REMOTE_ADDR=address).post(f"{ROOT}login/", {"mail": mail})


def mailed() -> str:
    """The address in the newest mail, without host."""
    found = re.search(r"http://testserver(/\S+)", OutgoingMail.objects.order_by("-pk")[0].text)
    assert found is not None
    return found[1]


def logged_in() -> Client:
    assert ask().status_code == 303
    client = Client()
    assert client.post(mailed()).status_code == 303
    return client


def test_the_answer_is_the_same_whether_anybody_has_the_address(member: Member) -> None:
    known, unknown = ask(), ask("nobody@acme.example")
    assert (known.status_code, known.headers["Location"]) == (
        unknown.status_code,
        unknown.headers["Location"],
    )
    assert known.content == unknown.content
    mail = OutgoingMail.objects.get()
    assert (mail.to, mail.language) == (MAIL, "de")
    assert mailed().startswith("/de/partner/login/")
    link = LoginLink.objects.get()
    assert link.hash not in mail.text
    assert link.expires_at - link.made_at == timedelta(minutes=15)


def test_a_link_is_looked_at_by_anybody_and_used_by_the_button_alone(member: Member) -> None:
    ask("ADA@acme.example")
    path = mailed()
    for _ in range(3):  # programs that look at mail
        assert Client().get(path).status_code == 200
        assert Client().head(path).status_code == 200
    assert LoginLink.objects.get().used_at is None
    browser = Client()
    before = browser.get(f"{ROOT}login/")
    assert before["Cache-Control"] == "private, no-store"
    answer = browser.post(path)
    assert (answer.status_code, answer["Location"]) == (303, "/de/partner/")
    page = browser.get(ROOT).content.decode()
    assert "Acme" in page
    assert MAIL in page
    second = Client()
    assert second.get(path).status_code == 410
    assert second.post(path).status_code == 410
    assert second.get(ROOT)["Location"] == f"{ROOT}login/"
    member.refresh_from_db()
    assert member.last_login_at is not None


def test_the_session_gets_a_new_key_at_login_and_at_logout(member: Member) -> None:
    browser = Client()
    browser.cookies.load({"sessionid": "a" * 32})  # one that somebody else has chosen
    ask()
    browser.post(mailed())
    first = browser.cookies["sessionid"].value
    assert first != "a" * 32
    assert browser.post(f"{ROOT}logout/").status_code == 303
    assert browser.get(ROOT).status_code == 303
    stolen = Client()
    stolen.cookies.load({"sessionid": first})
    assert stolen.get(ROOT).status_code == 303


@pytest.mark.parametrize("why", ["late", "member off", "partner off"])
def test_a_link_of_nobody_logs_nobody_in(
    member: Member, later: Callable[[timedelta], None], why: str
) -> None:
    ask()
    path = mailed()
    if why == "late":
        later(timedelta(minutes=15, seconds=1))
    elif why == "member off":
        switch_member(member_id=member.pk, active=False, actor="chief", reason="left")
    else:
        Partner.objects.update(active=False)
    assert Client().get(path).status_code == 410
    assert Client().post(path).status_code == 410


def test_a_session_ends_with_its_day_and_with_its_member(
    member: Member, later: Callable[[timedelta], None]
) -> None:
    browser = logged_in()
    assert browser.get(ROOT).status_code == 200
    switch_member(member_id=member.pk, active=False, actor="chief", reason="left")
    assert browser.get(ROOT).status_code == 303
    switch_member(member_id=member.pk, active=True, actor="chief", reason="back")
    assert browser.get(ROOT).status_code == 200
    later(session.LIFE + timedelta(seconds=1))
    assert browser.get(ROOT).status_code == 303


def test_links_are_bounded_for_an_address_and_for_a_network(
    member: Member, later: Callable[[timedelta], None]
) -> None:
    for number in range(log_in.MAX_PER_ADDRESS):
        assert ask(address=f"198.51.{number}.7").status_code == 303
    refused = ask(address="198.51.99.7")
    assert refused.status_code == 429
    assert 890 <= int(refused["Retry-After"]) <= 901
    assert OutgoingMail.objects.count() == log_in.MAX_PER_ADDRESS
    for number in range(log_in.MAX_PER_NETWORK):
        assert ask(f"x{number}@acme.example", address=f"203.0.113.{number}").status_code == 303
    assert ask("y@acme.example", address="203.0.113.200").status_code == 429
    assert ask("y@acme.example", address="192.0.2.1").status_code == 303
    later(timedelta(minutes=15, seconds=1))
    assert ask().status_code == 303


@pytest.mark.django_db(transaction=True)
def test_tries_at_once_are_counted_one_by_one(member: Member) -> None:
    answers = at_once(8, lambda number: ask(address=f"198.51.{number}.7").status_code)
    assert sorted(answers) == [303] * log_in.MAX_PER_ADDRESS + [429] * 5


@pytest.mark.django_db(transaction=True)
def test_a_link_that_two_press_at_once_works_once(member: Member) -> None:
    ask()
    text = mailed().split("/")[-2]
    results = at_once(4, lambda _: log_in.log_in(text))
    assert sum(isinstance(one, Member) for one in results) == 1
    assert sum(isinstance(one, Gone) for one in results) == 3


@pytest.mark.parametrize(
    "mail", ["", "x", "a\x00b@acme.example", "x" * 300 + "@acme.example", "é@acme.example"]
)
def test_what_is_no_address_is_refused_by_the_form(member: Member, mail: str) -> None:
    assert ask(mail).status_code == 400
    assert not LoginAttempt.objects.exists()


def test_who_is_not_logged_in_reaches_nothing(member: Member, partner: Partner) -> None:
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example.com/", actor="t")
    key, _text = make_key(partner_id=partner.pk, actor="t")
    one = f"{ROOT}webhooks/{endpoint.public_id}/"
    for path in (ROOT, f"{ROOT}keys/new/", f"{ROOT}keys/{key.pk}/", f"{ROOT}webhooks/new/", one):
        assert Client().get(path)["Location"] == f"{ROOT}login/"
    for verb in ("rotate", "pause", "resume", "test", "delete", "redeliver"):
        assert Client().post(f"{one}{verb}/")["Location"] == f"{ROOT}login/"
        assert Client().get(f"{one}{verb}/").status_code == 405
    for verb in ("rotate", "revoke"):
        assert Client().post(f"{ROOT}keys/{key.pk}/{verb}/")["Location"] == f"{ROOT}login/"
    endpoint.refresh_from_db()
    key.refresh_from_db()
    assert (endpoint.status, key.revoked_at) == ("active", None)


def test_s37_another_partners_things_are_the_same_404_as_none(member: Member) -> None:
    other = make_partner(name="Other", slug="other", mail="o@other.example", actor="test")
    theirs = add_endpoint(partner_id=other.pk, url="https://theirs.example.com/", actor="t")
    key, _text = make_key(partner_id=other.pk, actor="t", note="their note")
    browser = logged_in()
    page = browser.get(ROOT).content.decode()
    assert "theirs.example.com" not in page
    assert "their note" not in page

    def shown(path: str, *, post: bool = False) -> str:
        answer = browser.post(path) if post else browser.get(path)
        assert answer.status_code == 404, path
        return re.sub(r"[0-9a-f]{32}|wh_[0-9a-f]{24}|keys/\d+|<time.*?</time>", "", answer.content.decode())

    none = "wh_" + "0" * 24
    assert shown(f"{ROOT}webhooks/{theirs.public_id}/") == shown(f"{ROOT}webhooks/{none}/")
    assert shown(f"{ROOT}keys/{key.pk}/") == shown(f"{ROOT}keys/{10**17}/")
    for verb in ("rotate", "pause", "test", "delete", "redeliver", f"deliveries/whd_{'0' * 24}"):
        shown(f"{ROOT}webhooks/{theirs.public_id}/{verb}/", post=True)
    for verb in ("rotate", "revoke"):
        shown(f"{ROOT}keys/{key.pk}/{verb}/", post=True)
    for odd in ("keys/-1/", "keys/x/", "webhooks/wh_x/", "login/short/", f"keys/{'9' * 30}/"):
        shown(ROOT + odd)
    theirs.refresh_from_db()
    key.refresh_from_db()
    assert (theirs.status, key.revoked_at) == ("active", None)


def test_a_key_is_made_rotated_and_revoked_by_its_page(member: Member) -> None:
    browser = logged_in()
    form = {"note": "till", "scopes": ["orders:read"], "days": "90"}
    made = browser.post(f"{ROOT}keys/new/", form)
    key = ApiKey.objects.get()
    text = made.context["text"]
    assert made["Cache-Control"] == "private, no-store"
    assert key.hash == digest(text)
    assert (key.scopes, key.note, key.made_by) == (["orders:read"], "till", f"member:{MAIL}")
    assert text not in browser.get(f"{ROOT}keys/{key.pk}/").content.decode()
    rotated = browser.post(f"{ROOT}keys/{key.pk}/rotate/", {"overlap_hours": "3"})
    new = ApiKey.objects.get(replaces=key)
    assert new.hash == digest(rotated.context["text"])
    key.refresh_from_db()
    assert key.expires_at is not None
    assert timedelta(hours=2) < key.expires_at - clock.now() <= timedelta(hours=3)
    browser.post(f"{ROOT}keys/{new.pk}/revoke/")
    new.refresh_from_db()
    assert new.revoked_at is not None
    page = browser.get(ROOT).content.decode()
    assert page.index("</svg>works") < page.index("</svg>revoked")
    assert browser.post(f"{ROOT}keys/new/", form | {"scopes": []}).status_code == 400
    assert browser.post(f"{ROOT}keys/{key.pk}/rotate/", {"overlap_hours": "0"}).status_code == 400
    assert browser.post(f"{ROOT}keys/{key.pk}/rotate/", {"overlap_hours": "3"}).status_code == 409


def test_an_endpoint_lives_on_its_page(
    member: Member, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    receiver = hooks.receive(monkeypatch)
    browser = logged_in()
    made = browser.post(f"{ROOT}webhooks/new/", {"url": hooks.URL, "note": "ours", "events": ["order.paid"]})
    endpoint = WebhookEndpoint.objects.get()
    one = f"{ROOT}webhooks/{endpoint.public_id}/"
    assert made.context["text"] == endpoint.secret
    assert made["Cache-Control"] == "private, no-store"
    assert endpoint.secret not in browser.get(one).content.decode()
    browser.post(f"{one}test/")
    receiver.status = 503
    send_webhooks()
    with django_assert_max_num_queries(8):
        page = browser.get(one).content.decode()
    assert "answer 503" in page
    assert "given up" in page
    delivery = WebhookDelivery.objects.get()
    assert browser.post(f"{one}deliveries/{delivery.public_id}/").status_code == 303
    assert "sent once" in browser.get(one).content.decode()
    browser.post(f"{one}pause/")
    assert "Nothing is sent to this endpoint" in browser.get(one).content.decode()
    browser.post(f"{one}pause/")
    assert "already done" in browser.get(one).content.decode()
    browser.post(f"{one}redeliver/")
    assert "is paused" in browser.get(one).content.decode()
    browser.post(f"{one}resume/")
    browser.post(f"{one}redeliver/")
    assert "0 events are sent again" in browser.get(one).content.decode()
    secret = endpoint.secret
    assert browser.post(f"{one}rotate/").context["text"] != secret
    assert browser.post(one, {"url": "https://hooks.example.com/two", "note": ""}).status_code == 303
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.events) == ("https://hooks.example.com/two", [])
    for url, status in (
        ("https://10.0.0.1/", 422),
        ("https://inner.example.com/", 422),
        ("http://a.example/", 400),
    ):
        for path in (one, f"{ROOT}webhooks/new/"):
            refused = browser.post(path, {"url": url})
            assert refused.status_code == status
            assert refused.context["form"].errors["url"]
    assert browser.post(f"{one}delete/").status_code == 303
    assert browser.get(one).status_code == 404
    assert WebhookEndpoint.objects.count() == 1
    actors = set(AuditEntry.objects.filter(action__startswith="webhook").values_list("actor", flat=True))
    assert actors == {f"member:{MAIL}"}


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_every_page_opens_in_each_language(member: Member, partner: Partner, language: str) -> None:
    browser = logged_in()
    key, _text = make_key(partner_id=partner.pk, actor="t")
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example.com/", actor="t")
    names: list[tuple[str, dict[str, Any]]] = [
        ("home", {}),
        ("login", {}),
        ("login_sent", {}),
        ("new_key", {}),
        ("new_endpoint", {}),
    ]
    for name, values in [
        *names,
        ("key", {"key_id": key.pk}),
        ("endpoint", {"endpoint_id": endpoint.public_id}),
    ]:
        path = reverse(f"partners:{name}", kwargs=values).replace("/en/", f"/{language}/", 1)
        answer = browser.get(path)
        assert answer.status_code == 200, path
        page = answer.content.decode()
        assert " style=" not in page
        assert "{%" not in page
        assert "{#" not in page
        assert answer["X-Robots-Tag"] == "noindex, nofollow"
        assert "unsafe" not in answer["Content-Security-Policy"]


def test_a_rotation_keeps_what_the_key_may_do_and_never_makes_the_old_one_longer(partner: Partner) -> None:
    ends = clock.now() + timedelta(hours=1)
    old, _text = make_key(partner_id=partner.pk, actor="t", scopes=["webhooks"], expires_at=ends)
    new, _text = rotate_key(key_id=old.pk, actor="t", overlap_hours=5)
    old.refresh_from_db()
    assert (new.scopes, new.replaces_id, old.expires_at) == (["webhooks"], old.pk, ends)
    with pytest.raises(Conflict, match="already_rotated"):
        rotate_key(key_id=old.pk, actor="t")
    for hours in (0, 169):
        with pytest.raises(Invalid, match="overlap_out_of_range"):
            rotate_key(key_id=new.pk, actor="t", overlap_hours=hours)
    revoke_key(key_id=new.pk, actor="t", reason="")
    with pytest.raises(Conflict, match="key_over"):
        rotate_key(key_id=new.pk, actor="t")
    ApiKey.objects.all().delete()
    ApiKey.objects.bulk_create(
        ApiKey(partner=partner, prefix="x", hash=str(n), scopes=["webhooks"], created_at=clock.now())
        for n in range(MAX_LIVING)
    )
    with pytest.raises(Conflict, match="too_many_keys"):
        make_key(partner_id=partner.pk, actor="t")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"mail": "x"}, "invalid_email"),
        ({"name": ""}, "required"),
        ({"name": "x" * 121}, "too_long"),
        ({"language": "xx"}, "invalid_language"),
        ({"name": "a\x00"}, "invalid_text"),
    ],
)
def test_what_is_no_member_is_refused(partner: Partner, values: dict[str, str], code: str) -> None:
    given: dict[str, Any] = {"partner_id": partner.pk, "name": "A", "mail": MAIL, "actor": "t"}
    with pytest.raises(Invalid, match=code):
        add_member(**given | values)
