"""A local EVM chain (31337) for the demo and the tests: the binary from npm, without its launcher."""

import json
import platform
import signal
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, Reservation, reserve_free
from anchorgpu.services.process import Process

CHAIN_ID = 31337
START_SECONDS = 20.0
_MODULES = Path(__file__).resolve().parent.parent.parent / "node_modules" / "@foundry-rs"
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class RpcError(Exception):
    """The node refused a call."""


class Anvil:
    """One chain. Without a state file it mines at once and forgets; with one it mines by time and keeps."""

    def __init__(
        self,
        *,
        log_file: Path,
        port: int | None = None,
        state_file: Path | None = None,
        chain_id: int = CHAIN_ID,
        extra: Sequence[str] = (),
    ) -> None:
        self.port = port or 0
        self._preferred = port
        self._reservation: Reservation | None = None
        self._state_file = state_file
        self._extra = extra
        self.chain_id = chain_id
        self.process = Process(
            name="The local chain (anvil)",
            command=[],
            log_file=log_file,
            stop_signal=signal.SIGTERM,
            death_signal=signal.SIGTERM,
        )

    @property
    def url(self) -> str:
        return f"http://{LOCALHOST}:{self.port}"

    def start(self) -> None:
        problem: ServiceError | None = None
        for _ in range(3):  # the port may be taken between the look and the start
            self._reservation = reserve_free(preferred=self._preferred, instead_of=self._reservation)
            self.port = self._reservation.port
            self.process.command = [str(part) for part in [binary(), *self._options()]]
            self._reservation.release()
            self.process.start()
            try:
                self.process.wait_until(self._answers, seconds=START_SECONDS)
            except ServiceError as error:
                problem = error
                self.process.kill()
            else:
                return
        raise problem or ServiceError("The local chain cannot be started.")

    def stop(self) -> None:
        """It writes its state before it goes."""
        self.process.stop()

    def rpc(self, method: str, *params: object, timeout_seconds: float = 30.0) -> Any:
        """One JSON-RPC call; raises RpcError with the node's own words."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=timeout_seconds) as response:  # noqa: S310  # nosec B310 # http only
            answer = json.load(response)
        if "error" in answer:
            raise RpcError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def snapshot(self) -> str:
        return str(self.rpc("evm_snapshot"))

    def revert(self, snapshot: str) -> None:
        """A snapshot can be used once."""
        if not self.rpc("evm_revert", snapshot):
            raise RpcError(f"snapshot {snapshot} is gone")

    def mine(self, blocks: int = 1) -> None:
        self.rpc("anvil_mine", hex(blocks))

    def _options(self) -> list[str]:
        always = ["--host", LOCALHOST, "--port", str(self.port), "--chain-id", str(self.chain_id), "--silent"]
        if self._state_file is None:
            return [*always, *self._extra]
        # One slot per epoch: safe is one block behind and finalized two, so a payment settles in seconds.
        # It would keep the state of every block on disk for ever; balances are read at the newest few only, and
        # this many blocks are more than an hour.
        kept = [
            *("--block-time", "2", "--mixed-mining", "--slots-in-an-epoch", "1"),
            *("--prune-history", "2000"),
        ]
        return [*always, *kept, "--state", str(self._state_file), "--state-interval", "5", *self._extra]

    def _answers(self) -> bool:
        try:
            return int(self.rpc("eth_chainId", timeout_seconds=2.0), 16) == self.chain_id
        except (OSError, ValueError, RpcError):
            return False


def binary() -> Path:
    """The program itself: a launcher in between would break the tie between parent and child."""
    system = platform.system().lower()
    machine = _MACHINES.get(platform.machine().lower(), platform.machine())
    path = _MODULES / f"anvil-{system}-{machine}" / "bin" / "anvil"
    if not path.is_file():
        raise ServiceError("The local chain (anvil) is not installed; run `npm ci` in the project's folder.")
    return path
