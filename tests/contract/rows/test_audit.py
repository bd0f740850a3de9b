"""The audit log: who did what, found again by who, what, how and when; nothing of it changes."""

from domain.model import JsonObject
from server.storage.audit import AuditedAction, AuditFilter, Via
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock


def deed(name: str, operation: str, via: Via = "session", said: JsonObject | None = None) -> AuditedAction:
    return AuditedAction(name=name, role="admin", via=via, operation=operation, about=operation, said=said or {})


async def test_entries_are_found_page_by_page_and_by_what_they_tell(storage: Storage, clock: ManualClock) -> None:
    audit = storage.audit_log
    first = await audit.begin(deed("Boss", "change_user"))
    clock.on(hours=1)
    await audit.begin(deed("boss2", "invite", "token"), 201)
    clock.on(hours=1)
    await audit.begin(deed("ada", "invite"))
    names = [one.name for one in await audit.list_page(AuditFilter())]
    assert names == ["ada", "boss2", "Boss"]
    newest = await audit.list_page(AuditFilter(), limit=1)
    assert [one.name for one in await audit.list_page(AuditFilter(), newest[0].id)] == ["boss2", "Boss"]
    assert [one.name for one in await audit.list_page(AuditFilter(name="BOSS"))] == ["boss2", "Boss"]
    assert [one.name for one in await audit.list_page(AuditFilter(operation="invite"))] == ["ada", "boss2"]
    assert [one.name for one in await audit.list_page(AuditFilter(via="token"))] == ["boss2"]
    (early,) = await audit.list_page(AuditFilter(until=clock.at.replace(hour=12, minute=30)))
    assert (early.id, early.status) == (first, None)
    assert [one.name for one in await audit.list_page(AuditFilter(since=clock.at))] == ["ada"]
    assert await audit.list_operations() == {"change_user": "change_user", "invite": "invite"}


async def test_an_entry_gets_its_end_once(storage: Storage) -> None:
    entry = await storage.audit_log.begin(deed("boss", "change_user"))
    await storage.audit_log.finish(entry, 200, {"account": "ada"})
    await storage.audit_log.finish(entry, 500, {})
    (kept,) = await storage.audit_log.list_page(AuditFilter())
    assert (kept.status, kept.said) == (200, {"account": "ada"})


async def test_it_outlives_the_account(storage: Storage) -> None:
    boss = await storage.users.add("boss", "a hash", "admin")
    await storage.users.add("chief", "a hash", "admin")
    await storage.audit_log.begin(deed("boss", "invite").model_copy(update={"user_id": boss.id}))
    await storage.users.delete(boss.id)
    (kept,) = await storage.audit_log.list_page(AuditFilter())
    assert (kept.user_id, kept.name) == (boss.id, "boss")
