"""Talks to slurmrestd: one request, one answer, failures told apart as the tools' are.

Only 200 is a yes. 4xx with a known sentence is a no. Anything else is no answer: a 502 has made the reservation all the
same.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

from fleet.providers.base import ProviderUnavailable
from fleet.providers.slurm.tools import TOOL_SECONDS, failure

# A cluster of a thousand nodes tells some megabytes of them.
LARGEST_ANSWER = 64 * 1024 * 1024
# The controller's "no". 502 and 504 say that somebody between us and it has given up.
_NO = frozenset({400, 403, 404, 409, 422})
# No proxy of the environment stands between us and the cluster.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class RestClient:
    """One API version at one address; the token is read for each request, since it is renewed behind our back."""

    def __init__(self, *, url: str, api: str, user: str, token_file: Path) -> None:
        self._base = f"{url.rstrip('/')}/slurm/{api}"
        self._user, self._token_file = user, token_file

    def call(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The answer's object. Raises NotFound, ProviderRefused or ProviderUnavailable with Slurm's sentence."""
        status, answer = self._send(method, path, body)
        said = _sentence(answer)
        if status == 200 and not said:
            return answer
        if status == 200 or status not in _NO:
            raise ProviderUnavailable(f"slurmrestd answered {status}: {said or 'nothing that can be read'}")
        raise failure("slurmrestd", status, said)

    def _send(self, method: str, path: str, body: Mapping[str, object] | None) -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(  # noqa: S310  # anchorgpu.slurm lets http and https through
            self._base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "X-SLURM-USER-NAME": self._user,
                "X-SLURM-USER-TOKEN": self._token(),
                "Content-Type": "application/json",
                "Accept": "application/json",
            },
        )
        try:
            with _opener.open(request, timeout=TOOL_SECONDS) as answer:
                return answer.status, _object(answer.read(LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _object(error.read(LARGEST_ANSWER))
        except (OSError, HTTPException) as error:
            raise ProviderUnavailable(f"slurmrestd gave no answer: {error}") from error

    def _token(self) -> str:
        try:
            return self._token_file.read_text(encoding="ascii").strip().removeprefix("SLURM_JWT=")
        except (OSError, UnicodeDecodeError) as error:
            raise ProviderUnavailable("SLURM_REST_TOKEN_FILE cannot be read.") from error


def _object(data: bytes) -> dict[str, Any]:
    """What is no JSON object has told nothing."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _sentence(answer: Mapping[str, Any]) -> str:
    errors = answer.get("errors")
    if not isinstance(errors, list):
        return "" if answer else "no object"
    return "; ".join(
        f"{entry.get('error', '')} ({entry.get('description', '')})"
        for entry in errors
        if isinstance(entry, dict)
    )
