"""Addresses of shop's pages, under a language prefix."""

from django.urls import path, register_converter

from shop.addresses import QuoteIdConverter, TokenConverter
from shop.views import catalog, orders, plan, quotes, site

register_converter(QuoteIdConverter, "quote_id")
register_converter(TokenConverter, "order_token")

app_name = "shop"
urlpatterns = [
    path("", site.home, name="home"),
    path("catalog/", catalog.catalog_page, name="catalog"),
    path("catalog/<slug:slug>/", catalog.accelerator_page, name="accelerator"),
    path("catalog/<slug:slug>/total/", catalog.total_part, name="total"),
    path("plan/", plan.plan_page, name="plan"),
    path("quotes/<quote_id:quote_id>/", quotes.quote_page, name="quote"),
    path("quotes/<quote_id:quote_id>/document.json", quotes.quote_document, name="quote_document"),
    path("quotes/<quote_id:quote_id>/signature.txt", quotes.quote_signature, name="quote_signature"),
    path("quotes/<quote_id:quote_id>/order/", quotes.order_quote, name="order_quote"),
    path("orders/<order_token:token>/", orders.order, name="order"),
    path("orders/<order_token:token>/live/", orders.live_part, name="order_live"),
    path("orders/<order_token:token>/claim/", orders.claim_payment, name="order_claim"),
    path("orders/<order_token:token>/cancel/", orders.cancel_order, name="order_cancel"),
    path("orders/<order_token:token>/demo-pay/", orders.demo_pay, name="order_demo_pay"),
    path("orders/<order_token:token>/problem/", orders.problem, name="order_problem"),
    path("simulated/", site.simulated, name="simulated"),
    path("legal/<slug:slug>/", site.legal, name="legal"),
]
