"""The SSH face of all leases: one listener, the user name selects the lease, keys are read at each login."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

import asyncssh
import structlog
from asyncssh.editor import SSHLineEditorChannel
from django.conf import settings
from django.utils.translation import gettext as _

from core.client_address import network_prefix
from fleet.gateway import logins, shell, warnings
from fleet.gateway.logins import Login, Standing
from fleet.gateway.waiting import Waiting, WaitingRoom

log = structlog.get_logger(__name__)

# A client offers the keys of its agent one after the other; OpenSSH's own limit is six.
MAX_AUTH_TRIES = 6
# Long enough for a passphrase to be typed.
LOGIN_SECONDS = 30
# Until the key exchange is done nobody types anything: machines on a slow line need three round trips.
EXCHANGE_SECONDS = 10
MAX_CONNECTIONS_PER_LEASE = 20
MAX_SESSIONS_PER_CONNECTION = 10
WATCH_SECONDS = 1.0
# A database that does not answer for this long closes sessions: nobody could see the end of a lease.
MAX_BLIND_LOOKS = 30
# A client that reads nothing does not hold up the end of the others.
DISMISS_SECONDS = 3.0


@dataclass
class Counters:
    """Connections of this gateway, for its limits and its end."""

    room: WaitingRoom = field(default_factory=WaitingRoom)
    by_lease: Counter[int] = field(default_factory=Counter)
    open: "set[Connection]" = field(default_factory=set)


class Session(asyncssh.SSHServerProcess[str]):
    """A session that answers commands and a prompt; no subsystem, so neither sftp nor scp."""

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection.serve, None, 3, False)
        self._owner = connection
        self.is_started = False
        self.is_greeted = False
        self.warned = warnings.Warned()

    def session_started(self) -> None:
        super().session_started()
        self.is_started = True

    @property
    def is_listening(self) -> bool:
        """Whether words may be written into it. A command's output belongs to the program that reads it."""
        return self.is_greeted and not self.is_closing() and self.command is None

    def begin(self, ends_at: datetime | None, moment: datetime) -> None:
        """The prompt opens now. What the greeting of a terminal says is not said again by the watcher."""
        self.is_greeted = True
        if self.term_type is not None:
            self.warned.skip(ends_at, moment)

    def break_received(self, msec: int) -> bool:
        """Ctrl-C throws away what stands on the line, before anything typed after it arrives."""
        if self.term_type is not None:
            # The line editor stands in front of the channel wherever there is a terminal.
            cast(SSHLineEditorChannel, self.channel).clear_input()
        return super().break_received(msec)

    def subsystem_requested(self, subsystem: str) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.sessions.discard(self)
        super().connection_lost(exc)


