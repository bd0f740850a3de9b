"""Choices of fields in a file: kept, replaced, shared by processes and tasks."""

import asyncio
from pathlib import Path

import pytest

from domain.errors import UnavailableError
from domain.tool import make_tool_id
from graph.backends.sqlite_flows import SqliteFieldChoices
from graph.field_choices import FieldChoice

TOOL = make_tool_id("c", "t", "a")
CHOICE = FieldChoice(("items[].näme", '["a.b"]'), ("items[].näme", '["a.b"]', "x"))


async def test_a_choice_is_kept_beyond_the_process_and_replaced_whole(tmp_path: Path) -> None:
    one, other = SqliteFieldChoices(tmp_path / "fields.db"), SqliteFieldChoices(tmp_path / "fields.db")
    assert await one.recall(TOOL, "basis") is None
    await one.keep(TOOL, "basis", CHOICE)
    assert await other.recall(TOOL, "basis") == CHOICE
    assert await other.recall(TOOL, "another basis") is None
    await other.keep(TOOL, "basis", FieldChoice((), ("x",)))
    assert await one.recall(TOOL, "basis") == FieldChoice((), ("x",))
    await one.close()
    await other.close()


async def test_many_writers_at_once_leave_one_whole_choice(tmp_path: Path) -> None:
    stores = [SqliteFieldChoices(tmp_path / "fields.db") for _ in range(4)]
    choices = [FieldChoice((str(n),), (str(n), "x")) for n in range(40)]
    await asyncio.gather(*(stores[n % 4].keep(TOOL, "basis", choice) for n, choice in enumerate(choices)))
    assert await stores[0].recall(TOOL, "basis") in choices
    for store in stores:
        await store.close()


async def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fields.db"
    path.write_bytes(b"no database at all, but long enough to be looked at" * 50)
    store = SqliteFieldChoices(path)
    with pytest.raises(UnavailableError):
        await store.recall(TOOL, "basis")
    await store.close()
