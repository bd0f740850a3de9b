"""Administrators' marks of what an input or a field identifies, kept in the tool's document.

They outrank what names tell.
"""

from domain.errors import UsageError
from domain.tool import EntityMark, ToolId
from graph.identifiers import words
from graph.links import LinkedGraph
from graph.response_fields import output_fields


async def mark_entity(graph: LinkedGraph, tool: ToolId, place: str, entity: str) -> None:
    """Mark the entity of a parameter, or of a field by its path; an empty entity removes the mark.

    The tool's links become pending.

    Raises:
        UsageError: the tool has no document, or no such place; the entity is no word; or there is no mark to remove.
        UnavailableError: the store.
    """
    document = (await graph.get_tools([tool])).get(tool)
    if document is None:
        raise UsageError(f"{tool!r} has no document, so nothing is known of its inputs and answers: import one first")
    others = tuple(one for one in document.entity_marks if one.place != place)
    if not entity and len(others) == len(document.entity_marks):
        raise UsageError(f"nothing was said of {place!r} of {tool!r}")
    if entity:
        check_place(place, [one.name for one in document.parameters], [one.path for one in output_fields(document)])
        check_entity(entity)
    marks = (*others, EntityMark(place=place, entity=entity)) if entity else others
    ordered = tuple(sorted(marks, key=lambda one: one.place))
    await graph.put_tools([document.model_copy(update={"entity_marks": ordered})])
    await graph.expect_links({}, [tool])


def check_place(place: str, parameters: list[str], fields: list[str]) -> None:
    """Raise ``UsageError`` if a tool has no such parameter and no such field."""
    if place not in parameters and place not in fields:
        raise UsageError(
            f"there is no parameter or field {place[:200]!r}; parameters are {', '.join(parameters) or 'none'}; a field is named by its path, as {fields[0] if fields else 'items[].id'}"
        )


def check_entity(entity: str) -> None:
    """Raise ``UsageError`` if an entity contains no word."""
    if not words(entity):
        raise UsageError("name what it is of in a word or two: ship, city, line item")