class Connection(asyncssh.SSHServer):
    """One client. Every wrong login takes the same steps and hears the same words."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._connection: asyncssh.SSHServerConnection | None = None
        self._address = ""
        self._tries = 0
        self._candidate: Login | None = None
        self._waiting: Waiting | None = None
        self._exchange_timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.login: Login | None = None
        self.sessions: set[Session] = set()

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._address = str((conn.get_extra_info("peername") or ("",))[0])
        self._waiting = Waiting(
            network=network_prefix(self._address),
            version=lambda: str(conn.get_extra_info("client_version") or ""),
            drop=conn.abort,
        )
        self._counters.room.enter(self._waiting)
        self._exchange_timer = asyncio.get_running_loop().call_later(EXCHANGE_SECONDS, conn.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._watcher is not None:
            self._watcher.cancel()
        self._counters.open.discard(self)
        if self.login is not None:
            self._counters.by_lease[self.login.lease_id] -= 1
            if self._counters.by_lease[self.login.lease_id] <= 0:
                del self._counters.by_lease[self.login.lease_id]

    def _stop_waiting(self) -> None:
        self._end_exchange()
        if self._waiting is not None:
            self._counters.room.leave(self._waiting)
            self._waiting = None

    def _end_exchange(self) -> None:
        if self._exchange_timer is not None:
            self._exchange_timer.cancel()
            self._exchange_timer = None

    def begin_auth(self, username: str) -> bool:
        self._end_exchange()
        if self._waiting is not None:
            self._waiting.begin_login()
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return False

    def kbdint_auth_supported(self) -> bool:
        return False

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Read the key from the database now: what was removed a second ago opens nothing."""
        self._candidate = None
        try:
            found = await asyncio.to_thread(
                logins.find_login, username=username[:64], fingerprint=key.get_fingerprint("sha256")
            )
        except Exception:
            log.exception("ssh_login_unreadable")
            found = None
        if found is None:
            self._tries += 1
            if self._tries >= MAX_AUTH_TRIES and self._connection is not None:
                self._connection.disconnect(
                    asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE, "Too many authentication failures"
                )
            return False
        self._candidate = found
        return True

    def auth_completed(self) -> None:
        """The signature of the last key that was found is good: this is who they are."""
        self._stop_waiting()
        connection, login = self._connection, self._candidate
        if connection is None or login is None or connection.get_extra_info("username") != login.username:
            raise asyncssh.DisconnectError(asyncssh.DISC_BY_APPLICATION, "No login")
        if self._counters.by_lease[login.lease_id] >= MAX_CONNECTIONS_PER_LEASE:
            raise asyncssh.DisconnectError(
                asyncssh.DISC_TOO_MANY_CONNECTIONS, "Too many connections for this lease"
            )
        self.login = login
        self._counters.by_lease[login.lease_id] += 1
        self._counters.open.add(self)
        log.info("ssh_login", lease=login.lease_id, address=self._address, test=login.is_test)
        self._watcher = asyncio.create_task(self._watch(connection, login))

    def session_requested(self) -> "Session | bool":
        if self.login is None or len(self.sessions) >= MAX_SESSIONS_PER_CONNECTION:
            return False
        session = Session(self)
        self.sessions.add(session)
        return session

    async def serve(self, process: asyncssh.SSHServerProcess[str]) -> None:
        login, session = self.login, cast(Session, process)
        if login is not None:
            await shell.serve(process, lambda: self.login or login, session.begin)

    async def _watch(self, connection: asyncssh.SSHServerConnection, login: Login) -> None:
        """Look each second by the product's clock whether the lease and the key still stand."""
        if not login.is_test:
            await self._record(login)
        blind = 0
        while True:
            try:
                state = await asyncio.to_thread(logins.standing, key_id=login.key_id)
                blind = 0
            except Exception:
                log.exception("ssh_watch_unreadable", lease=login.lease_id)
                blind += 1
                if blind >= MAX_BLIND_LOOKS:
                    await self._close(connection, _("The state of this lease cannot be read."))
                    return
                await asyncio.sleep(WATCH_SECONDS)
                continue
            if state.cut is not None:
                await self._close(connection, warnings.why_cut(state.cut))
                return
            if not login.is_test:
                self._follow_end(state)
            await asyncio.sleep(WATCH_SECONDS)

    async def _record(self, login: Login) -> None:
        try:
            await asyncio.to_thread(logins.record_login, key_id=login.key_id, address=self._address)
        except Exception:
            log.exception("ssh_login_not_recorded", lease=login.lease_id)

    def _follow_end(self, state: Standing) -> None:
        """Tell each session of a new end, and once of each threshold before it."""
        if self.login is None or state.ends_at is None:
            return
        is_new = state.ends_at != self.login.ends_at
        self.login = replace(self.login, ends_at=state.ends_at)
        for session in list(self.sessions):
            if not session.is_listening:
                continue
            if is_new:
                _tell(session, warnings.new_end(state.ends_at))
            if session.warned.is_due(state.ends_at, state.now):
                _tell(session, warnings.ends_soon(state.ends_at, state.now))

    async def dismiss(self, sentence: str) -> None:
        """Tell the sessions why, and end the connection."""
        if self._connection is not None:
            await self._close(self._connection, sentence)

    async def _close(self, connection: asyncssh.SSHServerConnection, sentence: str) -> None:
        for session in list(self.sessions):
            if session.is_listening:
                _tell(session, sentence)
            if session.is_started and not session.is_closing():
                session.exit(1)
        # One turn for the last words to leave before the connection goes.
        await asyncio.sleep(0.05)
        connection.disconnect(asyncssh.DISC_BY_APPLICATION, sentence)


def _tell(session: Session, sentence: str) -> None:
    session.stdout.write(f"\n*** {sentence}\n")


async def dismiss_all(counters: Counters) -> None:
    """Before this gateway ends: whoever works in a session hears it, and that it is not the lease."""
    sentence = _("the gateway is being restarted, session closed; log in again in a moment")
    leaving = [asyncio.create_task(connection.dismiss(sentence)) for connection in list(counters.open)]
    if leaving:
        await asyncio.wait(leaving, timeout=DISMISS_SECONDS)


async def start(*, host: str, port: int, counters: Counters | None = None) -> asyncssh.SSHAcceptor:
    """Listen. The caller closes what it gets."""
    counters = Counters() if counters is None else counters
    return await asyncssh.create_server(
        lambda: Connection(counters),
        host,
        port,
        server_host_keys=[settings.SSH_HOST_KEY_FILE],
        server_version="AnchorGPU",
        login_timeout=LOGIN_SECONDS,
        keepalive_interval=30,
        keepalive_count_max=3,
        allow_scp=False,
        sftp_factory=None,
        agent_forwarding=False,
        x11_forwarding=False,
        gss_host=None,
        window=64 * 1024,
        max_pktsize=32 * 1024,
        line_history=100,
        errors="replace",
        max_line_length=shell.MAX_LINE,
        config=None,
    )
