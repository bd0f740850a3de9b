"""A run's secrets: the user's own before the operator's, each to its hosts only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_json_client import GuardedJsonClient
from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from domain.errors import SecretError
from server.oauth.renewal import Renewals
from server.storage.database import build_sqlite_url
from server.storage.encryption import Keyring
from server.storage.migration import migrate
from server.storage.storage import Storage
from server.user_secrets import UserSecrets

SHARED = EnvironmentSecrets({"FOOTPATH_SECRET_MAPS": "shared", "FOOTPATH_SECRET_MAPS_HOSTS": "maps.example.com"})


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    url = build_sqlite_url(tmp_path / "rows.db")
    await migrate(url)
    opened = Storage(url, Keyring(lambda: {1: b"k" * 32}))
    yield opened
    await opened.close()


async def test_whose_key_is_sent_where(storage: Storage) -> None:
    ada, eve = await storage.users.add("ada", "h"), await storage.users.add("eve", "h")
    await storage.tool_keys.put(ada.id, "weather", "hers", ["weather.example.com", "http://plain.example.com"])
    renewals = Renewals(storage.key_grants, GuardedJsonClient(AddressGuard()), lambda _, name: f"obtain {name}")
    secrets: SecretStore = UserSecrets(storage.tool_keys, renewals, ada.id, SHARED)
    assert await secrets.get_value("weather", "weather.example.com", 443, encrypted=True) == "hers"
    assert await secrets.get_value("weather", "plain.example.com", 80, encrypted=False) == "hers"
    for host, encrypted in (("evil.example.com", True), ("weather.example.com", False)):
        with pytest.raises(SecretError, match="the hosts of this key of yours") as caught:
            await secrets.get_value("weather", host, 443, encrypted=encrypted)
        assert "hers" not in str(caught.value)
    assert await secrets.get_value("maps", "maps.example.com", 443, encrypted=True) == "shared"
    await storage.tool_keys.put(ada.id, "maps", "own", ["maps.example.com"])
    assert await secrets.get_value("maps", "maps.example.com", 443, encrypted=True) == "own"
    others = UserSecrets(storage.tool_keys, renewals, eve.id, SHARED)
    assert await others.get_value("weather", "weather.example.com", 443, encrypted=True) is None
    assert not await secrets.replace_refused("weather", "hers")
    assert not await secrets.replace_refused("maps", "own")
    assert (await secrets.has("weather"), await others.has("weather"), await others.has("maps")) == (True, False, True)
    assert "PUT /api/v1/me/tool-keys/weather" in others.build_advice("weather", "weather.example.com", 443)
