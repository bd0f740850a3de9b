"""Files of conversations: each with a name of its own for programs, kept for follow-ups, gone with what they belong to."""

from datetime import timedelta

import pytest

from agent.files.file_parsing import FileLimits, assign_free_variable, read_file
from domain.errors import ConflictError, NotFoundError
from domain.given_file import GivenFile
from domain.model import JsonObject
from server.runs.conversation_context import FILES, load_run_files
from server.storage.runs import Run, RunChoices
from server.storage.storage import Storage
from tests.support.row_samples import user

CSV = b"city,days\nOslo,3\nRome,\n"


async def give(storage: Storage, conversation: str, owner: str, name: str = "trips.csv") -> GivenFile:
    read = read_file(name, CSV, FileLimits())
    kept = await storage.files.add(
        conversation,
        owner,
        len(CSV),
        lambda taken: read.model_copy(update={"variable": assign_free_variable("trips", taken)}),
    )
    return kept.file


async def ask(storage: Storage, conversation: str, owner: str, *files: GivenFile) -> Run:
    settings: JsonObject = {FILES: [one.id for one in files]} if files else {}
    choices = RunChoices(planner="program", policy="llm", settings=settings)
    return await storage.runs.add(owner, conversation, "How many?", choices)


async def test_a_file_is_there_for_its_run_and_for_those_after_it(storage: Storage) -> None:
    ada = (await user(storage)).id
    conversation = (await storage.conversations.add(ada)).id
    before = await ask(storage, conversation, ada)
    first, second = await give(storage, conversation, ada), await give(storage, conversation, ada)
    assert (first.variable, second.variable) == ("trips", "trips_2")
    asked, later = await ask(storage, conversation, ada, first), await ask(storage, conversation, ada, second)
    assert (await load_run_files(before, storage)).all_files == ()
    assert (await load_run_files(asked, storage)).new == (first,)
    assert (await load_run_files(later, storage)).all_files == (second, first)
    elsewhere = await ask(storage, (await storage.conversations.add(ada)).id, ada)
    assert (await load_run_files(elsewhere, storage)).all_files == ()


async def test_a_file_is_removed_alone_or_with_its_conversation(storage: Storage) -> None:
    ada, eve = (await user(storage)).id, (await user(storage, "eve")).id
    conversation = (await storage.conversations.add(ada)).id
    file = await give(storage, conversation, ada)
    asked = await ask(storage, conversation, ada, file)
    with pytest.raises(NotFoundError):
        await storage.files.remove(file.id, conversation, eve)
    with pytest.raises(ConflictError, match="under way"):
        await storage.files.remove(file.id, conversation, ada)
    taken = await storage.run_leases.claim("a worker", timedelta(minutes=1), 1)
    assert [one.id for one in taken] == [asked.id]
    await storage.run_leases.finish(asked.id, "a worker", "answered", {}, answer="2")
    await storage.files.remove(file.id, conversation, ada)
    with pytest.raises(NotFoundError, match="give it again"):
        await load_run_files(asked, storage)
    await give(storage, conversation, ada)
    await storage.conversations.remove(conversation, ada)
    assert await storage.files.list_ids(conversation, ada) == []


async def test_another_s_conversation_takes_no_file_and_none_takes_very_many(storage: Storage) -> None:
    ada, eve = (await user(storage)).id, (await user(storage, "eve")).id
    conversation = (await storage.conversations.add(ada)).id
    with pytest.raises(NotFoundError):
        await give(storage, conversation, eve)
    for _ in range(20):
        await give(storage, conversation, ada)
    with pytest.raises(ConflictError, match="20 files"):
        await give(storage, conversation, ada)
