"""What users allowed before leave belonged to a place: it stays on their lists, and holds for no call."""

from sqlalchemy import Connection, text

from server.storage.encryption import Keyring
from server.storage.migration import migrate
from server.storage.permissions import CallTarget
from server.storage.storage import Storage
from tests.contract.rows.test_migrations import within

_USER = "INSERT INTO users (id, name, name_key, password_hash, role, created_at) VALUES ('u', 'ada', 'ada', '', 'user', '2026-01-01 00:00:00')"
_TOOL = "INSERT INTO allowed_tools (user_id, tool, created_at) VALUES ('u', 'a/b/c', '2026-01-01 00:00:00')"


async def test_it_is_asked_for_anew(empty_url: str, keys: Keyring) -> None:
    """A row of before has no address: the columns have the values that an upgrade gave them."""

    def add_rows(connection: Connection) -> None:
        connection.execute(text(_USER))
        connection.execute(text(_TOOL))

    await migrate(empty_url)
    await within(empty_url, add_rows)
    storage = Storage(empty_url, keys)
    try:
        (kept,) = await storage.allowed_tools.list_all("u")
        assert (kept.tool, kept.address, kept.origins) == ("a/b/c", "", ())
        now = CallTarget(address="https://a.example", method="POST", source="openapi:a.json")
        assert not kept.covers(now, ["said"])
        await storage.allowed_tools.allow("u", "a/b/c", now, ["said"])
        await storage.allowed_tools.allow("u", "a/b/c", now, ["field", "prose"])
        (kept,) = await storage.allowed_tools.list_all("u")
        assert kept.covers(now, ["said", "field"])
        assert not kept.covers(now, ["prose"])
        moved = now.model_copy(update={"address": "https://b.example"})
        assert not kept.covers(moved, ["said"])
        await storage.allowed_tools.allow("u", "a/b/c", moved, ["said"])
        (kept,) = await storage.allowed_tools.list_all("u")
        assert kept.origins == ("said",)
        for other in ({"method": "DELETE"}, {"source": "openapi:other.json"}):
            assert not kept.covers(moved.model_copy(update=other), [])
        await storage.host_transfers.decide("u", "a.example", "b.example", allowed=False)
        await storage.host_transfers.decide("u", "a.example", "b.example", allowed=True)
        assert [(one.source, one.target, one.allowed) for one in await storage.host_transfers.list_all("u")] == [
            ("a.example", "b.example", True)
        ]
        assert await storage.host_transfers.get("u", "b.example", "a.example") is None
        await storage.users.delete("u")
        assert await storage.host_transfers.list_all("u") == []
    finally:
        await storage.close()
