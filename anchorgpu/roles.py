"""What each role of staff may do: role -> permissions, as names or patterns of Django's (`app.action_model`).

A role is a group of this name, kept in step by `manage.py sync_roles`. Services stay the only way to change a row:
"change" here means to press the buttons that its admin page and its decisions have.
"""

CATALOGUE_EDITOR = "Catalogue editor"
SUPPORT = "Support"
FINANCE = "Finance"
OPERATOR = "Operator"
OWNER = "Owner"

# Whoever works on orders sees what stands around them.
_SEES_WORK = (
    "core.view_decision",
    "core.view_event",
    "core.view_outgoingmail",
    "orders.view_*",
    "billing.view_*",
    "fleet.view_*",
    "catalog.view_*",
)

ROLES: dict[str, tuple[str, ...]] = {
    CATALOGUE_EDITOR: ("catalog.*",),
    # Notes on problems that buyers report and on mail that bounced: nothing is sent, no money moves.
    SUPPORT: (*_SEES_WORK, "core.change_decision"),
    FINANCE: (
        *_SEES_WORK,
        "core.change_decision",
        "core.view_auditentry",
        "billing.*",
        "orders.change_order",
        "orders.export_order",
        "partners.view_partner",
    ),
    OPERATOR: (
        *_SEES_WORK,
        "core.change_decision",
        "core.change_outgoingmail",
        "core.view_outboxrow",
        "core.change_outboxrow",
        "core.view_sweeprun",
        "core.change_sweeprun",
        "core.view_auditentry",
        "billing.change_chainstate",
        "fleet.*",
        "partners.*",
    ),
    OWNER: (
        "core.*",
        "catalog.*",
        "fleet.*",
        "orders.*",
        "billing.*",
        "partners.*",
        "auth.view_user",
        "auth.add_user",
        "auth.change_user",
        "auth.view_group",
        "auth.add_group",
        "auth.change_group",
    ),
}
