"""Who may edit whom: never an account or a group that may do more than the editor."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet


def permissions_within(editor: Any) -> "QuerySet[Permission]":
    """What this person may do and so may give to others. Counted for switched-off accounts too."""
    if editor.is_superuser:
        return Permission.objects.all()
    held = Permission.objects.filter(Q(user=editor.pk) | Q(group__user=editor.pk))
    return Permission.objects.filter(pk__in=held.values("pk"))


def groups_within(editor: Any) -> "QuerySet[Group]":
    """The groups that this person may give: those that hold nothing that he lacks."""
    beyond = Permission.objects.exclude(pk__in=permissions_within(editor).values("pk"))
    return Group.objects.exclude(permissions__in=beyond).order_by("name")


def may_edit_group(editor: Any, group: Group) -> bool:
    return groups_within(editor).filter(pk=group.pk).exists()


def may_edit(editor: Any, account: User) -> bool:
    """Whether the account may do nothing that the editor may not; a superuser is edited by superusers only."""
    if editor.is_superuser:
        return True
    if account.is_superuser:
        return False
    return not permissions_within(account).exclude(pk__in=permissions_within(editor).values("pk")).exists()
