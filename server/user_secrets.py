"""Keys from the vault as the secrets of calls: a user's own, or those of a source whose calls send its keys; then the operator's."""

from collections.abc import Mapping

from agent.execution.secret_store import SecretStore, check_secret_host
from server.oauth.renewal import Renewals
from server.storage.database import run_to_completion
from server.storage.vault import ToolKey, ToolKeys
from server.watching.secrecy import conceal


class UserSecrets:
    """``shared``: what the operator lends to everyone's runs. A value is read when it is about to be sent, never kept.

    ``renewals``: of those that are obtained, so that their value is a fresh access token.
    """

    where = "the hosts of this key of yours"

    def __init__(self, tool_keys: ToolKeys, renewals: Renewals, owner: str, shared: SecretStore) -> None:
        self._tool_keys = tool_keys
        self._renewals = renewals
        self._owner = owner
        self._shared = shared

    async def has(self, name: str) -> bool:
        """Whether the owner or the operator has one of this name."""
        return name in await self._own() or await self._shared.has(name)

    async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """The value for this host; None where there is none. Raises ``SecretError``."""
        key = (await self._own()).get(name)
        if key is None:
            return _concealed(await self._shared.get_value(name, host, port, encrypted=encrypted))
        check_secret_host(name, key.hosts, host, port, encrypted=encrypted, setting=self.where)
        if key.grant is not None:
            return _concealed(await run_to_completion(self._renewals.token(self._owner, name)))
        return _concealed(await run_to_completion(self._tool_keys.get_value(self._owner, name)))

    async def replace_refused(self, name: str, value: str) -> bool:
        """Whether there is another value now in place of one that a host did not take. Raises ``SecretError``."""
        key = (await self._own()).get(name)
        if key is None:
            return await self._shared.replace_refused(name, value)
        return key.grant is not None and await run_to_completion(self._renewals.refused(self._owner, name, value))

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Where to keep one."""
        return f"{needed} is needed for {host}:{port}: keep it as {name} on the page Keys (by the API: PUT /api/v1/me/tool-keys/{name})"

    async def _own(self) -> Mapping[str, ToolKey]:
        return {key.name: key for key in await run_to_completion(self._tool_keys.list_all(self._owner))}


class SourceSecrets(UserSecrets):
    """Those that were kept with a source, whoever asks."""

    where = "the hosts of this key of its source"

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Who keeps one."""
        place = f"PUT /api/v1/sources/{self._owner}/keys/{name}"
        return f"{needed} is needed for {host}:{port}: who keeps this source keeps it as {name} on its page, under Keys (by the API: {place})"


def _concealed(value: str | None) -> str | None:
    if value:
        conceal(value)
    return value
