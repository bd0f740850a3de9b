"""Runs: taken by one worker at a time, with events that stay as they were and effects that are written down first."""

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy import event as sql_event

from domain.errors import BusyError, ConflictError, NotFoundError
from server.storage.rows.runs import LessonRow, RunRow, RunToolRow
from server.storage.run_records import NewEffect, StoredEvent
from server.storage.runs import RunChoices
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, run, user

LEASE = timedelta(seconds=30)


def event(run_id: str, seq: int, kind: str = "answer.delta", **content: object) -> StoredEvent:
    return StoredEvent(run_id=run_id, seq=seq, kind=kind, body=json.dumps(content))


async def test_a_run_is_its_users(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    made, talk = await run(storage, ada)
    assert await storage.runs.get(made.id, ada.id) == made
    assert await storage.runs.get(made.id, eve.id) is None
    assert await storage.runs.list_page(eve.id) == []
    with pytest.raises(NotFoundError):
        await storage.runs.add(eve.id, talk.id, "hers", CHOICES)
    with pytest.raises(NotFoundError):
        await storage.runs.cancel(made.id, eve.id)


async def test_no_two_workers_get_the_same_run(storage: Storage) -> None:
    ada = await user(storage)
    made = {(await run(storage, ada))[0].id for _ in range(10)}
    taken = await asyncio.gather(*(storage.run_leases.claim(f"worker {n}", LEASE, limit=3) for n in range(6)))
    ids = [one.id for group in taken for one in group]
    assert len(ids) == len(set(ids))
    left = await storage.run_leases.claim("late", LEASE, limit=10)
    assert {*ids, *(one.id for one in left)} == made
    assert {one.status for group in taken for one in group} == {"running"}


async def test_a_run_whose_worker_is_gone_is_taken_up_by_another(storage: Storage, clock: ManualClock) -> None:
    made, _ = await run(storage, await user(storage))
    (first,) = await storage.run_leases.claim("one", LEASE)
    clock.on(seconds=20)
    assert await storage.run_leases.renew("one", LEASE) == {made.id}
    clock.on(seconds=20)
    assert await storage.run_leases.claim("two", LEASE) == []
    clock.on(seconds=20)
    (again,) = await storage.run_leases.claim("two", LEASE)
    assert again.started_at == first.started_at
    assert await storage.run_leases.renew("one", LEASE) == set()
    assert not await storage.run_leases.finish(made.id, "one", "answered", {})
    assert await storage.run_leases.finish(made.id, "two", "answered", {"tokens": 2**80})
    ended = await storage.runs.get(made.id)
    assert ended is not None
    assert (ended.status, ended.outcome, ended.usage) == ("finished", "answered", {"tokens": 2**80})


async def test_a_run_ends_with_its_last_event_or_not_at_all(storage: Storage) -> None:
    made, talk = await run(storage, await user(storage))
    await storage.run_leases.claim("one", LEASE)
    await storage.events.append([event(made.id, 1)])
    with pytest.raises(ConflictError):
        await storage.run_leases.finish(
            made.id, "one", "answered", {}, answer="so", last_event=event(made.id, 1, "run.finished")
        )
    still = await storage.runs.get(made.id)
    assert still is not None
    assert still.status == "running"
    assert not await storage.run_leases.finish(
        made.id, "two", "answered", {}, last_event=event(made.id, 2, "run.finished")
    )
    assert await storage.events.find_last_numbers([made.id]) == {made.id: 1}
    assert await storage.run_leases.finish(
        made.id, "one", "answered", {}, answer="so", last_event=event(made.id, 2, "run.finished")
    )
    assert [one.kind for one in await storage.events.list_after(made.id)] == ["answer.delta", "run.finished"]
    assert [one.text for one in await storage.conversations.list_messages(talk.id, made.user_id)] == ["so"]


@pytest.mark.parametrize("taken", [False, True])
async def test_an_end_waits_for_who_holds_the_run_and_then_is_whole(storage: Storage, *, taken: bool) -> None:
    """On PostgreSQL one statement sees what was there before it waited: what it adds must go by the row as it is by then."""
    made, talk = await run(storage, await user(storage))
    await storage.run_leases.claim("one", LEASE)
    change = {"worker": "two"} if taken else {"cancel_why": "enough"}
    last = event(made.id, 1, "run.finished")
    async with storage.database.write_session() as session:
        await session.execute(update(RunRow).where(RunRow.id == made.id).values(change))
        ending = asyncio.create_task(
            storage.run_leases.finish(
                made.id,
                "one",
                "answered",
                {},
                answer="so",
                last_event=last,
                calls_by_tool={"a": 1, "b": 2},
                has_lesson=True,
            )
        )
        await asyncio.sleep(0.3)
        assert not ending.done()
    assert await ending is not taken
    found = await storage.runs.get_with_end(made.id, made.user_id)
    assert found is not None
    assert (found.run.status, found.last_event, found.end) == (("running", 0, None) if taken else ("finished", 1, last))
    said = [one.text for one in await storage.conversations.list_messages(talk.id, made.user_id)]
    assert said == ([] if taken else ["so"])
    async with storage.database.read_session() as session:
        tools = await session.scalar(select(func.count()).select_from(RunToolRow))
        lessons = await session.scalar(select(func.count()).select_from(LessonRow))
    assert (tools, lessons) == ((0, 0) if taken else (2, 1))


async def test_an_end_and_the_removal_of_its_conversation_do_not_block_each_other(storage: Storage) -> None:
    ada = await user(storage)
    for _ in range(10):
        made, talk = await run(storage, ada)
        await storage.run_leases.claim("one", LEASE)
        await asyncio.gather(
            storage.run_leases.finish(
                made.id, "one", "answered", {}, answer="so", last_event=event(made.id, 1, "run.finished")
            ),
            storage.conversations.remove(talk.id, ada.id),
        )
        assert await storage.runs.get(made.id) is None


async def test_how_far_a_run_has_got_is_told_to_its_user(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    made, _ = await run(storage, ada)
    assert await storage.runs.get_with_end(made.id, eve.id) is None
    (claimed,) = await storage.run_leases.claim("one", LEASE)
    assert claimed.is_new
    await storage.events.append([event(made.id, 1), event(made.id, 2)])
    found = await storage.runs.get_with_end(made.id, ada.id)
    assert found is not None
    assert (found.run.status, found.last_event, found.end) == ("running", 2, None)
    await storage.run_leases.release(made.id, "one", "queued")
    (again,) = await storage.run_leases.claim("two", LEASE)
    assert not again.is_new


async def test_a_user_may_have_so_many_runs_under_way_however_fast_they_ask(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    talks = [await storage.conversations.add(ada.id) for _ in range(8)]
    asked = (storage.runs.add(ada.id, talk.id, "now", CHOICES, max_open=3) for talk in talks)
    done = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(one, BusyError) for one in done) == 5
    talk = await storage.conversations.add(eve.id)
    await storage.runs.add(eve.id, talk.id, "mine", CHOICES, max_open=1)
    for one in await storage.run_leases.claim("one", LEASE, limit=9):
        await storage.run_leases.finish(one.id, "one", "gave_up", {})
    await storage.runs.add(ada.id, talks[0].id, "again", CHOICES, max_open=1)


async def test_a_waiting_run_is_nobodys_until_it_is_answered(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    made, _ = await run(storage, ada)
    await storage.run_leases.claim("one", LEASE)
    asked = await storage.run_questions.ask(made.id, "call 1", "call", {"tool": "a/b/c"})
    assert await storage.run_leases.release(made.id, "one", "waiting")
    assert await storage.run_leases.claim("two", LEASE) == []
    with pytest.raises(NotFoundError):
        await storage.run_questions.answer(made.id, "call 1", eve.id, {"allow": True})
    answers = (storage.run_questions.answer(made.id, "call 1", ada.id, {"allow": n}) for n in range(4))
    done = await asyncio.gather(*answers, return_exceptions=True)
    assert sum(isinstance(one, ConflictError) for one in done) == 3
    kept = await storage.run_questions.ask(made.id, "call 1", "call", {"tool": "a/b/c"})
    assert kept.answered_at is not None
    assert kept.asked_at == asked.asked_at
    assert await storage.run_questions.list_all(made.id, open_only=True) == []
    assert [one.id for one in await storage.run_leases.claim("two", LEASE)] == [made.id]


async def test_asking_for_the_end_reaches_the_worker(storage: Storage) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    await storage.run_leases.claim("one", LEASE)
    asked = await storage.runs.cancel(made.id, ada.id)
    assert await storage.runs.cancel(made.id, ada.id) == asked
    assert await storage.run_leases.list_cancelled("one") == {made.id: ""}, "and why: its user wants it"
    await storage.run_leases.release(made.id, "one", "waiting")
    assert (await storage.runs.cancel(made.id, ada.id)).status == "queued"


async def test_of_two_who_edit_a_plan_one_is_told(storage: Storage) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    edits = (storage.runs.set_plan(made.id, ada.id, {"by": n}, 0) for n in range(3))
    done = await asyncio.gather(*edits, return_exceptions=True)
    assert sum(isinstance(one, ConflictError) for one in done) == 2
    assert (await storage.runs.set_plan(made.id, ada.id, {"by": "me"}, 1)).plan_version == 2


async def test_a_plan_that_was_decided_on_is_not_edited_and_an_edited_one_not_decided_on_unseen(
    storage: Storage,
) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    await storage.run_questions.ask(made.id, "plan-1", "plan", {})
    await storage.runs.set_plan(made.id, ada.id, {"by": "me"}, 0, "plan-1")
    with pytest.raises(ConflictError, match="edited meanwhile"):
        await storage.run_questions.answer(made.id, "plan-1", ada.id, {"decision": "allow"}, plan_version=0)
    answered = await storage.run_questions.answer(made.id, "plan-1", ada.id, {"decision": "allow"}, plan_version=1)
    assert answered.answered_at is not None
    with pytest.raises(ConflictError, match="decided on"):
        await storage.runs.set_plan(made.id, ada.id, {"by": "me"}, 1, "plan-1")


async def test_a_run_of_a_template_outlives_it(storage: Storage) -> None:
    from tests.contract.rows.test_conversations import CONTENT

    ada = await user(storage)
    template = await storage.templates.add(ada.id, "weather", CONTENT)
    talk = await storage.conversations.add(ada.id)
    choices = RunChoices(planner="dfs", policy="offline", template_id=template.id, template_version=1)
    made = await storage.runs.add(ada.id, talk.id, "run it", choices)
    await storage.templates.remove(template.id, ada.id)
    left = await storage.runs.get(made.id)
    assert left is not None
    assert (left.template_id, left.template_version) == (None, None)


async def test_events_are_read_from_where_one_was(storage: Storage) -> None:
    made, talk = await run(storage, await user(storage))
    await storage.events.append([event(made.id, n, text="\x00 \ud83d é") for n in range(1, 6)])
    await storage.events.append([event(made.id, 6, "run.finished")], durable=True)
    await storage.events.append([])
    assert [one.seq for one in await storage.events.list_after(made.id, 3)] == [4, 5, 6]
    assert [one.seq for one in await storage.events.list_after(made.id, limit=2)] == [1, 2]
    assert (await storage.events.list_after(made.id))[0] == event(made.id, 1, text="\x00 \ud83d é")
    assert await storage.events.find_last_numbers([made.id, "other"]) == {made.id: 6}
    ends = await storage.events.list_kinds_of_conversation(talk.id, ["run.finished"])
    assert [one.seq for one in ends] == [6]


async def test_a_number_is_given_once_and_a_batch_is_whole(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    writers = (storage.events.append([event(made.id, n, by=writer) for n in (1, 2, 3)]) for writer in range(6))
    done = await asyncio.gather(*writers, return_exceptions=True)
    assert sum(isinstance(one, ConflictError) for one in done) == 5
    by = {json.loads(one.body)["by"] for one in await storage.events.list_after(made.id)}
    assert len(by) == 1
    with pytest.raises(ConflictError):
        await storage.events.append([event("no such run", 1)])


async def test_a_call_is_written_down_once_before_it_is_made(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    call = NewEffect(run_id=made.id, call_key="1:1", tool="a/b/c", method="POST", idempotent=False, arguments={"n": 1})
    begun = await asyncio.gather(*(storage.effects.begin(call) for _ in range(5)), return_exceptions=True)
    assert begun.count(None) == 1
    there = await storage.effects.begin(call)
    assert there is not None
    assert there.finished_at is None
    assert await storage.effects.finish(made.id, "1:1", "ok", {"status": 201})
    assert not await storage.effects.finish(made.id, "1:1", "unknown", {})
    (kept,) = await storage.effects.list_all(made.id)
    assert (kept.outcome, kept.result, kept.arguments) == ("ok", {"status": 201}, {"n": 1})


async def test_an_entry_of_the_ledger_is_of_one_call_of_one_run(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    (first, _), (second, _) = await run(storage, ada), await run(storage, ada)
    begun = clock()
    for made, key in ((first, "b"), (first, "a"), (second, "a")):
        call = NewEffect(run_id=made.id, call_key=key, tool="a/b/c", method="POST", idempotent=True)
        assert await storage.effects.begin(call) is None
        clock.on(seconds=1)
    assert await storage.effects.get(first.id, "c") is None
    assert await storage.effects.finish(first.id, "a", "ok", {"status": 200})
    ended = await storage.effects.get(first.id, "a")
    assert ended is not None
    assert (ended.started_at, ended.finished_at) == (begun + timedelta(seconds=1), begun + timedelta(seconds=3))
    assert [one.call_key for one in await storage.effects.list_all(first.id)] == ["b", "a"]
    for open_one in (await storage.effects.get(first.id, "b"), await storage.effects.get(second.id, "a")):
        assert open_one is not None
        assert (open_one.finished_at, open_one.outcome) == (None, None)


@pytest.mark.parametrize("database_kind", ["sqlite"])  # PostgreSQL waits for the disk unless told not to
async def test_the_ledger_is_on_the_disk_before_a_call_goes_out(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if "synchronous" in statement:
            asked.append(statement)

    sql_event.listen(Engine, "before_cursor_execute", note)
    try:
        call = NewEffect(run_id=made.id, call_key="a", tool="a/b/c", method="POST", idempotent=True)
        await storage.effects.begin(call)
        await storage.effects.remove_open(made.id, "a")
        await storage.effects.finish(made.id, "a", "ok", {})
    finally:
        sql_event.remove(Engine, "before_cursor_execute", note)
    assert asked == ["PRAGMA synchronous=FULL"] * 3


async def test_entries_of_one_moment_are_in_the_order_of_their_keys(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    for key in ("b", "c", "a"):
        call = NewEffect(run_id=made.id, call_key=key, tool="a/b/c", method="POST", idempotent=True)
        await storage.effects.begin(call)
    assert [one.call_key for one in await storage.effects.list_all(made.id)] == ["a", "b", "c"]


async def test_only_an_open_entry_of_the_ledger_is_undone(storage: Storage) -> None:
    ada = await user(storage)
    (first, _), (second, _) = await run(storage, ada), await run(storage, ada)
    for made, key in ((first, "a"), (first, "b"), (second, "a")):
        call = NewEffect(run_id=made.id, call_key=key, tool="a/b/c", method="POST", idempotent=True)
        await storage.effects.begin(call)
    await storage.effects.finish(first.id, "b", "ok", {})
    await storage.effects.remove_open(first.id, "b")
    assert [one.call_key for one in await storage.effects.list_all(first.id)] == ["a", "b"]
    await storage.effects.remove_open(first.id, "a")
    assert [one.call_key for one in await storage.effects.list_all(first.id)] == ["b"]
    assert len(await storage.effects.list_all(second.id)) == 1
