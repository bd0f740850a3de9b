"""What an administrator corrects of the graph: what a parameter or field is of, what fills a parameter, what runs have said of a tool. The couplings are computed anew at once."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from domain.errors import ConflictError
from domain.tool import FeedMark, ToolDoc, ToolId
from domain.tool_source import Corrections
from graph.availability_history import apply_lesson
from graph.document_marks import check_entity, check_place, mark_entity, mark_feed
from graph.facts import GraphState, ToolFacts, ToolLesson
from graph.response_fields import output_fields
from server.sources.registry import SourceRegistry
from server.storage.accounts import User
from wiring.container import Container
from wiring.links import link_changed


async def correct_entity(container: Container, tool: ToolId, place: str, entity: str) -> None:
    """Of a tool that was imported. ``container``: of the server itself, which sees all. Empty: what names tell. Raises as :func:`mark_entity`."""
    async with container.change_lock:
        await mark_entity(container.graph, tool, place, entity)
        await link_changed(container, [tool])


async def correct_entity_of_source(
    sources: SourceRegistry, source_id: str, doc: ToolDoc, place: str, entity: str, user: User, reason: str
) -> None:  # fmt: skip
    """Of a tool of a source, whose corrections hold it: it stays when the source is read again, and the graph follows."""
    if entity:
        check_place(place, [one.name for one in doc.parameters], [one.path for one in output_fields(doc)])
        check_entity(entity)
    known = (await sources.tool(source_id, doc.id)).corrections
    entities = {name: said for name, said in known.entities.items() if name != place}
    if entity:
        entities[place] = entity
    said = Corrections.model_validate(known.model_dump() | {"entities": entities})
    await sources.correct(source_id, doc.id, said, user, reason)


async def correct_feed(container: Container, target: ToolId, mark: FeedMark, *, clear: bool) -> None:
    """Add a feed, forbid it, or let documents tell again. Raises as :func:`mark_feed`."""
    async with container.change_lock:
        await mark_feed(container.graph, target, mark, clear=clear)
        await link_changed(container, [target])


async def forget_runs(container: Container, tool: ToolId) -> Mapping[str, Any]:
    """Forget what runs said of a tool; what that was, so that it can be put back."""
    graph = container.graph
    facts = (await graph.get_facts([tool])).get(tool, ToolFacts())
    lessons = await graph.get_lessons(tool)
    await graph.forget([tool])
    return {"facts": asdict(facts), "lessons": [asdict(one) | {"at": one.moment} for one in lessons]}


async def put_back(container: Container, tool: ToolId, kept: Mapping[str, Any]) -> None:
    """What runs had said before it was forgotten, and what they have said since."""
    if not kept:
        raise ConflictError("what runs had said of it is not kept any more, so it cannot be put back")
    graph, weights = container.graph, container.weights
    since = await graph.get_lessons(tool)
    now = (await graph.get_facts([tool])).get(tool, ToolFacts())
    facts = ToolFacts(**kept["facts"] | {"calls": now.calls, "successes": now.successes})
    for lesson in reversed(since):
        facts = apply_lesson(facts, lesson, weights)
        if lesson.score is not None:
            facts = replace(facts, quality=weights.gamma * facts.quality + lesson.score)
    before = [_lesson(one) for one in kept["lessons"]]
    await graph.restore(GraphState(nodes={tool: facts}, lessons=[(tool, one) for one in before]))


def _lesson(told: Mapping[str, Any]) -> ToolLesson:
    return ToolLesson(told["run"], datetime.fromisoformat(told["at"]), told["score"], tuple(told["outcomes"]))
