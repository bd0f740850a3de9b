"""Calls that are tried, and marks with their reasons: of a user, kept so long, gone with the account."""

import asyncio

import pytest

from domain.errors import ConflictError
from domain.tool import ToolId
from server.storage import tool_library
from server.storage.storage import Storage
from server.storage.tool_library import MarkWord, NewToolMark, TryOutcome
from tests.support.row_samples import user

A, B = ToolId("a/a/a"), ToolId("b/b/b")
END = TryOutcome(outcome="ok", http_status=200, response="{}", whole=2, milliseconds=7)


async def test_a_try_is_open_until_its_end_is_written_once(storage: Storage) -> None:
    ada, tries = await user(storage), storage.tool_tries
    begun, _ = await tries.begin(ada.id, A, {"x": 1}, changes=True)
    (kept,) = await tries.list_latest(ada.id, A, 5)
    assert (kept.id, kept.finished_at, kept.outcome, kept.changes, kept.arguments) == (
        begun,
        None,
        None,
        True,
        {"x": 1},
    )
    await tries.finish(begun, END)
    await tries.finish(begun, TryOutcome(note="again"))
    done = await tries.get(ada.id, begun)
    assert done is not None
    assert (done.outcome, done.response, done.note, done.milliseconds) == ("ok", "{}", "", 7)
    assert done.finished_at is not None


async def test_they_are_their_users_alone_and_go_with_the_account(storage: Storage) -> None:
    ada, bob = await user(storage), await user(storage, "bob", "admin")
    begun, _ = await storage.tool_tries.begin(ada.id, A, {}, changes=False)
    assert await storage.tool_tries.get(bob.id, begun) is None
    assert await storage.tool_tries.list_latest(bob.id, A, 5) == []
    assert await storage.tool_tries.list_latest(ada.id, B, 5) == []
    await storage.users.delete(ada.id)
    assert await storage.tool_tries.get(ada.id, begun) is None


async def test_what_is_begun_again_under_its_key_is_not_to_be_made_again(storage: Storage) -> None:
    ada, bob, tries = await user(storage), await user(storage, "bob", "admin"), storage.tool_tries
    at_once = await asyncio.gather(
        *(tries.begin(ada.id, A, {"x": 1}, changes=True, key="a-key-of-hers") for _ in range(5))
    )
    assert (len({kept for kept, _ in at_once}), sum(to_make for _, to_make in at_once)) == (1, 1)
    await tries.finish(at_once[0][0], END)
    assert await tries.begin(ada.id, A, {"x": 1}, changes=True, key="a-key-of-hers") == (at_once[0][0], False)
    for tool, value in ((B, 1), (A, 2)):
        with pytest.raises(ConflictError):
            await tries.begin(ada.id, tool, {"x": value}, changes=True, key="a-key-of-hers")
    assert (await tries.begin(bob.id, A, {"x": 1}, changes=True, key="a-key-of-hers"))[1]
    assert [(await tries.begin(ada.id, A, {}, changes=True))[1] for _ in range(2)] == [True, True]


async def test_the_oldest_that_have_ended_go(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_library, "MAX_TRIES", 3)
    ada, tries = await user(storage), storage.tool_tries
    begun = [(await tries.begin(ada.id, A, {}, changes=True))[0]]
    for _ in range(4):
        begun.append((await tries.begin(ada.id, A, {}, changes=False))[0])
        await tries.finish(begun[-1], END)
    assert [one.id for one in await tries.list_latest(ada.id, A, 9)] == [*begun[:1:-1], begun[0]]


async def test_the_newest_word_on_a_tool_counts_and_all_stay_readable(storage: Storage) -> None:
    boss, marks = await user(storage, "boss", "admin"), storage.tool_marks

    async def say(tool: ToolId, mark: MarkWord) -> None:
        await marks.add(NewToolMark(tool=tool, kind="tool", mark=mark, reason="so"), boss.id, "boss")

    await say(A, "ban")
    await say(B, "ban")
    await marks.add(NewToolMark(tool=A, kind="edge", target=B, mark="ban", reason="so"), boss.id, "boss")
    assert await marks.list_banned() == {A, B}
    await say(A, "mute")
    assert await marks.list_banned() == {B}
    assert [(one.kind, one.mark) for one in await marks.list_for_tool(A)] == [
        ("tool", "mute"),
        ("edge", "ban"),
        ("tool", "ban"),
    ]
    await user(storage, "chief", "admin")
    await storage.users.delete(boss.id)
    assert [one.by for one in await marks.list_for_tool(B)] == ["boss"]
