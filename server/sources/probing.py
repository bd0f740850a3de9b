"""Live calls of what a source offers and what only reads, with the values of its documents: they tell how available its tools are."""

from collections.abc import Sequence

from admission.probe_arguments import SeenAnswers, choose_arguments
from agent.execution.executor import Executor
from domain.errors import FootpathError
from domain.plan import CallOutcome
from domain.tool import ToolDoc, ToolId
from graph.facts import LiveBatch, LiveOutcome
from graph.store import GraphStore

_EVIDENCE: dict[CallOutcome, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""What a call says of its tool, rather than of its values, its key or this machine."""
MOST = 20
"""Tools of one source that are called in one round; the others have their turn in the next."""


async def probe(docs: Sequence[ToolDoc], executor: Executor, turn: int = 0) -> tuple[tuple[ToolId, LiveOutcome], ...]:
    """What became of each call that says something of its tool. Nothing that may change something is called. ``turn``: which round it is."""
    reading = [doc for doc in docs if doc.effect.reads]
    start = turn * MOST % max(1, len(reading))
    chosen = [*reading[start:], *reading[:start]][:MOST]
    seen, found = SeenAnswers(), list[tuple[ToolId, LiveOutcome]]()
    for doc in chosen:
        values = choose_arguments(doc, None, seen)
        if values.missing or values.wrong:
            continue
        try:
            result = await executor.call(doc, values.arguments)
        except FootpathError:
            continue  # it was not sent: a key is missing, or its address is refused, which says nothing of its server
        if result.outcome == "ok":
            seen.add(doc, result.body)
        if (told := _EVIDENCE.get(result.outcome)) is not None:
            found.append((doc.id, told))
    return tuple(found)


async def learn(graph: GraphStore, key: str, outcomes: Sequence[tuple[ToolId, LiveOutcome]]) -> None:
    """Have the graph take them as it takes those of runs: once, by the key."""
    if outcomes:
        await graph.learn(LiveBatch(key, {}, (), tuple(outcomes)))
