"""Streams end with their sessions, and many of them ask the rows no oftener than one."""

import pytest

from domain.errors import StoreBusyError
from server.runs.event_stream import StreamSessions
from server.storage.storage import Storage
from tests.support.row_samples import user


async def test_one_question_for_all_streams(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = await user(storage, "ada"), await user(storage, "bob")
    await user(storage, "boss", "admin")
    for one in (ada, bob):
        await storage.tokens.open_session(one.id, "a test")
    sessions = {one.id: (await storage.tokens.list_sessions(one.id))[0].id for one in (ada, bob)}
    asked: list[set[str]] = []
    real = storage.tokens.get_roles

    async def counted(session_ids: set[str]) -> dict[str, str]:
        asked.append(session_ids)
        return await real(session_ids)

    monkeypatch.setattr(storage.tokens, "get_roles", counted)
    followed = StreamSessions(storage)
    await followed.refresh()
    assert asked == [], "nobody follows"
    with (
        followed.track(sessions[ada.id], "user") as first,
        followed.track(sessions[ada.id], "user") as second,
        followed.track(sessions[bob.id], "user") as third,
        followed.track(sessions[bob.id], "author") as more,
    ):
        assert [may() for may in (first, second, third, more)] == [True] * 4
        await followed.refresh()
        assert asked == [set(sessions.values())]
        assert [may() for may in (first, second, third, more)] == [True, True, True, False]
        await storage.tokens.revoke_all(ada.id, "a test")
        await followed.refresh()
        assert [may() for may in (first, second, third)] == [False, False, True]
        await storage.users.change(bob.id, disabled=True)
        await followed.refresh()
        assert not third()
    await followed.refresh()
    assert len(asked) == 3


async def test_where_the_rows_do_not_answer_nobody_is_known_to_count(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await user(storage)
    await storage.tokens.open_session(ada.id, "a test")
    (session,) = await storage.tokens.list_sessions(ada.id)

    async def busy(_: object) -> dict[str, str]:
        raise StoreBusyError("another program writes")

    followed = StreamSessions(storage)
    with followed.track(session.id, "user") as may:
        monkeypatch.setattr(storage.tokens, "get_roles", busy)
        await followed.refresh()
        assert not may()
