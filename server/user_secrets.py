"""A user's keys from the vault as the secrets of a run: the user's own first, then those of the server's operator."""

from collections.abc import Mapping, Sequence

from agent.execution.secrets import Secrets, check_host
from server.storage.shielded import shielded
from server.storage.tool_keys import ToolKeys
from server.watching.secrecy import conceal


class UserSecrets:
    """``shared``: what the operator lends to everyone's runs. A value is read when it is about to be sent, never kept."""

    def __init__(self, tool_keys: ToolKeys, user_id: str, shared: Secrets) -> None:
        self._tool_keys = tool_keys
        self._user_id = user_id
        self._shared = shared

    async def has(self, name: str) -> bool:
        """Whether the user or the operator has one of this name."""
        return name in await self._hosts() or await self._shared.has(name)

    async def value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """The value for this host; None where there is none. Raises ``SecretError``."""
        hosts = (await self._hosts()).get(name)
        if hosts is None:
            return _concealed(await self._shared.value(name, host, port, encrypted=encrypted))
        check_host(name, hosts, host, port, encrypted=encrypted, where="the hosts of this key of yours")
        return _concealed(await shielded(self._tool_keys.value(self._user_id, name)))

    def advice(self, name: str, host: str, port: int) -> str:
        """Where to keep one."""
        return (
            f"a key is needed: keep it in your account as {name}, for {host}:{port} (PUT /api/v1/me/tool-keys/{name})"
        )

    async def _hosts(self) -> Mapping[str, Sequence[str]]:
        return await shielded(self._tool_keys.names(self._user_id))


def _concealed(value: str | None) -> str | None:
    if value:
        conceal(value)
    return value
