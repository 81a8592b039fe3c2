"""When a transfer is final, and where else money turned up, in words."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing.networks import Settle
from billing.others import OtherArrived
from core.formats import duration_text, token_text


def final_when(rule: Settle) -> str:
    """The settle rule of a payment as one sentence."""
    if rule.mode == "confirmations":
        return ngettext(
            "Final once the transfer is in a block: %(count)d confirmation.",
            "Final after %(count)d confirmations: that many blocks, its own included.",
            rule.value,
        ) % {"count": rule.value}
    if rule.mode == "age":
        return _("Final once its block is %(time)s old.") % {"time": duration_text(rule.value)}
    return _("Final once the network has finalized its block; depending on the network a few to 30 minutes.")


def other_arrived(other: OtherArrived, *, asked: str, network: str) -> str:
    """What came instead of what was asked for."""
    words = {
        "amount": token_text(other.amount),
        "asset": other.asset,
        "asked": asked,
        "network": network,
        "other_network": other.network_name,
    }
    if other.is_here:
        return _("%(amount)s %(asset)s arrived, the order expects %(asked)s.") % words
    return (
        _("%(amount)s %(asset)s arrived on %(other_network)s, the order expects %(asked)s on %(network)s.")
        % words
    )
