"""Mining of a store's solutions: its tools to walks, combinations, programs and questions, and into the library what execution proves."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.execution.executor import Executor
from domain.errors import UsageError
from domain.tool import ToolDoc
from graph.transfer.exporting import Progress
from graph.walks import Ground
from synthesis.combinations import combinations
from synthesis.forging import Forge, Forged
from synthesis.journal import Done, Journal, Report
from synthesis.model_questions import ModelQuestions
from synthesis.trying import Reading
from synthesis.values import Values
from wiring.container import Container

JOURNAL = "mined.jsonl"


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
    return Journal(_journal(container.folder.root))


def _journal(folder: Path) -> Path:
    return folder / JOURNAL


async def mine(container: Container, mining: Mining, progress: Progress) -> Report:
    """Mine, and go on where an earlier mining was broken off. The report is of all that was ever done in this way.

    Raises:
        UsageError: there is no such tool set.
    """
    journal, report = journal_of(container), Report()
    kept = await container.solutions("")
    sets = await _tool_sets(container, mining.toolsets)
    done = {one.key: one for one in journal.lines() if one.way == mining.way}
    asking = ModelQuestions(container.chat_model(), mining.language) if mining.model else None
    executor = await _executor(container, mining)
    forge = Forge(container.sandbox(), asking=asking, unproven=mining.unproven)
    async for solution in kept.all():
        forge.takes(solution)
    for number, tools in enumerate(sets):
        progress("tool sets", number, len(sets))
        found = [*combinations(Ground(tools))]
        report.counts["walks"] += len({(one.walk.path, one.walk.feeds) for one in found})
        await _prepare(container, forge, executor, tools)
        for place, combination in enumerate(found):
            progress(_named(tools), place, len(found))
            line = done.get(combination.key)
            if line is None:
                forged = await forge.forged(combination)
                line = _line(forged, await kept.add(forged.solutions) if forged.solutions else [], mining.way)
                journal.add(line)
            report.add(line)
        progress(_named(tools), len(found), len(found))
        report.counts["calls"] += forge.reading.made if forge.reading is not None else 0
    progress("tool sets", len(sets), len(sets))
    return report


async def _executor(container: Container, mining: Mining) -> Executor | None:
    """What answers calls: live ones with leave, else recorded ones; None where neither is there."""
    if mining.live:
        return await container.executor("http")
    return await container.executor("replay") if await (await container.recordings()).count() else None


async def _prepare(container: Container, forge: Forge, executor: Executor | None, tools: Sequence[ToolDoc]) -> None:
    if executor is not None:
        forge.reading = Reading(executor)
        forge.values = Values(tools, forge.reading, await container.recordings())


async def _tool_sets(container: Container, wanted: Collection[str]) -> list[list[ToolDoc]]:
    """The tools to be mined, those together that may feed each other, in a stable order."""
    named = {one.casefold() for one in wanted}
    found: defaultdict[tuple[str, str], list[ToolDoc]] = defaultdict(list)
    async for doc in container.graph.documents():
        if not named or doc.toolset.casefold() in named:
            found["", ""].append(doc) if named else found[doc.category, doc.toolset].append(doc)
    there = {doc.toolset.casefold() for tools in found.values() for doc in tools}
    if missing := sorted(one for one in wanted if one.casefold() not in there):
        raise UsageError(
            f"there is no tool set called {', '.join(map(repr, missing))}: scripts/find_tools.py finds tools"
        )
    return [tools for _, tools in sorted(found.items())]


def _named(tools: Sequence[ToolDoc]) -> str:
    return ", ".join(dict.fromkeys(one.toolset for one in tools))[:40]


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
