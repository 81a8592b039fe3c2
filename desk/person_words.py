"""Words for a buyer's data: the sections that are kept, what an erasure takes and what it leaves, and why."""

from django.utils.translation import gettext_lazy as _

SECTIONS = {
    "orders": _("Orders, with contact and keys"),
    "order_searches": _("Searches for order links"),
    "payments": _("Payments, with transfers"),
    "card_payments": _("What the card processor told of payments"),
    "refunds": _("Refunds, with their addresses"),
    "documents": _("Invoices and other documents"),
    "leases": _("Leases"),
    "access_keys": _("SSH keys of leases"),
    "holds": _("Holds, with the network they came from"),
    "partner_orders": _("Orders by way of a partner"),
    "members": _("Memberships of partners"),
    "mails": _("Mails"),
    "events": _("Events, logins among them"),
    "decisions": _("Decisions of staff, problem reports among them"),
}

GOES = (
    _("name, company and e-mail address of every order"),
    _("SSH keys, their fingerprints and who they belonged to"),
    _("address, subject and text of every mail; what still waits is never sent"),
    _("the networks of logins and holds, and searches for order links"),
    _("texts of problem reports, and words of staff that name the buyer"),
    _("what a partner’s program stored with the order, and what the card processor told of the payer"),
)

STAYS = (
    _("Invoices and other issued documents, with the name on them: tax law asks for them."),
    _(
        "The books, amounts, country, VAT number and tax facts of each order, and its signed quote: "
        "they prove what was sold."
    ),
    _(
        "Deposit addresses, transfers, senders and refund addresses: they prove where money came from and went. "
        "They stand on a public chain anyhow."
    ),
    _("What happened and when: events, decisions and audit entries without the erased words."),
)

AFTERWARDS = (
    _("Links that were mailed open nothing any more, and nothing is mailed again."),
    _("If money still arrives at an old deposit address, nobody can be told of it."),
    _("The card processor, and backups made before, keep their own copies. See the operations guide."),
)

# What an erasure counts in the audit.
CHANGED = {
    "orders": _("Orders"),
    "order_searches": _("Searches for order links"),
    "card_events": _("Events of the card processor"),
    "card_sessions": _("Card sessions"),
    "demo_card_records": _("Records of the demo’s card processor"),
    "refund_notes": _("Notes on refunds"),
    "acceptances": _("Reasons of accepted payments"),
    "audit_entries_of_money": _("Audit entries about money"),
    "audit_entries_of_machines": _("Audit entries about machines"),
    "access_keys": _("SSH keys of leases"),
    "holds": _("Holds"),
    "partner_orders": _("Data that partners stored with orders"),
    "api_answers": _("Kept answers of the API"),
    "members": _("Former members of partners"),
    "audit_entries": _("Audit entries"),
    "decisions": _("Decisions"),
    "events": _("Events"),
    "mails": _("Mails"),
}
