"""Addresses of the member pages, below a language."""

from django.urls import path, register_converter

from partners.addresses import DeliveryConverter, EndpointConverter, KeyNumberConverter, LoginLinkConverter
from partners.views import home, keys, login, webhooks

register_converter(LoginLinkConverter, "login_link")
register_converter(EndpointConverter, "endpoint")
register_converter(DeliveryConverter, "delivery")
register_converter(KeyNumberConverter, "key_number")

app_name = "partners"
_ENDPOINT = "webhooks/<endpoint:endpoint_id>/"

urlpatterns = [
    path("", home.home, name="home"),
    path("login/", login.login, name="login"),
    path("login/sent/", login.login_sent, name="login_sent"),
    path("login/<login_link:text>/", login.login_link, name="login_link"),
    path("logout/", login.log_out, name="log_out"),
    path("keys/new/", keys.new_key, name="new_key"),
    path("keys/<key_number:key_id>/", keys.key, name="key"),
    path("keys/<key_number:key_id>/rotate/", keys.rotate, name="rotate_key"),
    path("keys/<key_number:key_id>/revoke/", keys.revoke, name="revoke_key"),
    path("webhooks/new/", webhooks.new_endpoint, name="new_endpoint"),
    path(_ENDPOINT, webhooks.endpoint, name="endpoint"),
    path(f"{_ENDPOINT}rotate/", webhooks.rotate, name="rotate_secret"),
    path(f"{_ENDPOINT}pause/", webhooks.pause, name="pause_endpoint"),
    path(f"{_ENDPOINT}resume/", webhooks.resume, name="resume_endpoint"),
    path(f"{_ENDPOINT}test/", webhooks.send_test, name="test_endpoint"),
    path(f"{_ENDPOINT}delete/", webhooks.delete, name="delete_endpoint"),
    path(f"{_ENDPOINT}redeliver/", webhooks.redeliver_all, name="redeliver_all"),
    path(f"{_ENDPOINT}deliveries/<delivery:delivery_id>/", webhooks.redeliver_one, name="redeliver"),
]
