"""S26 in the admin: NUL in each field that staff can type into and in each search."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import models
from django.test import Client

from core.admin_rows import ReadOnlyAdmin
from tests.core.test_admin_pages import IDS, MODELS, page

pytestmark = pytest.mark.django_db

EDITABLE = [model for model in MODELS if not isinstance(admin.site._registry[model], ReadOnlyAdmin)]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_s26_search_and_filters_with_nul_are_refused(chief: Client, model: type[models.Model]) -> None:
    for query in ({"q": "a\x00b"}, {"status": "\x00"}, {"\x00": "1"}, {"o": "\x00"}, {"p": "\x00"}):
        assert chief.get(page(model, "changelist"), query).status_code == 400, query
    assert chief.get(page(model, "changelist") + "a%00b/change/").status_code in (400, 404)


@pytest.mark.parametrize("model", EDITABLE, ids=[model._meta.label for model in EDITABLE])
def test_s26_each_text_field_refuses_nul_by_name(chief: Client, model: type[models.Model]) -> None:
    form = chief.get(page(model, "add")).context["adminform"].form
    texts = [name for name, field in form.fields.items() if type(field).__name__.endswith("CharField")]
    before = model._default_manager.count()
    answer = chief.post(page(model, "add"), dict.fromkeys(form.fields, "a\x00b"))
    assert answer.status_code == 200
    errors: dict[str, Any] = answer.context["adminform"].form.errors
    assert set(texts) <= set(errors)
    assert model._default_manager.count() == before
