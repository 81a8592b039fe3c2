"""Buttons of the admin: one page asks for confirmation and a reason, then one service is called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextareaWidget

from core.admin_rows import EditableAdmin, ReadOnlyAdmin
from core.errors import Refusal
from core.lifecycle import IllegalStep
from core.text import clean_block

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_REASON = 1000
# What it is, and its value as it is read.
Fact = tuple["str | _StrPromise", str]


@dataclass(frozen=True, kw_only=True)
class ServiceAction:
    """A button. `run(row, actor, reason, **values)` calls the service, which checks the state under its own lock;
    `fields` are what it asks for beside the reason, and each is a keyword of `run`.

    `offered` says when the button is drawn; it decides nothing: a second click reaches the service and hears
    what the service says. What `run` returns is shown once, on a page that no cache keeps (a new secret).
    `facts` is what the page shows before the click, such as the sum and where it goes.
    """

    name: str
    label: "str | _StrPromise"
    explain: "str | _StrPromise"
    permission: str
    run: Callable[..., str | None]
    fields: Mapping[str, Callable[[], forms.Field]] = field(default_factory=dict)
    offered: Callable[[Any], bool] = lambda _row: True
    reason_required: bool = True
    danger: bool = False
    facts: Callable[[Any], Sequence[Fact]] = lambda _row: ()


@dataclass(frozen=True)
class Outcome:
    """`is_over`: the next page shows what was said. Else the same page again: with the form's errors, or with a text
    that is shown once."""

    is_over: bool
    shown_once: str | None = None


class ReasonForm(forms.Form):
    """Why it is done; kept in the audit."""

    reason = forms.CharField(
        label=_("Reason"), max_length=MAX_REASON, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4})
    )

    def __init__(self, *args: Any, action: ServiceAction, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = action.reason_required
        for name, make in action.fields.items():
            self.fields[name] = make()
        self.order_fields([*action.fields, "reason"])

    def clean_reason(self) -> str:
        try:
            return clean_block(
                self.cleaned_data["reason"],
                field="reason",
                max_length=MAX_REASON,
                # Django's own check takes invisible characters for a text.
                required=self.fields["reason"].required,
            )
        except Refusal as refusal:
            raise forms.ValidationError(refusal.text, code=refusal.code) from refusal


def carry_out(request: HttpRequest, row: Any, action: ServiceAction, form: ReasonForm) -> Outcome:
    """Call the service with what a valid form holds, and say what came of it: done, refused, or too late."""
    values = dict(form.cleaned_data)
    try:
        shown_once = action.run(row, _name_of(request), values.pop("reason"), **values)
    except Refusal as refusal:
        if refusal.field in action.fields:
            form.add_error(refusal.field, refusal.text)
            return Outcome(is_over=False)
        messages.warning(request, refusal.text)
    except IllegalStep:
        # A rival was faster between the service's look and ours: nothing was done here.
        messages.warning(request, _("The state has changed meanwhile. Nothing was done."))
    else:
        if shown_once:
            return Outcome(is_over=False, shown_once=shown_once)
        messages.success(request, _("Done: %(action)s.") % {"action": action.label})
    return Outcome(is_over=True)


def _name_of(request: HttpRequest) -> str:
    return request.user.get_username()


class EditableServiceAdmin(EditableAdmin):
    """Rows that staff may edit, with buttons that call services: draws them and serves their page."""

    service_actions: Sequence[ServiceAction] = ()

    def get_service_actions(self, row: Any) -> Sequence[ServiceAction]:
        """All buttons that this kind of row has; `offered` and the permission come on top."""
        return self.service_actions

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(self.action_view)
        own = path(
            "<path:object_id>/do/<slug:name>/", self.admin_site.admin_view(view), name=self.action_url_name
        )
        return [own, *super().get_urls()]

    @property
    def action_url_name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_do"

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        if obj is not None:
            context["actions_detail"] = [
                {
                    "title": action.label,
                    "path": reverse(
                        f"{self.admin_site.name}:{self.action_url_name}", args=[obj.pk, action.name]
                    ),
                    "attrs": {},
                    "icon": None,
                    "variant": ActionVariant.DANGER if action.danger else ActionVariant.DEFAULT,
                }
                for action in self.get_service_actions(obj)
                if action.offered(obj) and request.user.has_perm(action.permission)
            ]
        return super().render_change_form(request, context, add, change, form_url, obj)

    def action_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """Ask on GET, act on POST. 404 for what is not there, 403 without the permission."""
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        action = next((found for found in self.get_service_actions(row) if found.name == name), None)
        if action is None:
            raise Http404
        if not request.user.has_perm(action.permission):
            raise PermissionDenied
        form = ReasonForm(request.POST or None, action=action)
        if request.method == "POST" and form.is_valid():
            return self._act(request, row, action, form)
        return self._page(request, row, action, form=form)

    def _act(self, request: HttpRequest, row: Any, action: ServiceAction, form: ReasonForm) -> HttpResponse:
        outcome = carry_out(request, row, action, form)
        if outcome.is_over:
            return HttpResponseRedirect(self._row_url(row))
        if outcome.shown_once:
            return self._page(request, row, action, shown_once=outcome.shown_once)
        return self._page(request, row, action, form=form)

    def _row_url(self, row: Any) -> str:
        name = f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_change"
        return reverse(name, args=[row.pk])

    def _page(self, request: HttpRequest, row: Any, action: ServiceAction, **context: Any) -> HttpResponse:
        response = TemplateResponse(
            request,
            "admin/confirm_action.html",
            {
                **self.admin_site.each_context(request),
                "title": action.label,
                "opts": self.opts,
                "row": row,
                "row_url": self._row_url(row),
                "action": action,
                "facts": action.facts(row),
                **context,
            },
        )
        add_never_cache_headers(response)
        return response


class ServiceAdmin(EditableServiceAdmin, ReadOnlyAdmin):
    """Rows that services own, with buttons that call them."""
