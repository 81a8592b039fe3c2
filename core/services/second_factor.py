"""The second factor of staff: set up, shown, replaced, reset. Codes and their replay are django-otp's business."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from core import audit, clock, locks, staff_login, staff_sessions
from core.errors import Conflict, Invalid, TooMany

# Its devices have no types: an authenticator, or the recovery codes.
Device = Any
RECOVERY_CODES = 10
_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Which of the two was shown, and how many recovery codes are left."""

    was_recovery: bool
    codes_left: int


def device_of(user: User) -> TOTPDevice | None:
    """The device in use."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).first()


def codes_left(user: User) -> int:
    """Recovery codes that were not used yet."""
    return int(StaticToken.objects.filter(device__user=user).count())


def begin_set_up(user: User) -> TOTPDevice:
    """A new secret that counts for nothing until one of its codes is confirmed. The one in use stays in use.

    Always a new one: whoever has seen an earlier secret must not find it in use later.
    """
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        return TOTPDevice.objects.create(user=user, name="authenticator", confirmed=False)


def pending(*, user: User, number: object) -> TOTPDevice | None:
    """The secret that this session has begun to set up."""
    return TOTPDevice.objects.filter(pk=number, user=user, confirmed=False).first()


def confirm(*, user: User, number: object, code: str, network: str) -> list[str]:
    """Put the secret that is being set up into use and answer the recovery codes; an earlier device is gone.

    Locks the device. Raises Invalid(wrong_code), TooMany, and Conflict(already_done) where nothing is set up.
    """
    if pending(user=user, number=number) is None:
        raise _already_done()
    _prove(
        user=user,
        code=code,
        network=network,
        lock=lambda: locks.totp_device_for_update(user_id=user.pk, number=number, confirmed=False),
    )
    with transaction.atomic():
        device = locks.totp_device_for_update(user_id=user.pk, number=number, confirmed=False)
        if device is None:
            raise _already_done()
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        _record(user, "second_factor.set", actor=user.get_username())
        return _new_codes(user)


def show(*, user: User, code: str, network: str) -> Shown:
    """Accept a code of the device, or a recovery code, once. Locks the device. Raises Invalid(wrong_code), TooMany."""
    typed = _cleaned(code)
    was_recovery = len(typed) != _DIGITS
    lock = locks.static_device_for_update if was_recovery else locks.totp_device_for_update
    _prove(user=user, code=typed, network=network, lock=lambda: lock(user_id=user.pk))
    left = codes_left(user)
    if was_recovery:
        _record(user, "second_factor.recovery_code", actor=user.get_username(), codes_left=left)
    return Shown(was_recovery=was_recovery, codes_left=left)


def new_recovery_codes(*, user: User, code: str, network: str) -> list[str]:
    """Replace the recovery codes by new ones, for who shows a code. Raises what `show` raises."""
    show(user=user, code=code, network=network)
    with transaction.atomic():
        _record(user, "second_factor.new_codes", actor=user.get_username())
        return _new_codes(user)


def reset(*, user: User, actor: str, reason: str) -> None:
    """Forget device and codes of somebody who has lost them; his sessions end, the next login sets up a new one.

    Raises Conflict for one's own (who has a session changes the device by a code) and where there is none.
    """
    if user.get_username() == actor:
        raise Conflict(
            code="own_second_factor",
            message=_("Change your own device on the page of your sessions, with a code of the present one."),
        )
    with transaction.atomic():
        devices, _each = TOTPDevice.objects.filter(user=user).delete()
        if not devices:
            raise Conflict(code="already_done", message=_("No second factor is set up for this account."))
        StaticDevice.objects.filter(user=user).delete()
        staff_sessions.end_all(user, actor=actor, reason=reason)
        _record(user, "second_factor.reset", actor=actor, reason=reason)


def _prove(*, user: User, code: str, network: str, lock: Callable[[], Device]) -> None:
    """One try, bounded twice: by account and network in our rows, and by the device, which waits longer each time."""
    attempt, is_last = staff_login.begin_attempt(account=f"second factor:{user.pk}", network=network)
    with transaction.atomic():
        device = lock()
        if device is not None:
            _refuse_early(device)
        is_right = device is not None and bool(device.verify_token(_cleaned(code)))
    if is_right:
        attempt.delete()
        return
    if is_last:
        staff_login.record_limit(username=user.get_username(), network=network)
    raise Invalid(
        code="wrong_code",
        field="code",
        message=_("This code is wrong, or it was used before. Wait for the next one."),
    )


def _refuse_early(device: Device) -> None:
    is_allowed, why = device.verify_is_allowed()
    if is_allowed:
        return
    until: datetime = (why or {}).get("locked_until", clock.system_now())
    raise TooMany(
        code="too_many_codes",
        message=_("Too many codes were wrong. Until the time is over no code is checked."),
        retry_after_seconds=max(1, int((until - clock.system_now()).total_seconds()) + 1),
    )


def _new_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes", confirmed=True)
    codes = [StaticToken.random_token() for _number in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


def _cleaned(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def _already_done() -> Conflict:
    return Conflict(code="already_done", message=_("This is already done."))


def _record(user: User, action: str, *, actor: str, reason: str = "", **after: int) -> None:
    subject = f"staff:{user.get_username()}"[:80]
    audit.record(actor=actor, action=action, subject=subject, reason=reason, after=after)
