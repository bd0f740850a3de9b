"""Mining of solutions: a store's tools are combined into walks, programs and questions.

What execution proves is added to the library.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass

from domain.errors import UsageError
from domain.tool import ToolDoc
from graph.transfer.exporting import Progress
from synthesis.forging import Forge, Forged
from synthesis.journal import Done, Journal, Report, mark
from synthesis.mining import Counts, MinedSet, by_toolset, mined_set
from synthesis.model_questions import ModelQuestions
from synthesis.recorded import Recorded
from synthesis.trying import Reading
from synthesis.values import Values
from wiring.container import Container

JOURNAL = "mined.jsonl"
_NAMED = 40


@dataclass(frozen=True, slots=True)
class Mining:
    """Options of mining."""

    toolsets: tuple[str, ...] = ()
    """Tool sets that are mined together; empty: every tool set of the store by itself."""
    live: bool = False
    """Tools that only read may be called."""
    model: bool = False
    """The language model words the questions."""
    language: str = ""
    """Language of the questions."""
    unproven: bool = False
    """Solutions that could not be executed are kept, suspended."""

    @property
    def way(self) -> str:
        """Return how solutions are executed and worded; what was done in another way is done again."""
        worded = f"model {self.language}".strip() if self.model else "plain"
        return " ".join(("live" if self.live else "recorded", worded, *(("unproven",) if self.unproven else ())))


def journal_of(container: Container) -> Journal:
    """Return the journal of mining, a file beside the store."""
    return Journal(container.folder.root / JOURNAL)


async def mine(container: Container, mining: Mining, progress: Progress) -> Report:
    """Mine, and continue an interrupted mining.

    The report covers all that was ever done with these tool sets in this way.

    What cannot be executed is only counted, and tried again the next time.

    Raises:
        UsageError: there is no such tool set.
    """
    journal, kept, recordings = journal_of(container), await container.solutions(""), await container.recordings()
    way = mining.way if mining.live else f"{mining.way} of {await recordings.count()}"
    done, seen, untried, counts = await asyncio.to_thread(journal.done, way), set[bytes](), Report(), Counts()
    live = await container.executor("http") if mining.live else None
    asking = ModelQuestions(container.chat_model(), mining.language) if mining.model else None
    forge = Forge(container.sandbox(), asking=asking, unproven=mining.unproven)
    calls, failure = 0, ""
    async for solution in kept.all():
        forge.takes(solution)
    async for found in _tool_sets(container, mining.toolsets):
        recorded = Recorded(recordings)
        forge.recorded = recorded if live is None else None
        forge.reading = Reading(live or recorded)
        forge.values = Values(found.tools, forge.reading, forge.recorded)
        named = ", ".join(dict.fromkeys(one.toolset for one in found.tools))[:_NAMED]
        for place, combination in enumerate(found.mined.combinations):
            progress(named, place, len(found.mined.combinations))
            if mark(combination.key) not in done:
                forged = await forge.forged(combination)
                if forged.untried:
                    untried.add(_line(forged, (), way))
                    continue
                ids = await kept.keep(forged.solutions) if forged.solutions else []
                journal.add(_line(forged, ids, way))
            seen.add(mark(combination.key))
        counts.add(found.mined.counts)
        calls += forge.reading.made
        failure = failure or forge.reading.failure
        progress("tool sets", counts.toolsets, None)
    await kept.embed(lambda embedded: progress("solutions made to be found", embedded, None))
    report = await asyncio.to_thread(journal.report, way, seen)
    report.take(untried)
    report.counts.update(tools=counts.tools, walks=counts.walks.total(), calls=calls)
    report.left_out.update(counts.left_out)
    report.failure = failure
    return report


@dataclass(frozen=True, slots=True)
class _ToolSet:
    tools: tuple[ToolDoc, ...]
    mined: MinedSet


async def _tool_sets(container: Container, wanted: Collection[str]) -> AsyncIterator[_ToolSet]:
    """Yield the tools that are mined together, with their combinations.

    These are the wanted tool sets as one; without any, each tool set of the store by itself, one at a time.
    """
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
