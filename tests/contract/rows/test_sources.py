"""Rows of sources: steps that are whole or nothing, what is offered, checks and watches that one server has in hand."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta

import pytest
from sqlalchemy import Engine
from sqlalchemy import event as sql_event

from domain.errors import BusyError, ConflictError, NotFoundError
from domain.tool import ToolDoc, ToolId, make_tool_id
from domain.tool_source import Corrections, ToolChange
from server.sources.visibility import Visibility
from server.storage.accounts import User
from server.storage.identifiers import generate_id
from server.storage.source_records import Actor, LockedSource, Source, SourceChange, SourceReading, StoredTool
from server.storage.sources import CHECK_ABORTED
from server.storage.storage import Storage
from server.storage.templates import TemplateContent, find_templates_calling
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import user

LEASE = timedelta(minutes=1)


def doc(api: str) -> ToolDoc:
    return ToolDoc(id=make_tool_id("sea", "Harbour", api), category="sea", toolset="Harbour", api=api, function=api)


SHIPS, BERTHS = doc("ships"), doc("berths")


async def added(storage: Storage, author: User, *, most: int = 0, **values: object) -> Source:
    at = storage.sources.get_time()
    given = {"name": "Harbour", "kind": "form", "category": "sea", "toolset": "Harbour", "created_at": at}
    source = Source.model_validate({**given, "id": generate_id(), "author_id": author.id, **values})
    reading = SourceReading(version=1, digest="a", documents=(SHIPS, BERTHS), at=at, raw=b"as it came")
    tools = [StoredTool(tool=one.id, original=one) for one in reading.documents]
    return await storage.sources.add(source, tools, reading, actor(author), most)


def actor(of: User) -> Actor:
    return Actor(user_id=of.id, name=of.name)


def offering(*docs: ToolDoc) -> SourceChange:
    tools = {one.id: StoredTool(tool=one.id, original=one, state="admitted", offer=one) for one in docs}
    return SourceChange("admitted", tools=tools)


async def test_what_is_written_is_read_again(storage: Storage) -> None:
    ada = await user(storage)
    change = ToolChange(tool=SHIPS.id, kind="schema", told="flag is required now", breaks=True)
    made = await added(
        storage, ada, roles=("author",), users=("x",), changes=(change,), notes=("one",), watch_minutes=5
    )
    assert await storage.sources.get(made.id) == made
    assert (made.author, made.changes, made.roles, made.notes) == ("ada", (change,), ("author",), ("one",))
    assert await storage.sources.count_tools([made.id]) == {
        made.id: {"draft": 2, "tested": 0, "admitted": 0, "quarantined": 0}
    }
    said = Corrections(description="The ships.", examples={"flag": {"deep": [1, None]}}, side_effect="reads")
    kept = StoredTool(tool=SHIPS.id, original=SHIPS, corrections=said)
    await storage.sources.apply_step(
        made.id, actor(ada), lambda _: SourceChange("corrected", "vague", tools={SHIPS.id: kept})
    )
    assert await storage.sources.get_tool(made.id, SHIPS.id) == kept
    reading = await storage.sources.get_reading(made.id, 1)
    assert reading is not None
    assert (reading.raw, reading.documents) == (b"as it came", (SHIPS, BERTHS))
    steps = await storage.sources.list_steps(made.id)
    assert [(one.what, one.who, one.reason, one.undoable) for one in steps] == [
        ("corrected", "ada", "vague", True),
        ("added", "ada", "", False),
    ]


async def test_a_step_is_whole_or_nothing(storage: Storage) -> None:
    ada = await user(storage)
    made = await added(storage, ada)

    def breaks(held: LockedSource) -> SourceChange:
        raise ConflictError("no")

    with pytest.raises(ConflictError):
        await storage.sources.apply_step(made.id, actor(ada), breaks)
    other = await added(storage, ada)
    await storage.sources.apply_step(other.id, actor(ada), lambda _: offering(BERTHS))
    with pytest.raises(ConflictError, match="another source offers sea/Harbour/berths"):
        await storage.sources.apply_step(made.id, actor(ada), lambda _: offering(SHIPS, BERTHS))
    assert [one.doc.id for one in await storage.source_offers.list_all()] == [BERTHS.id]
    assert len(await storage.sources.list_steps(made.id)) == 1
    with pytest.raises(NotFoundError):
        await storage.sources.apply_step(generate_id(), actor(ada), lambda _: offering(SHIPS))


async def test_of_two_that_offer_one_id_at_once_one_does(storage: Storage) -> None:
    ada = await user(storage)
    sources = [await added(storage, ada) for _ in range(4)]
    steps = [storage.sources.apply_step(one.id, actor(ada), lambda _: offering(SHIPS)) for one in sources]
    done = await asyncio.gather(*steps, return_exceptions=True)
    assert sorted(type(one).__name__ for one in done) == ["ConflictError"] * 3 + ["OfferChange"]
    assert [one.doc.id for one in await storage.source_offers.list_all()] == [SHIPS.id]


async def test_what_follows_a_step_is_what_it_changed(storage: Storage) -> None:
    ada = await user(storage)
    made = await added(storage, ada)
    first = await storage.sources.apply_step(made.id, actor(ada), lambda _: offering(SHIPS, BERTHS))
    assert ({one.id for one in first.offered}, first.withdrawn) == ({SHIPS.id, BERTHS.id}, ())
    out = StoredTool(tool=SHIPS.id, original=SHIPS, state="quarantined")
    second = await storage.sources.apply_step(
        made.id, actor(ada), lambda _: SourceChange("quarantined", tools={SHIPS.id: out, **offering(BERTHS).tools})
    )
    assert (second.offered, second.withdrawn) == ((), (SHIPS.id,))
    assert await storage.source_offers.map_tools_to_sources() == {BERTHS.id: made.id}
    assert await storage.source_offers.list_known_ids() == {SHIPS.id, BERTHS.id}


async def test_whom_tools_are_hidden_from_takes_one_query_until_a_step_is_made(storage: Storage) -> None:
    """It is asked before every call of a run."""
    ada, eve = await user(storage), await user(storage, "eve")
    made = await added(storage, ada, visibility="users")
    await storage.sources.apply_step(made.id, actor(ada), lambda _: offering(SHIPS, BERTHS))
    visibility, queries, looked_up = Visibility(storage), list[str](), list[set[ToolId]]()

    async def documents(ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        looked_up.append({*ids})
        return {}

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if "source_" in statement:
            queries.append(statement)

    assert await visibility.hidden_from(eve.id, documents) == {SHIPS.id, BERTHS.id}
    sql_event.listen(Engine, "before_cursor_execute", note)
    try:
        assert await visibility.hidden_from(ada.id, documents) == frozenset()
        assert await visibility.hidden_tools(eve, documents) == {SHIPS.id, BERTHS.id}
    finally:
        sql_event.remove(Engine, "before_cursor_execute", note)
    assert (len(queries), looked_up) == (2, [{SHIPS.id, BERTHS.id}])
    out = StoredTool(tool=SHIPS.id, original=SHIPS, state="quarantined")
    await storage.sources.apply_step(made.id, actor(ada), lambda _: SourceChange("quarantined", tools={SHIPS.id: out}))
    assert await visibility.hidden_from(ada.id, documents) == {SHIPS.id}


async def test_an_account_goes_and_its_sources_stay(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    made = await added(storage, ada)
    await storage.sources.apply_step(made.id, actor(ada), lambda _: offering(SHIPS))
    await storage.users.delete(ada.id)
    left = await storage.sources.get(made.id)
    assert left is not None
    assert (left.author_id, left.author) == (None, "")
    assert [one.who for one in await storage.sources.list_steps(made.id)] == ["ada", "ada"]
    assert len(await storage.source_offers.list_all()) == 1


async def test_an_author_has_so_many(storage: Storage) -> None:
    ada = await user(storage)
    first = await added(storage, ada, most=2)
    await added(storage, ada, most=2)
    with pytest.raises(ConflictError, match="2 sources"):
        await added(storage, ada, most=2)
    gone = first.model_copy(update={"removed_at": storage.sources.get_time()})
    await storage.sources.apply_step(
        first.id, actor(ada), lambda _: SourceChange("removed", source=gone, is_undoable=False)
    )
    await added(storage, ada, most=2)
    assert len(await storage.sources.list_all(ada.id)) == 2


async def test_the_latest_steps_can_be_undone_and_older_ones_are_told_only(storage: Storage) -> None:
    ada = await user(storage)
    made = await added(storage, ada)
    for number in range(22):
        kept = StoredTool(tool=SHIPS.id, original=SHIPS, version=number)
        await storage.sources.apply_step(
            made.id, actor(ada), lambda _, kept=kept: SourceChange("corrected", tools={SHIPS.id: kept})
        )
    steps = await storage.sources.list_steps(made.id)
    assert ([one.undoable for one in steps].count(True), len(steps)) == (20, 23)


async def test_a_check_is_in_one_hand(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    first, second, third = [await added(storage, ada) for _ in range(3)]
    checks = storage.source_checks
    await checks.begin(first.id, "a", LEASE, 2, 2)
    with pytest.raises(ConflictError, match="being checked"):
        await checks.begin(first.id, "b", LEASE, 2, 2)
    await checks.begin(second.id, "b", LEASE, 2, 2)
    with pytest.raises(BusyError):
        await checks.begin(third.id, "b", LEASE, 2, 2)
    await checks.finish(first.id, "b")
    assert await checks.is_held(first.id, "a")
    await checks.finish(first.id, "a")
    done = await storage.sources.get(first.id)
    assert done is not None
    assert (done.checking, done.checked_at, done.check_trouble) == (False, clock.at, "")
    clock.on(seconds=50)
    await checks.renew("b", LEASE)
    clock.on(seconds=50)
    assert await checks.abort_lost() == 0
    clock.on(seconds=11)
    assert await checks.abort_lost() == 1
    broken = await storage.sources.get(second.id)
    assert broken is not None
    assert (broken.checking, broken.checked_at, broken.check_trouble) == (False, None, CHECK_ABORTED)


async def test_of_several_servers_one_watches(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    watched, quiet = await added(storage, ada, watch_minutes=10), await added(storage, ada)
    watches = storage.source_watches
    assert await watches.claim(LEASE) == []
    clock.on(minutes=10)
    claimed = await asyncio.gather(*(watches.claim(LEASE, 5) for _ in range(3)))
    assert sorted(claimed) == [[], [], [watched.id]]
    clock.on(minutes=1)  # who had it has not come back
    assert await watches.claim(LEASE) == [watched.id]
    await watches.schedule_next(watched.id, 0.5)
    clock.on(minutes=4)
    assert await watches.claim(LEASE) == []
    clock.on(minutes=1)
    assert await watches.claim(LEASE) == [watched.id]
    await watches.schedule_next(quiet.id, 1)
    clock.on(days=1)
    assert await watches.claim(LEASE, 5) == [watched.id]


async def test_a_server_that_says_its_tools_are_others_is_due_soon(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    started = await added(storage, ada, kind="mcp", command="notes")
    reached = await added(storage, ada, kind="mcp", address="https://harbour.example/mcp", watch_minutes=10)
    await added(storage, ada, kind="openapi", address="https://harbour.example/mcp")
    watches, minute = storage.source_watches, timedelta(minutes=1)
    for url in ("stdio:notes", "https://harbour.example/mcp", "stdio:other", "stdio:"):
        await watches.schedule_soon(url, minute)
    clock.on(seconds=59)
    await watches.schedule_soon("stdio:notes", minute)  # saying it again puts nothing off
    assert await watches.claim(LEASE, 5) == []
    clock.on(seconds=1)
    assert sorted(await watches.claim(LEASE, 5)) == sorted([started.id, reached.id])
    await watches.schedule_next(started.id, 1)
    clock.on(days=1)
    assert await watches.claim(LEASE, 5) == [reached.id]


async def test_templates_that_name_a_tool(storage: Storage) -> None:
    ada, bob = await user(storage), await user(storage, "bob", "author")
    odd = ToolId("a%20b/c_d/e")
    for owner, name, tool in ((ada, "mine", odd), (bob, "theirs", odd), (ada, "other", "a%20b/cxd/e")):
        content = TemplateContent(parameters={}, plan={"program": {"text": "await act()", "tools": {"act": tool}}})
        made = await storage.templates.add(owner.id, name, content)
        if owner is bob:
            await storage.templates.change(made.id, bob.id, shared=True)
    of_ada = (await find_templates_calling(storage.database, [odd], ada.id, admin=False))[odd]
    assert [(one.name, one.seen) for one in of_ada] == [("mine", True), ("theirs", False)]
    of_admin = (await find_templates_calling(storage.database, [odd], generate_id(), admin=True))[odd]
    assert [(one.name, one.seen) for one in of_admin] == [("mine", False), ("theirs", True)]
