"""Roles of staff: groups that hold exactly what settings.STAFF_ROLES says. Other groups are left alone."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import Q, QuerySet

OWNER = "Owner"
# Nothing is deleted by hand, whatever the role: rows are withdrawn, closed, revoked or released.
_NEVER = "*.delete_*"


class UnknownPermission(Exception):
    """A role names something that no model has."""


@transaction.atomic
def sync_roles() -> dict[str, int]:
    """Write every role; what was changed in a role by hand is overwritten. Role -> number of its permissions.

    Raises UnknownPermission, before anything is written, for a pattern that fits nothing. Safe to repeat.
    """
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    wanted = {role: _fitting(patterns, known) for role, patterns in settings.STAFF_ROLES.items()}
    for role, permissions in wanted.items():
        group, _created = Group.objects.get_or_create(name=role)
        group.permissions.set(permissions)
    return {role: len(permissions) for role, permissions in wanted.items()}


def is_role(group: Group) -> bool:
    """Whether its permissions are kept in step, so that a change by hand would not last."""
    return group.name in settings.STAFF_ROLES


def owners() -> QuerySet[User]:
    """Who may do everything and can sign in."""
    return User.objects.filter(
        Q(is_superuser=True) | Q(groups__name=OWNER), is_active=True, is_staff=True
    ).distinct()


def _fitting(patterns: Sequence[str], known: dict[str, Permission]) -> list[Permission]:
    found: dict[str, Permission] = {}
    for pattern in patterns:
        fitting = {
            name: permission
            for name, permission in known.items()
            if fnmatchcase(name, pattern) and not fnmatchcase(name, _NEVER)
        }
        if not fitting:
            raise UnknownPermission(pattern)
        found |= fitting
    return list(found.values())
