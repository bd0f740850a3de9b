"""Which names a server answers to. A page of a stranger's can have its own name lead to this machine (DNS rebinding), and its script
would then ask as if it were a page of this server; the name in ``Host`` gives it away. An address as such is nobody's name.
"""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from server.problems import answer

Serves = Callable[[str], bool]
"""Whether a value of ``Host`` is one that is answered."""


def served_hosts(listed: str) -> Serves:
    """``listed``: names, comma-separated; ``.example.com`` for all below a name, ``*`` for any."""
    names = {one.strip().lower().rstrip(".") for one in listed.split(",") if one.strip()}
    below = tuple(one for one in names if one.startswith("."))

    @lru_cache(maxsize=256)
    def serves(host: str) -> bool:
        name = _without_port(host).lower().rstrip(".")
        return "*" in names or name in names or (bool(below) and name.endswith(below)) or _is_address(name)

    return serves


class ServedHosts:
    """Around the operations: who asks another server's name is told so, gets nothing, and no further answer on the connection: where the
    request ends has not been looked at yet.
    """

    def __init__(self, app: ASGIApp, serves: Callable[[], Serves]) -> None:
        self._app = app
        self._serves = serves

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            if not all(map(self._serves(), hosts)) or len(hosts) > 1:
                detail = "this server does not go by that name; FOOTPATH_HOSTS lists those it answers to"
                close = {"Connection": "close"}
                refused = answer(HTTPStatus.MISDIRECTED_REQUEST, "misdirected", detail, headers=close)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
