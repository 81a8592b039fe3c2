"""The planner: a pure calculation over the lots on sale. Nothing is kept; the address is the plan."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods

from catalog import selectors as catalog
from catalog.offers import LotSpecRow
from catalog.selectors import ImageVerdict
from planner import plan
from shop.forms.plan import BY_CONFIG, DEFAULTS, PlanForm, address_query, stated
from shop.forms.plan_config import PlanConfigForm
from shop.kept import kept_facts
from shop.pages.plan import PlanPage
from shop.pages.plan import plan_page as composed
from shop.views.errors import shows_refusals

# What most buyers never change; it waits behind a fold.
RARE = (
    "accumulation",
    "flash",
    "loss_kernel",
    "packing",
    "lora_dropout",
    "framework",
    "compiled",
    "upcast",
)

# The name of the button: a press leads to the result, which a change of a field on the way must not.
SHOWN_BY = "show"


@require_http_methods(["GET", "HEAD", "POST"])
@shows_refusals
def plan_page(request: HttpRequest) -> HttpResponse:
    """GET: the plan of the address. POST: a config.json that is too large for one, or has just been given."""
    stamp = catalog.catalogue_stamp()
    lots = kept_facts("lot_specs", stamp=stamp, read=catalog.lot_specs)
    if "use_config" in request.POST:
        return _take_config(request, lots, stamp)
    given = request.POST if request.method == "POST" else request.GET
    return _show(request, PlanForm(given.dict(), lots=lots), PlanConfigForm(), lots, stamp)


def _take_config(request: HttpRequest, lots: tuple[LotSpecRow, ...], stamp: str) -> HttpResponse:
    state = stated(request.POST.dict())
    config_form = PlanConfigForm(request.POST, request.FILES)
    if not config_form.is_valid():
        return _show(request, PlanForm(state, lots=lots), config_form, lots, stamp)
    state |= {"model": BY_CONFIG, "config": config_form.cleaned_data["config"]}
    form = PlanForm(state, lots=lots)
    if form.shareable:
        return HttpResponseRedirect(f"{reverse('shop:plan')}?{address_query(state)}", status=303)
    return _show(request, form, PlanConfigForm(), lots, stamp)


def _show(
    request: HttpRequest,
    form: PlanForm,
    config_form: PlanConfigForm,
    lots: tuple[LotSpecRow, ...],
    stamp: str,
) -> HttpResponse:
    refused = not form.is_valid() or bool(config_form.errors)
    result = None
    if form.plan_request is not None:
        result = composed(plan(form.plan_request, lots), form, lots)
    context: dict[str, Any] = {
        "form": form,
        "config_form": config_form,
        "result": result,
        "state": _differing(form),
        "shown_by": SHOWN_BY,
        "shareable": form.shareable,
        "quote_image": _first_image(result, stamp),
        "shop_country": settings.SHOP_COUNTRY,
        "rare_fields": [form[name] for name in RARE],
        "rare_errors": any(name in form.errors for name in (*RARE, "sharding", "n_cards")),
        "pilot_errors": any(name.startswith("pilot_") for name in form.errors),
    }
    if not request.htmx:  # type: ignore[attr-defined]
        response = render(request, "shop/plan.html", context, status=400 if refused else 200)
    else:
        # htmx shows nothing of an answer that is an error; the words stand in the fragment itself.
        response = render(request, "shop/plan/fragment.html", context)
        if form.shareable and not refused:
            query = address_query(form.values)
            response["HX-Replace-Url"] = reverse("shop:plan") + (f"?{query}" if query else "")
        if SHOWN_BY in request.GET or SHOWN_BY in request.POST:
            response["HX-Reswap"] = "innerHTML show:#result:top"
    patch_vary_headers(response, ("HX-Request",))
    return response


def _first_image(result: PlanPage | None, stamp: str) -> ImageVerdict | None:
    """The environment that the quote of the offer starts with: the first that runs, as in the configurator."""
    if result is None or result.offer is None:
        return None
    slug = result.offer.slug
    images = kept_facts(f"images of {slug}", stamp=stamp, read=lambda: _images(slug))
    return images[0] if images and images[0].verdict.runs else None


def _images(slug: str) -> tuple[ImageVerdict, ...]:
    return catalog.images_for(accelerator=catalog.accelerator_by_slug(slug=slug))


def _differing(form: PlanForm) -> list[tuple[str, str]]:
    """The state that the form of the config.json sends along."""
    return [(name, text) for name, text in form.values.items() if text != DEFAULTS.get(name, "")]
