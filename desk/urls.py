"""Addresses of the desk, below /admin/ beside the tables of the stock admin."""

from django.urls import path

from desk.views import (
    act,
    exports,
    fleet,
    person,
    prices,
    prices_import,
    queue,
    search,
    second_factor,
    security,
)

app_name = "desk"

urlpatterns = [
    path("desk/second-factor/", second_factor.code, name="second_factor"),
    path("desk/second-factor/set-up/", second_factor.set_up, name="set_up_factor"),
    path("desk/security/", security.security, name="security"),
    path("desk/security/end/", security.end_session, name="end_session"),
    path("desk/security/codes/", security.new_codes, name="new_codes"),
    path("desk/security/device/", security.new_device, name="new_device"),
    path("desk/sign-out/", security.sign_out, name="sign_out"),
    path("desk/exports/", exports.exports, name="exports"),
    path("desk/person/", person.person, name="person"),
    path("desk/person/export/", person.export, name="person_export"),
    path("desk/person/erase/", person.erase, name="person_erase"),
    path("desk/person/erased/<int:entry_id>/", person.erased, name="person_erased"),
    path("", queue.queue, name="queue"),
    path("desk/decisions/<int:decision_id>/<slug:action>/", act.act, name="act"),
    path("desk/search/", search.search, name="search"),
    path("desk/prices/", prices.prices, name="prices"),
    path("desk/prices/preview/", prices.preview, name="prices_preview"),
    path("desk/prices/rebase/", prices.rebase, name="prices_rebase"),
    path("desk/prices/publish/", prices.publish, name="prices_publish"),
    path("desk/prices/discard/", prices.discard, name="prices_discard"),
    path("desk/prices/import/", prices_import.prices_import, name="prices_import"),
    path("desk/fleet/", fleet.fleet, name="fleet"),
]
