"""Administrators' corrections of links: feeds to add or forbid, and entities of parameters and fields.

They are stored as marks in the tool's document, and applied to the stored links at once.
"""

from domain.errors import UsageError
from domain.tool import EntityMark, FeedMark, ToolId
from graph.feed_index import apply_feed_marks
from graph.identifiers import split_words
from graph.links import LinkedGraph, ToolLinks
from graph.response_fields import output_fields


async def mark_feed(graph: LinkedGraph, target: ToolId, mark: FeedMark, *, clear: bool = False) -> None:
    """Mark that a field fills a parameter of ``target``, or never does; with ``clear`` remove the mark.

    The stored feeds are corrected at once. A feed that a removed mark had forbidden returns when links are next
    computed.

    Raises:
        UsageError: one of the tools has no document, the target has no such parameter, or there is no mark to remove.
        UnavailableError: the store.
    """
    documents = await graph.get_tools([target, mark.source])
    for tool in (target, mark.source):
        if tool not in documents:
            raise UsageError(
                f"{tool!r} has no document, so nothing is known of its inputs and answers: import one first"
            )
    document = documents[target]
    names = [parameter.name for parameter in document.parameters]
    if mark.parameter not in names and not clear:
        raise UsageError(f"{target!r} has no parameter {mark.parameter!r}; it has {', '.join(names) or 'none'}")
    if clear and not any(_get_mark_key(one) == _get_mark_key(mark) for one in document.feed_marks):
        raise UsageError(f"nothing was said of {mark.field!r} of {mark.source!r} for {mark.parameter!r} of {target!r}")
    other_marks = tuple(one for one in document.feed_marks if _get_mark_key(one) != _get_mark_key(mark))
    marked = document.model_copy(update={"feed_marks": other_marks if clear else (*other_marks, mark)})
    feeds = [
        feed
        for feed in await graph.get_feeds_into(target)
        if (feed.source, feed.field, feed.parameter) != _get_mark_key(mark)
    ]
    corrected = ToolLinks(
        target,
        apply_feed_marks(marked, feeds, {one.source for one in feeds} | {mark.source}),
        await graph.get_substitutes(target),
    )
    await graph.put_tools([marked])
    await graph.put_links([corrected])
    await graph.expect_links({}, [target])


def _get_mark_key(mark: FeedMark) -> tuple[ToolId, str, str]:
    """Return what identifies a mark within its tool: source, field and parameter."""
    return mark.source, mark.field, mark.parameter


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
    other_marks = tuple(item for item in document.entity_marks if item.place != place)
    if not entity and len(other_marks) == len(document.entity_marks):
        raise UsageError(f"nothing was said of {place!r} of {tool!r}")
    if entity:
        check_place(place, [item.name for item in document.parameters], [item.path for item in output_fields(document)])
        check_entity(entity)
    marks = (*other_marks, EntityMark(place=place, entity=entity)) if entity else other_marks
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
    if not split_words(entity):
        raise UsageError("name what it is of in a word or two: ship, city, line item")
