"""Buy the cheapest free lot of the running demo as a buyer does: pages over HTTP, a login over SSH."""

import json
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from shop.demo_buyer import login, purchase
from shop.demo_buyer.browser import Browser, Page, PageError, Stopwatch

COMMAND = "nvidia-smi"


class Command(BaseCommand):
    help = "Buys the cheapest free lot of the running demo, pays, waits and logs in."
    # Nothing here touches the database; the shop is asked over HTTP.
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lot", help="such as b200-180x2; without it the cheapest that is free")
        parser.add_argument("--lots", type=int, default=1)
        parser.add_argument("--days", type=int, default=3)
        parser.add_argument(
            "--pay",
            choices=[purchase.CRYPTO, purchase.CARD],
            default=purchase.CRYPTO,
            help="with test USDC on the local chain, or with a test bank card",
        )
        parser.add_argument("--json", action="store_true", help="the last line is one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("demo_buy pays with the demo's wallet: it runs against a demo only.")
        wish = purchase.Wish(lot=options["lot"], lots=options["lots"], days=options["days"])
        watch = Stopwatch()
        try:
            with tempfile.TemporaryDirectory(prefix="anchorgpu-buyer-") as folder:
                result = self._buy(wish, watch, Path(folder), options["pay"])
        except (PageError, login.LoginFailed) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(
                json.dumps({"ok": True, **result, "seconds": watch.seconds, "total_seconds": watch.total})
            )

    def _buy(self, wish: purchase.Wish, watch: Stopwatch, folder: Path, pay_with: str) -> dict[str, str]:
        browser = Browser(settings.SITE_URL)
        found = purchase.find_lot(browser, wish)
        self._say(watch, "catalog", f"chose {wish.lots} x {found.lot} for {wish.days} days")
        quote = purchase.make_quote(browser, wish, found)
        self._say(watch, "quote", f"quote {quote.url.rstrip('/').rpartition('/')[2]}")
        key = login.new_key(folder)
        order = purchase.place_order(browser, quote, key.public_line, pay_with)
        self._say(watch, "order", f"cards held, order page {order.url}")
        self._pay(browser, watch, order, pay_with)
        purchase.wait_until_final(browser, order)
        self._say(watch, "final", "the payment is final")
        page = purchase.wait_until_ready(browser, order)
        self._say(watch, "ready", "access is ready, the term has started")
        target = purchase.target_of(page)
        client = login.client_name()
        output = login.run(target, key, COMMAND)
        if "NVIDIA-SMI" not in output and "GPU" not in output:
            raise login.LoginFailed(f"{COMMAND} answered something else: {output[:200]!r}")
        how = client if client == "ssh" else "asyncssh's client, as there is no ssh here"
        self._say(watch, "login", f"logged in as {target.user} with {how}; {COMMAND} says:")
        self.stdout.write(output)
        return {"order": order.url, "lot": found.lot, "user": target.user, "client": client}

    def _pay(self, browser: Browser, watch: Stopwatch, order: Page, pay_with: str) -> None:
        if pay_with == purchase.CARD:
            purchase.pay_by_card(browser, order)
            self._say(watch, "pay", "paid with a test bank card, nothing is charged")
            return
        purchase.pay(browser, order)
        self._say(watch, "pay", "the demo wallet sends test USDC on the local chain")
        purchase.claim(browser, order)
        self._say(watch, "claim", 'pressed "I have paid"')

    def _say(self, watch: Stopwatch, step: str, text: str) -> None:
        self.stdout.write(f"{watch.lap(step):6.2f} s  {text}")
        self.stdout.flush()
