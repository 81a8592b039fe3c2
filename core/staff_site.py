"""The admin site: who is in it has a session of ours that lives, and has shown a second factor where one is due."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from core import staff_sessions
from core.own_path import own_path

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
else:
    from unfold.sites import UnfoldAdminSite as AdminSite


class StaffLoginForm(AdminAuthenticationForm):
    """Django's, with labels that our pages can show."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)


class StaffLogin(LoginView):
    """Name and password. A right one begins a session, which may still owe the second factor."""

    authentication_form = StaffLoginForm
    template_name = "admin/login.html"

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        staff_sessions.begin(self.request, form.get_user())
        return response

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """A path of ours, or nothing: then Django leads to settings.LOGIN_REDIRECT_URL."""
        return own_path(super().get_redirect_url(), otherwise="")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(was_ended=staff_sessions.was_ended(self.request), **kwargs)


class StaffSite(AdminSite):
    """Every page of the admin and of the desk asks `has_permission` first; `core.staff_sessions` answers."""

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and staff_sessions.is_let_in(request)

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The login; who needs none is led on, to the second factor where it is owed."""
        if request.method != "POST":
            if self.has_permission(request):
                return HttpResponseRedirect(reverse("admin:index"))
            target = own_path(request.GET.get("next", ""), otherwise=reverse("admin:index"))
            if staff_sessions.owes_factor(request):
                return HttpResponseRedirect(f"{reverse('desk:second_factor')}?{urlencode({'next': target})}")
        return cast(HttpResponse, StaffLogin.as_view()(request))

    def logout(  # type: ignore[override]  # Django's own answers with a redirect too
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        staff_sessions.end_own(request)
        return HttpResponseRedirect(reverse("admin:login"), status=303)

    def password_change(  # type: ignore[override]  # likewise
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A new password ends the other sessions: whoever knew the old one is out."""
        response = super().password_change(request, extra_context)
        if isinstance(response, HttpResponseRedirect) and isinstance(request.user, User):
            staff_sessions.end_others(request, reason="password changed")
        return response
