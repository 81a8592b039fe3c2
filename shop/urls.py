"""Addresses of shop's pages, under a language prefix."""

from django.urls import path, register_converter

from shop.addresses import CardSessionConverter, QuoteIdConverter, TokenConverter
from shop.views import access, card, catalog, find, invoice, lease, orders, plan, quotes, refund, repair, site

register_converter(QuoteIdConverter, "quote_id")
register_converter(TokenConverter, "order_token")
register_converter(CardSessionConverter, "card_session")

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
    path("orders/", find.find_orders, name="find_orders"),
    path("orders/<order_token:token>/", orders.order, name="order"),
    path("orders/<order_token:token>/live/", orders.live_part, name="order_live"),
    path("orders/<order_token:token>/card/", card.start_card, name="order_card"),
    path("orders/<order_token:token>/claim/", orders.claim_payment, name="order_claim"),
    path("orders/<order_token:token>/cancel/", orders.cancel_order, name="order_cancel"),
    path("orders/<order_token:token>/demo-pay/", orders.demo_pay, name="order_demo_pay"),
    path("orders/<order_token:token>/extend/", lease.extend_order, name="order_extend"),
    path("orders/<order_token:token>/end-early/", lease.end_order_early, name="order_end_early"),
    path("orders/<order_token:token>/give-up/", lease.give_up, name="order_give_up"),
    path("orders/<order_token:token>/move/", repair.move, name="order_move"),
    path("orders/<order_token:token>/problem/", orders.problem, name="order_problem"),
    path("orders/<order_token:token>/keys/", access.members, name="order_members"),
    path("orders/<order_token:token>/keys/<int:key_id>/", access.member, name="order_member"),
    path(
        "orders/<order_token:token>/keys/<int:key_id>/remove/",
        access.remove_member,
        name="order_member_remove",
    ),
    path("orders/<order_token:token>/export/", access.export, name="order_export"),
    path(
        "orders/<order_token:token>/invoices/<order_token:invoice>.pdf", invoice.invoice_pdf, name="invoice"
    ),
    path("orders/<order_token:token>/refunds/<int:refund_id>/", refund.destination, name="order_refund"),
    path("orders/<order_token:token>/take-lot/", refund.take_lot, name="order_take_lot"),
    path("orders/<order_token:token>/take-refund/", refund.take_money, name="order_take_money"),
    path("demo/card/<card_session:session_id>/", card.demo_card, name="demo_card"),
    path("simulated/", site.simulated, name="simulated"),
    path("legal/<slug:slug>/", site.legal, name="legal"),
]
