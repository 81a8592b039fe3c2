"""Parts of an order's page about the lease itself: how to log in, who may, how results get out in time."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from fleet import selectors as fleet
from fleet.export import ExportPlan, export_plan
from fleet.lease_rows import LeaseRows
from fleet.lifecycle import OVER_STATES, TEARDOWN_STATES
from fleet.models import Lease
from fleet.periods import export_window
from fleet.selectors import Access, AccessCard, Member
from orders.export_words import export_sentences
from orders.models import Order
from shop.forms.access import ExportForm, MemberForm

# Where ssh-keygen puts a key of each type; with IdentitiesOnly nothing else is offered.
_KEY_FILES = {
    "ssh-ed25519": "id_ed25519",
    "ssh-rsa": "id_rsa",
    "ecdsa-sha2-nistp256": "id_ecdsa",
    "ecdsa-sha2-nistp384": "id_ecdsa",
    "ecdsa-sha2-nistp521": "id_ecdsa",
    "sk-ssh-ed25519@openssh.com": "id_ed25519_sk",
    "sk-ecdsa-sha2-nistp256@openssh.com": "id_ecdsa_sk",
}


@dataclass(frozen=True)
class MembersPart:
    """The keys that open the lease. `is_open`: they do so now; else they will, once access opens."""

    members: list[Member]
    is_open: bool
    form: MemberForm

    @property
    def only_one(self) -> bool:
        return len(self.members) == 1


@dataclass(frozen=True)
class ExportPart:
    """What is known of the export, in figures and in words; `opens_at`: the export window, where it is ahead."""

    plan: ExportPlan
    sentences: list[str]
    is_past: bool
    opens_at: datetime | None
    form: ExportForm


def _goes_on(lease: Lease, moment: datetime) -> bool:
    """Whether something can still be changed on it."""
    if lease.status in TEARDOWN_STATES | OVER_STATES:
        return False
    return lease.ends_at is None or moment < lease.ends_at


def members_part(found: LeaseRows, moment: datetime) -> MembersPart | None:
    """None after the end: a key that opens nothing is not shown. No query."""
    if not _goes_on(found.lease, moment):
        return None
    return MembersPart(
        members=fleet.members_of_rows(found.keys),
        is_open=fleet.is_open(found.lease, moment),
        form=MemberForm(),
    )


def access_part(found: LeaseRows) -> Access | None:
    """The login while access is open. No query."""
    cards = [
        AccessCard(node=card.node.name, index=card.index, serial=card.serial, accelerator=card.accelerator)  # type: ignore[attr-defined]
        for card in found.cards
    ]
    return fleet.access_of_rows(found.lease, cards, [key.fingerprint for key in found.keys])


def export_part(order: Order, lease: Lease | None, moment: datetime) -> ExportPart | None:
    """None before there is a lease and after its end. No query."""
    if lease is None or not _goes_on(lease, moment):
        return None
    plan = export_plan(lease, uplink_gbit_s=order.quote.lot.uplink_gbit_s)
    opens_at = lease.ends_at - export_window(lease.hold.term_seconds) if lease.ends_at else None
    return ExportPart(
        plan=plan,
        sentences=export_sentences(plan, moment),
        is_past=plan.is_past(moment),
        opens_at=opens_at if opens_at is not None and moment < opens_at else None,
        form=ExportForm(plan=plan),
    )


def ssh_command(access: Access) -> str:
    """What is typed to log in."""
    return f"ssh -p {access.port} {access.user}@{access.host}"


def ssh_config(access: Access, members: list[Member]) -> str:
    """A block for ~/.ssh/config; the host key is pinned by the known_hosts line beside it.

    One IdentityFile for each type of key on the lease: ssh passes over the files that are not there.
    """
    files = dict.fromkeys(_KEY_FILES[member.algorithm] for member in members)
    return (
        f"Host anchor-{access.user}\n"
        f"    HostName {access.host}\n"
        f"    Port {access.port}\n"
        f"    User {access.user}\n"
        + "".join(f"    IdentityFile ~/.ssh/{name}\n" for name in files)
        + "    IdentitiesOnly yes\n"
        "    StrictHostKeyChecking yes\n"
    )


def wipe_method(lease: Lease | None) -> str:
    """How the disks of a lease were wiped, in words; an engine's own word where we know none."""
    method = "" if lease is None else str(lease.wipe_record.get("method", ""))
    words = {
        "simulated": _("Simulated: no disk was written."),
        "never_opened": _("Access never opened: there was nothing to erase."),
        "nothing_there": _("No machine was left: the engine knew of none."),
    }
    return words.get(method, method)
