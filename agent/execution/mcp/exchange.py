"""One question to a server and what became of it on the way, beside what the protocol's library tells."""

from dataclasses import dataclass
from typing import cast

import orjson

FAILED = -32_099
"""The code of the error that stands in the place of an answer that did not come; what counts is the exchange's own word."""


@dataclass(slots=True)
class Exchange:
    """``deadline``: on the loop's clock. ``sent`` stays true once the question may have left. ``fault``: why no answer came, in words.

    ``status``: of HTTP. ``error``: what kept it from being sent or answered. ``asked_wait``: seconds from ``Retry-After``.
    ``gone``: the server knows nothing of the session, and has done nothing.
    """

    deadline: float
    sent: bool = False
    status: int | None = None
    fault: str = ""
    error: Exception | None = None
    asked_wait: float | None = None
    gone: bool = False

    async def trace(self, event: str, _info: object) -> None:
        """What httpcore traces: notes the moment from which on the server may act."""
        if event.endswith("send_request_headers.started"):
            self.sent = True

    def failed(self, why: str, error: Exception | None = None) -> None:
        """Note why there is no answer; the first reason is kept."""
        self.fault = self.fault or why
        self.error = self.error or error


Exchanges = dict[int, Exchange]
"""Those of one connection that are not over, by the id of their question."""


def id_of(message: bytes) -> int | None:
    """The id of a question in JSON-RPC, as this side gives them; None of anything else."""
    try:
        value: object = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    found: object = cast(dict[str, object], value).get("id") if isinstance(value, dict) else None
    if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) < 16:
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def no_answer(number: int, why: str) -> bytes:
    """The error that the library is given in the place of an answer."""
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": FAILED, "message": why[:1000]}})
