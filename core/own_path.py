"""Where a form may lead back to: a path of this site and nothing else, however it is written."""

from django.utils.http import url_has_allowed_host_and_scheme


def own_path(target: str, *, otherwise: str = "/") -> str:
    """The target if it is a path of ours, else the other: no other host, no other scheme, no hidden characters."""
    # Django lets two slashes without a host pass; what a browser makes of them is its own affair.
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    is_own = is_path and url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return target if is_own and target.isprintable() else otherwise
