"""Versions of others' templates that users have taken, and those that they ran before there was taking."""

import pytest
from sqlalchemy import text

from domain.errors import ConflictError
from server.storage.migrations.versions.v0003_takes_and_ends import USED
from server.storage.runs import RunChoices
from server.storage.storage import Storage
from server.storage.templates import TemplateContent

CONTENT = TemplateContent(parameters={}, plan={"steps": []})


async def shared(storage: Storage) -> tuple[str, str, str]:
    """The ids of its author, of somebody else, and of a template with two versions."""
    author = (await storage.users.add("author", "x", "author")).id
    other = (await storage.users.add("other", "x")).id
    made = await storage.templates.add(author, "one", CONTENT)
    await storage.templates.add_version(made.id, author, CONTENT)
    return author, other, made.id


async def test_one_version_is_taken_until_another_is(storage: Storage) -> None:
    _, other, template = await shared(storage)
    assert await storage.template_pins.get(other, template) is None
    for version in (1, 2, 1):
        await storage.template_pins.pin(other, template, version)
        assert await storage.template_pins.get(other, template) == version
        assert await storage.template_pins.list_all(other) == {template: version}
    with pytest.raises(ConflictError):
        await storage.template_pins.pin(other, template, 3)


async def test_who_ran_a_version_before_has_taken_it(storage: Storage) -> None:
    """The one that was run last; nobody takes their own."""
    author, other, template = await shared(storage)
    for user, versions in ((author, (1,)), (other, (2, 1))):
        conversation = await storage.conversations.add(user)
        for version in versions:
            chosen = RunChoices(planner="dfs", policy="offline", template_id=template, template_version=version)
            await storage.runs.add(user, conversation.id, "x", chosen)
    async with storage.database.write_session() as session:
        await session.execute(text(USED))
    assert (await storage.template_pins.list_all(other), await storage.template_pins.list_all(author)) == (
        {template: 1},
        {},
    )
