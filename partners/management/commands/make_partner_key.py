"""A partner and a first key from the shell, for whoever has no admin page open."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from core.errors import Refusal
from partners.scopes import Scope
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner

ACTOR = "make_partner_key"


class Command(BaseCommand):
    help = "Makes another API key of a partner, and the partner where there is none. Prints the key and nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="short name of the partner, such as acme")
        parser.add_argument("--mail", help="where we write to; needed for a new partner")
        parser.add_argument(
            "--scope", action="append", choices=Scope.values, help="may stand several times; without it all"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name: str = options["name"]
        try:
            partner = make_partner(name=name, slug=name, mail=options["mail"] or "", actor=ACTOR)
            _key, text = make_key(
                partner_id=partner.pk, actor=ACTOR, scopes=options["scope"] or tuple(Scope.values)
            )
        except ValidationError as error:
            faults = "; ".join(f"{field}: {' '.join(said)}" for field, said in error.message_dict.items())
            raise CommandError(f"No such partner can be made ({faults}).") from error
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.text}") from refusal
        self.stdout.write(text)
