"""Feeds that an administrator adds or forbids: kept in the document of the tool they lead into, and heeded at once."""

from domain.errors import UsageError
from domain.tool import FeedMark, ToolId
from graph.feed_index import with_marks
from graph.links import LinkedGraph, ToolLinks


async def mark_feed(graph: LinkedGraph, target: ToolId, mark: FeedMark, *, clear: bool = False) -> None:
    """Say of a field and a parameter of ``target`` that one fills the other, or never does, or nothing any more (``clear``).

    The feeds that are stored are corrected at once. What a mark that is cleared had forbidden comes back when links are next computed.

    Raises:
        UsageError: one of the tools has no document, or the target no such parameter.
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
    if clear and not any(_place(one) == _place(mark) for one in document.feed_marks):
        raise UsageError(f"nothing was said of {mark.field!r} of {mark.source!r} for {mark.parameter!r} of {target!r}")
    others = tuple(one for one in document.feed_marks if _place(one) != _place(mark))
    marked = document.model_copy(update={"feed_marks": others if clear else (*others, mark)})
    feeds = [
        feed for feed in await graph.feeds_into(target) if (feed.source, feed.field, feed.parameter) != _place(mark)
    ]
    corrected = ToolLinks(
        target,
        with_marks(marked, feeds, {one.source for one in feeds} | {mark.source}),
        await graph.substitutes(target),
    )
    await graph.put_tools([marked])
    await graph.put_links([corrected])
    await graph.expect_links({}, [target])


def _place(mark: FeedMark) -> tuple[ToolId, str, str]:
    return mark.source, mark.field, mark.parameter
