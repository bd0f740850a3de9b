"""Feeds that an administrator adds or forbids, kept in the document of the tool they lead into.

They are applied at once.
"""

from domain.errors import UsageError
from domain.tool import FeedMark, ToolId
from graph.feed_index import with_marks
from graph.links import LinkedGraph, ToolLinks


async def mark_feed(graph: LinkedGraph, target: ToolId, mark: FeedMark, *, clear: bool = False) -> None:
    """Mark that a field fills a parameter of ``target``, or never does; with ``clear`` remove the mark.

    The stored feeds are corrected at once. What a removed mark had forbidden comes back when links are next computed.

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
    """Return what identifies a mark within its tool: source, field and parameter."""
    return mark.source, mark.field, mark.parameter
