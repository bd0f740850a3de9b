"""Versions of others' templates that users have taken."""

import pytest

from domain.errors import ConflictError
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
