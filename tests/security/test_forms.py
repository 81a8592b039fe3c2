"""Every form of ours with odd texts, numbers and files: it says what is wrong, and never raises."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import BaseForm
from django.urls import get_resolver
from django.utils.datastructures import MultiValueDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.offers import crypto_offers
from catalog.selectors import lot_specs
from core.admin_actions import ReasonForm, ServiceAction
from core.admin_staff import StaffForm
from core.export import Table
from core.staff_site import StaffLoginForm
from desk.export_form import ExportForm as TableForm
from desk.fleet_form import FleetForm
from desk.forms import DeskReasonForm
from desk.person_form import ErasureForm, PersonForm
from shop.forms.catalog import CatalogFilterForm
from shop.forms.checkout import CheckoutForm
from shop.forms.configure import ConfigureForm
from shop.forms.plan import PlanForm
from tests import scenario
from tests.security.odd import TEXTS

Data = MultiValueDict[str, Any]
Make = Callable[[type[Any], Data, Data], BaseForm]
TABLE: Table[Any] = Table("orders", "Orders", "", "orders.view_order", (), lambda _p: 0, lambda _p: iter(()))
ACTION = ServiceAction(
    name="act",
    label="Act",
    explain="",
    permission="orders.view_order",
    run=lambda *_given, **_more: None,
    fields={"amount": forms.DecimalField, "note": forms.CharField, "at": forms.DateTimeField},
)
# Forms that need more than what was sent.
MADE: dict[type[BaseForm], Make] = {
    PersonForm: lambda cls, data, _files: cls(data),
    ErasureForm: lambda cls, data, _files: cls(data),
    ReasonForm: lambda cls, data, _files: cls(data, action=ACTION),
    DeskReasonForm: lambda cls, data, _files: cls(data, action=ACTION),
    StaffForm: lambda cls, data, files: cls(
        data, files, instance=User.objects.get_or_create(username="a")[0]
    ),
    StaffLoginForm: lambda cls, data, _files: cls(None, data),
    TableForm: lambda cls, data, _files: cls(data, tables=[TABLE]),
    FleetForm: lambda cls, data, _files: cls(
        data.dict(), today=date(2026, 12, 1), accelerators=[("b200-180", "B200")]
    ),
    PlanForm: lambda cls, data, _files: cls(data.dict(), lots=lot_specs()),
    CatalogFilterForm: lambda cls, data, _files: cls(
        data, terms=[3, 7, 30], vendors=["NVIDIA"], sizes=[2], accelerators=["b200-180"]
    ),
    ConfigureForm: lambda cls, data, files: cls(data, files, option_fields=[("nvme-extra", "NVMe", 4)]),
    CheckoutForm: lambda cls, data, files: cls(data, files, offers=crypto_offers(), takes_card=True),
}
# What can be chosen in them is read from the catalogue.
OF_A_SHOP = {PlanForm, CheckoutForm}


def every_form() -> Iterator[type[BaseForm]]:
    """All classes of forms that stand in a module of ours, with those that only others inherit."""
    assert get_resolver().url_patterns  # every view, and with it every form, is imported
    here = Path(__file__).resolve().parents[2]
    own = {config.name for config in apps.get_app_configs() if Path(config.path).parent == here}
    left, seen = [BaseForm], set()
    while left:
        for form in left.pop().__subclasses__():
            if form not in seen:
                seen.add(form)
                left.append(form)
    yield from sorted((form for form in seen if form.__module__.partition(".")[0] in own), key=str)


ALL = [form for form in every_form() if hasattr(form, "base_fields") and form.__qualname__.isidentifier()]
FILES = st.one_of(
    st.none(),
    st.builds(
        SimpleUploadedFile,
        st.sampled_from(["key.pub", "config.json", "../../x.toml", "catalogue.toml", "a" * 90, "ключ.json"]),
        st.one_of(
            st.binary(max_size=200),
            st.sampled_from([b"[" * 5000, b"\xff\xfe", b'{"hidden_size": 1e999}', b"x = 1979-05-27\n", b"\x00" * 50]),
        ),
    ),
)  # fmt: skip


def test_forms_of_every_app_that_has_some_are_found() -> None:
    assert len(ALL) >= 25
    assert {form.__module__.partition(".")[0] for form in ALL} >= {
        "core",
        "shop",
        "partners",
        "desk",
        "fleet",
    }


def make(form: type[BaseForm], data: Data, files: Data) -> BaseForm:
    return MADE[form](form, data, files) if form in MADE else form(data, files)


def fill(form: type[BaseForm], examples: int) -> None:
    names = sorted({*make(form, MultiValueDict(), MultiValueDict()).fields, "unknown"})
    values = st.dictionaries(st.sampled_from(names), st.lists(TEXTS, min_size=1, max_size=2))

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=examples < 100,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(values, FILES)
    def check(sent: dict[str, list[str]], file: SimpleUploadedFile | None) -> None:
        files: Data = MultiValueDict({name: [file] for name in names} if file else {})
        filled = make(form, MultiValueDict(sent), files)
        if not filled.is_valid():
            assert filled.errors
        str(filled)  # it can be shown again with what was typed

    check()


@pytest.mark.django_db
@pytest.mark.parametrize("form", ALL, ids=lambda form: f"{form.__module__}.{form.__name__}")
def test_odd_values_are_refused_and_never_raise(form: type[BaseForm]) -> None:
    if form in OF_A_SHOP:
        scenario.open_shop()
    fill(form, 15)


@pytest.mark.full
@pytest.mark.django_db
@pytest.mark.parametrize("form", ALL, ids=lambda form: f"{form.__module__}.{form.__name__}")
def test_odd_values_are_refused_many(form: type[BaseForm]) -> None:
    if form in OF_A_SHOP:
        scenario.open_shop()
    fill(form, 200)
