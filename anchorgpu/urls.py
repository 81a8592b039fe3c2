"""All addresses: pages under a language, the API, the admin, health."""

from csp.decorators import csp_replace
from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import include, path

from anchorgpu import csp, engines
from anchorgpu.metrics.view import metrics
from shop.views import choices, service, site
from shop.views.errors import shows_refusals
from shop.views.stripe_webhook import stripe_webhook

urlpatterns = [
    path("", site.root),
    path("healthz", service.healthz),
    path("readyz", service.readyz),
    path("metrics", metrics, name="metrics"),
    path("robots.txt", engines.robots, name="robots"),
    path("sitemap.xml", engines.sitemap, name="sitemap"),
    path(".well-known/anchorgpu/quote-keys.json", service.quote_keys, name="quote_keys"),
    path("webhooks/stripe/", stripe_webhook, name="stripe_webhook"),
    path("theme/", choices.theme, name="theme"),
    path("language/", choices.language, name="language"),
    path("demo/mail/", site.demo_mails, name="demo_mails"),
    path("demo/mail/<int:mail_id>/", site.demo_mail, name="demo_mail"),
    # Before the admin's own, which would answer a refused login with an error page.
    # A page of ours, where passwords are typed: under the strict policy.
    path("admin/login/", csp_replace(csp.SHOP)(shows_refusals(admin.site.login))),
    # The desk first: the list of decisions stands where the list of tables would.
    path("admin/", include("desk.urls")),
    path("admin/tables/", admin.site.admin_view(admin.site.index), name="admin_tables"),
    path("admin/", admin.site.urls),
    path("api/", include("partners.api.urls")),
    *i18n_patterns(
        path("guides/", include("guides.urls")),
        path("partner/", include("partners.urls")),
        path("", include("shop.urls")),
    ),
]

handler400 = "shop.views.errors.bad_request"
handler403 = "shop.views.errors.permission_denied"
handler404 = "shop.views.errors.page_not_found"
handler500 = "shop.views.errors.server_error"
