"""Conversations, messages and templates: kept, found, and nobody else's."""

import asyncio

import pytest

from domain.errors import ConflictError, NotFoundError
from server.storage.runs import RunChoices
from server.storage.storage import Storage
from server.storage.templates import TemplateContent
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, run, user

CONTENT = TemplateContent(parameters={"city": {"type": "string"}}, plan={"steps": []})


async def test_messages_stay_in_order(storage: Storage) -> None:
    ada = await user(storage)
    talk = await storage.conversations.add(ada.id, "Weather")
    said = [await storage.conversations.add_message(talk.id, ada.id, "user", f"message {n}") for n in range(20)]
    assert await storage.conversations.list_messages(talk.id, ada.id) == said
    assert await storage.conversations.list_messages(talk.id, ada.id, after=said[9].id, limit=3) == said[10:13]


async def test_another_users_conversation_is_not_there(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    talk = await storage.conversations.add(ada.id, "Weather")
    assert await storage.conversations.get(talk.id, eve.id) is None
    assert await storage.conversations.list_page(eve.id) == []
    assert not await storage.conversations.remove(talk.id, eve.id)
    for refused in (
        storage.conversations.list_messages(talk.id, eve.id),
        storage.conversations.add_message(talk.id, eve.id, "user", "hello"),
        storage.conversations.rename(talk.id, eve.id, "hers"),
    ):
        with pytest.raises(NotFoundError):
            await refused
    assert await storage.conversations.get(talk.id, ada.id) == talk


async def test_a_conversation_without_a_title_gets_its_first_question(storage: Storage) -> None:
    ada, question = await user(storage), "  What is\nthe weather in " + "Oskvik " * 20
    bare, named = await storage.conversations.add(ada.id), await storage.conversations.add(ada.id, "Weather")
    for talk in (bare, named):
        for request in (question, "And in Velmora?"):
            await storage.runs.add(ada.id, talk.id, request, CHOICES, add_message=True)
    found = {one.id: one.title for one in await storage.conversations.list_page(ada.id, search="what is the")}
    assert found[bare.id].startswith("What is the weather in Oskvik")
    assert (len(found[bare.id]), found.get(named.id)) == (80, None)


async def test_a_conversation_says_while_it_waits_for_its_user(storage: Storage) -> None:
    ada = await user(storage)
    of, talk = await run(storage, ada)

    async def waits() -> list[bool]:
        renamed = await storage.conversations.rename(talk.id, ada.id, "Weather")
        return [one.waits for one in (*await storage.conversations.list_page(ada.id), renamed)]

    assert await waits() == [False, False]
    await storage.run_questions.ask(of.id, "call-1", "call", {"asks": "call"})
    assert await waits() == [True, True]
    await storage.run_questions.answer(of.id, "call-1", ada.id, {"decision": "allow"})
    assert await waits() == [False, False]


async def test_search_looks_at_titles_and_words_in_any_case(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    talks = storage.conversations
    weather, straße = await talks.add(ada.id, "Wetter in Überlingen"), await talks.add(ada.id, "100 %_sure")
    await talks.add_message(straße.id, ada.id, "user", "Wo liegt die STRASSE?")
    await talks.add(eve.id, "Wetter")
    found = {
        word: [one.id for one in await talks.list_page(ada.id, search=word)]
        for word in ("überlingen", "Straße", "%_s", "_", "x%y", "wetter")
    }
    assert found == {
        "überlingen": [weather.id],
        "Straße": [straße.id],
        "%_s": [straße.id],
        "_": [straße.id],
        "x%y": [],
        "wetter": [weather.id],
    }


async def test_pages_follow_each_other_the_latest_first(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    made = [await storage.conversations.add(ada.id, f"talk {n}") for n in range(5)]
    clock.on(seconds=1)
    await storage.conversations.add_message(made[1].id, ada.id, "user", "hello again")
    wanted = [made[n].id for n in (1, 4, 3, 2, 0)]
    first = await storage.conversations.list_page(ada.id, limit=2)
    rest = await storage.conversations.list_page(ada.id, before=first[-1], limit=10)
    assert [one.id for one in first + rest] == wanted


async def test_what_is_removed_takes_all_along(storage: Storage) -> None:
    ada = await user(storage)
    made, talk = await run(storage, ada)
    await storage.conversations.add_message(talk.id, ada.id, "user", "hello", made.id)
    assert await storage.conversations.remove(talk.id, ada.id)
    assert await storage.runs.get(made.id) is None
    assert not await storage.conversations.remove(talk.id, ada.id)


async def test_hostile_text_is_kept(storage: Storage) -> None:
    ada = await user(storage)
    talk = await storage.conversations.add(ada.id, "a\x00b")
    await storage.conversations.add_message(talk.id, ada.id, "user", "\ud800 \U0001f600 ' ; -- \\ \x01")
    assert (await storage.conversations.list_page(ada.id))[0].title == "a\ufffdb"
    (message,) = await storage.conversations.list_messages(talk.id, ada.id)
    assert message.text == "\ufffd \U0001f600 ' ; -- \\ \x01"


async def test_versions_are_counted_one_by_one(storage: Storage) -> None:
    ada = await user(storage)
    made = await storage.templates.add(ada.id, "weather", CONTENT)
    with pytest.raises(ConflictError):
        await storage.templates.add(ada.id, "weather", CONTENT)
    added = (storage.templates.add_version(made.id, ada.id, CONTENT) for _ in range(8))
    assert sorted(one.version for one in await asyncio.gather(*added)) == list(range(2, 10))
    assert [one.version for one in await storage.templates.list_versions(made.id, ada.id)] == list(range(1, 10))
    latest = await storage.templates.get(made.id, ada.id)
    assert latest is not None
    assert (latest[0].version, latest[1].version, latest[1].plan) == (9, 9, {"steps": []})
    assert await storage.templates.get(made.id, ada.id, 99) is None


async def test_others_see_a_template_when_it_is_shared_and_change_it_never(storage: Storage) -> None:
    ada, eve = await user(storage, role="author"), await user(storage, "eve")
    made = await storage.templates.add(ada.id, "weather", CONTENT)
    assert (await storage.templates.get(made.id, eve.id), await storage.templates.list_all(eve.id)) == (None, [])
    shared = await storage.templates.change(made.id, ada.id, shared=True, description="how warm it is")
    assert await storage.templates.list_all(eve.id) == [shared]
    for refused in (
        storage.templates.add_version(made.id, eve.id, CONTENT),
        storage.templates.change(made.id, eve.id, shared=False),
    ):
        with pytest.raises(NotFoundError):
            await refused
    assert not await storage.templates.remove(made.id, eve.id)
    assert await storage.templates.remove(made.id, ada.id)
    assert await storage.templates.list_versions(made.id, ada.id) == []


async def test_what_is_shared_counts_while_its_owner_may_share_and_administrators_may_end_it(storage: Storage) -> None:
    ada, eve, boss = (
        await user(storage, role="author"),
        await user(storage, "eve"),
        await user(storage, "boss", "admin"),
    )
    templates = storage.templates
    made, kept = [await templates.add(ada.id, name, CONTENT) for name in ("weather", "wind")]
    await templates.change(made.id, ada.id, shared=True)
    await storage.users.change(ada.id, role="user")
    assert (await templates.get(made.id, eve.id), await templates.list_all(eve.id)) == (None, [])
    assert await templates.list_versions(made.id, eve.id) == []
    assert [one.id for one in await templates.list_all(ada.id)] == [made.id, kept.id]
    assert [one.id for one in await templates.list_all(boss.id, admin=True)] == [made.id]
    await storage.users.change(ada.id, role="author")
    assert [one.id for one in await templates.list_all(eve.id)] == [made.id]
    for refused in (
        templates.change(made.id, boss.id, description="mine", admin=True),
        templates.change(made.id, boss.id, description="mine", shared=False, admin=True),
        templates.change(made.id, boss.id, shared=True, admin=True),
        templates.change(kept.id, boss.id, shared=False, admin=True),
    ):
        with pytest.raises(NotFoundError):
            await refused
    assert not (await templates.change(made.id, boss.id, shared=False, admin=True)).shared
    assert await templates.list_all(eve.id) == []
    assert not await templates.remove(made.id, boss.id, admin=True)
    await templates.change(made.id, ada.id, shared=True)
    assert not await templates.remove(made.id, boss.id)
    assert await templates.remove(made.id, boss.id, admin=True)
    mine = await templates.add(boss.id, "mine", CONTENT)
    assert not (await templates.change(mine.id, boss.id, shared=False, admin=True)).shared


async def test_a_template_tells_how_ones_own_runs_of_it_went_and_has_a_name_of_its_own(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    rent, rain = (
        await storage.templates.add(ada.id, "rent", CONTENT),
        await storage.templates.add(ada.id, "rain", CONTENT),
    )
    choices = RunChoices(planner="dfs", policy="offline", template_id=rent.id, template_version=1)
    for one in (ada, eve):
        talk = await storage.conversations.add(one.id)
        made = await storage.runs.add(one.id, talk.id, "a request", choices)
        await storage.runs.cancel(made.id, one.id)
    (used,) = (await storage.templates.count_uses(ada.id)).items()
    assert (used[0], used[1].runs, used[1].answered) == (rent.id, 1, 0)
    assert used[1].last_used_at is not None
    with pytest.raises(ConflictError):
        await storage.templates.change(rain.id, ada.id, name="rent")
    assert (await storage.templates.change(rain.id, ada.id, name="weather")).name == "weather"
    with pytest.raises(NotFoundError):
        await storage.templates.change(rain.id, eve.id, name="mine", admin=True)
