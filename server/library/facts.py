"""What is known of one tool beside its document: how it has answered, what it identifies, what uses it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.solution import Solution
from domain.tool import ToolDoc, ToolId
from graph.availability_history import format_parts, replay_availability, split_availability
from graph.entities import IdentifiedEntities, find_entities
from graph.evidence import to_timestamp
from graph.facts import LiveOutcome, ToolFacts
from graph.weights import compute_availability
from server.library.catalogue import beginning_with
from wiring.container import Container

_OF_A_SET = 300
"""Tools of a tool set that are looked at together, to tell what one of them identifies."""
_SOLUTIONS = 20


@dataclass(frozen=True, slots=True)
class Moment:
    """The availability after a run that called the tool, and how its calls there ended."""

    at: datetime
    availability: float
    outcomes: tuple[LiveOutcome, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """How a tool has answered. ``history``: the oldest moment first; ``told``: what its availability is made of, in words."""

    facts: ToolFacts
    availability: float | None
    history: tuple[Moment, ...]
    told: tuple[str, ...]


async def record_of(container: Container, tool: ToolId) -> Record:
    """As far back as runs are kept."""
    found, lessons = await asyncio.gather(container.graph.get_facts([tool]), container.graph.get_lessons(tool))
    facts, now = found.get(tool, ToolFacts()), to_timestamp()
    after = replay_availability(facts, lessons, container.weights)
    known = split_availability(facts, container.weights, now)
    history = [Moment(one.at, after[one.run], one.outcomes) for one in reversed(lessons) if one.run in after]
    told = tuple(format_parts(facts, known)) if known else ()
    return Record(facts, compute_availability(facts, container.weights, now), tuple(history), told)


async def entities_of(container: Container, doc: ToolDoc) -> IdentifiedEntities:
    """What it identifies in its inputs and in its answers, told by the tools of its tool set together."""
    ids = await container.list_searched_tools()
    docs = await container.graph.get_tools(ids[beginning_with(doc.id.rpartition("/")[0], ids)][:_OF_A_SET])
    found = await asyncio.to_thread(find_entities, (docs | {doc.id: doc}).values())
    return found[doc.id]


async def solutions_with(container: Container, tool: ToolId, user_id: str) -> Sequence[Solution]:
    """Those of a user, and those that all share, that call it; the oftenest served first."""
    library = await container.solutions(user_id)
    found = await library.find_by_tools([tool])
    return sorted(found, key=lambda one: (-one.good, one.bad, one.id))[:_SOLUTIONS]
