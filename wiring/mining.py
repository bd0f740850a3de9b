"""Mining of a store's solutions: its tools to walks, combinations, programs and questions, and into the library what execution proves."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass

from agent.execution.executor import Executor
from domain.errors import UsageError
from domain.tool import ToolDoc
from graph.transfer.exporting import Progress
from synthesis.forging import Forge, Forged
from synthesis.journal import Done, Journal, Report, mark
from synthesis.mining import MinedSet, by_toolset, mined_set
from synthesis.model_questions import ModelQuestions
from synthesis.trying import Reading
from synthesis.values import Values
from wiring.container import Container

JOURNAL = "mined.jsonl"
_NAMED = 40


@dataclass(frozen=True, slots=True)
class Mining:
    """What is mined, and how. ``toolsets``: mined together; none: every tool set of the store by itself. ``live``: tools that only read may be
    called. ``model``: words the questions, in ``language``. ``unproven``: what could not be executed is kept, suspended.
    """

    toolsets: tuple[str, ...] = ()
    live: bool = False
    model: bool = False
    language: str = ""
    unproven: bool = False

    @property
    def way(self) -> str:
        """How what is executed, and worded; what was done in another way is done anew."""
        worded = f"model {self.language}".strip() if self.model else "plain"
        return " ".join(("live" if self.live else "recorded", worded, *(("unproven",) if self.unproven else ())))


def journal_of(container: Container) -> Journal:
    """What mining has done in a store so far: beside it."""
    return Journal(container.folder.root / JOURNAL)


async def mine(container: Container, mining: Mining, progress: Progress) -> Report:
    """Mine, and go on where an earlier mining was broken off. The report is of all that was ever done with these tool sets in this way.

    Raises:
        UsageError: there is no such tool set.
    """
    journal, kept = journal_of(container), await container.solutions("")
    done, seen = await asyncio.to_thread(journal.done, mining.way), set[bytes]()
    walks = calls = sets = 0
    asking = ModelQuestions(container.chat_model(), mining.language) if mining.model else None
    executor = await _executor(container, mining)
    forge = Forge(container.sandbox(), asking=asking, unproven=mining.unproven)
    async for solution in kept.all():
        forge.takes(solution)
    async for found in _tool_sets(container, mining.toolsets):
        if executor is not None:
            forge.reading = Reading(executor)
            forge.values = Values(found.tools, forge.reading, await container.recordings())
        named = ", ".join(dict.fromkeys(one.toolset for one in found.tools))[:_NAMED]
        for place, combination in enumerate(found.mined.combinations):
            progress(named, place, len(found.mined.combinations))
            if mark(combination.key) not in done:
                forged = await forge.forged(combination)
                ids = await kept.add(forged.solutions) if forged.solutions else []
                journal.add(_line(forged, ids, mining.way))
            seen.add(mark(combination.key))
        sets += 1
        walks += found.mined.counts.walks.total()
        calls += forge.reading.made if forge.reading is not None else 0
        progress("tool sets", sets, None)
    report = await asyncio.to_thread(journal.report, mining.way, seen)
    report.counts.update(walks=walks, calls=calls)
    return report


async def _executor(container: Container, mining: Mining) -> Executor | None:
    """What answers calls: live ones with leave, else recorded ones; None where neither is there."""
    if mining.live:
        return await container.executor("http")
    return await container.executor("replay") if await (await container.recordings()).count() else None


@dataclass(frozen=True, slots=True)
class _ToolSet:
    tools: tuple[ToolDoc, ...]
    mined: MinedSet


async def _tool_sets(container: Container, wanted: Collection[str]) -> AsyncIterator[_ToolSet]:
    """The tools that are mined together, with their combinations: those of the wanted sets as one; else every tool set by itself, one at a time."""
    if not wanted:
        async for place, tools in by_toolset(container.graph.documents()):
            yield _ToolSet(tuple(tools), mined_set(place, tools))
        return
    names = {one.casefold() for one in wanted}
    found = [doc async for doc in container.graph.documents() if doc.toolset.casefold() in names]
    there = {doc.toolset.casefold() for doc in found}
    if missing := sorted(one for one in wanted if one.casefold() not in there):
        named = ", ".join(map(repr, missing))
        raise UsageError(f"there is no tool set called {named}: scripts/find_tools.py finds tools")
    yield _ToolSet(tuple(found), mined_set("", found))


def _line(forged: Forged, kept: Sequence[str], way: str) -> Done:
    return Done(
        key=forged.key,
        way=way,
        kept=tuple(dict.fromkeys(kept)),
        intents=forged.intents,
        questions=forged.questions,
        tried=forged.tried,
        dropped=dict(forged.dropped),
        triplets=forged.triplets,
    )
