"""The checkout as a command: a quote and an order from one JSON file, by the same services as the pages."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from billing.services.checkout import CheckoutRequest, CryptoChoice, anonymous_limits, checkout
from catalog.offers import OptionChoice
from catalog.tax import BillTo, bill_to
from core.errors import Refusal
from fleet.keys import parse_keys
from orders.contact import clean_contact
from orders.models import Order, Quote
from orders.selectors import quote_by_id
from orders.services.place import PlaceRequest
from orders.services.quote import QuoteRequest, make_quote
from shop.visitor import new_owner


class Command(BaseCommand):
    help = (
        'Places an order; the file has "quote" (id or lot, days, image), "contact", "ssh_keys", "pay_with".'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", required=True, type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            data = json.loads(options["file"].read_text(encoding="utf-8"))
            quote = _quote(data["quote"])
            order = checkout(_checkout_request(data, quote))
        except (OSError, ValueError) as error:
            raise CommandError(f"{options['file']} cannot be read: {error}") from error
        except (KeyError, TypeError) as error:
            raise CommandError(f"{options['file']} lacks or misshapes {error}.") from error
        except Refusal as refusal:
            raise CommandError(f"{refusal.code} ({refusal.field or 'order'}): {refusal.text}") from refusal
        self.stdout.write(settings.SITE_URL + order.get_absolute_url())


def _quote(asked: str | dict[str, Any]) -> Quote:
    if isinstance(asked, str):
        found = quote_by_id(asked)
        if found is None:
            raise CommandError("There is no such quote.")
        return found
    return make_quote(
        QuoteRequest(
            lot=asked["lot"],
            lots=asked.get("lots", 1),
            days=asked["days"],
            image=asked["image"],
            options=[OptionChoice(**choice) for choice in asked.get("options", [])],
            starts_at=None,
            bill_to=bill_to(**asked.get("bill_to", {"country": settings.SHOP_COUNTRY})),
            limits=anonymous_limits(),
        )
    )


def _checkout_request(data: dict[str, Any], quote: Quote) -> CheckoutRequest:
    contact = clean_contact(**{"company": "", "language": settings.LANGUAGE_CODE} | data["contact"])
    place = PlaceRequest(
        quote_id=quote.public_id,
        owner=data.get("owner") or new_owner(),
        prefix="",  # no network address stands behind a command
        limits=anonymous_limits(),
        contact=contact,
        bill_to=BillTo(**quote.bill_to),
        keys=parse_keys(data["ssh_keys"]),
        terms_version=data.get("accept_terms", ""),
        mail_to=contact.email,
        mail_language=contact.language,
        notify=Order.Notify.BUYER,
    )
    pay_with = CryptoChoice(network=data["pay_with"]["network"], asset=data["pay_with"]["asset"])
    return CheckoutRequest(place=place, pay_with=pay_with)
