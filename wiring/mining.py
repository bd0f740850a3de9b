"""Mining of solutions: tools are combined into walks, programs and questions.

Programs whose execution succeeds are added to the library.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass

from domain.errors import UsageError
from domain.tool import ToolDoc
from graph.transfer.store_export import TransferProgress
from synthesis.combinations import MinedToolset, MiningCounts, group_by_toolset, mine_toolset
from synthesis.input_values import InputValueFinder
from synthesis.journal import MiningJournal, MiningRecord, MiningReport, hash_key
from synthesis.model_questions import ModelQuestionWriter
from synthesis.program_trial import ReadOnlyCaller, RecordedExecutor
from synthesis.solution_builder import CombinationOutcome, SolutionBuilder
from wiring.container import Container

JOURNAL = "mined.jsonl"
_MAX_LABEL = 40


@dataclass(frozen=True, slots=True)
class MiningOptions:
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
        """Return how solutions are executed and worded, as a key of the journal: work done in another way is repeated."""
        worded = f"model {self.language}".strip() if self.model else "plain"
        return " ".join(("live" if self.live else "recorded", worded, *(("unproven",) if self.unproven else ())))


def open_journal(container: Container) -> MiningJournal:
    """Return the journal of mining, a file beside the store."""
    return MiningJournal(container.folder.root / JOURNAL)


async def mine_store(container: Container, options: MiningOptions, progress: TransferProgress) -> MiningReport:
    """Mine, and continue an interrupted mining.

    The report covers all that was ever done with these tool sets in this way.

    What cannot be executed is only counted, and tried again the next time.

    Raises:
        UsageError: there is no such tool set.
    """
    journal, library, recordings = open_journal(container), await container.solutions(""), await container.recordings()
    way = options.way if options.live else f"{options.way} of {await recordings.count()}"
    done_keys, seen_keys, untried, counts = (
        await asyncio.to_thread(journal.collect_done, way),
        set[bytes](),
        MiningReport(),
        MiningCounts(),
    )
    live = await container.open_executor("http") if options.live else None
    question_writer = ModelQuestionWriter(container.chat_model(), options.language) if options.model else None
    builder = SolutionBuilder(container.sandbox(), question_writer=question_writer, keep_unproven=options.unproven)
    calls, failure = 0, ""
    async for solution in library.iterate_all():
        builder.reserve_patterns(solution)
    async for toolset in _iterate_toolsets(container, options.toolsets):
        recorded = RecordedExecutor(recordings)
        builder.recorded = recorded if live is None else None
        builder.caller = ReadOnlyCaller(live or recorded)
        builder.value_finder = InputValueFinder(toolset.tools, builder.caller, builder.recorded)
        label = ", ".join(dict.fromkeys(tool.toolset for tool in toolset.tools))[:_MAX_LABEL]
        for position, combination in enumerate(toolset.mined.combinations):
            progress(label, position, len(toolset.mined.combinations))
            if hash_key(combination.key) not in done_keys:
                outcome = await builder.build_solutions(combination)
                if outcome.untried:
                    untried.add(_build_record(outcome, (), way))
                    continue
                ids = await library.add_unembedded(outcome.solutions) if outcome.solutions else []
                journal.add(_build_record(outcome, ids, way))
            seen_keys.add(hash_key(combination.key))
        counts.add(toolset.mined.counts)
        calls += builder.caller.call_count
        failure = failure or builder.caller.failure
        progress("tool sets", counts.toolsets, None)
    await library.embed(lambda embedded: progress("solutions made to be found", embedded, None))
    report = await asyncio.to_thread(journal.build_report, way, seen_keys)
    report.merge(untried)
    report.counts.update(tools=counts.tools, walks=counts.walks.total(), calls=calls)
    report.left_out.update(counts.left_out)
    report.failure = failure
    return report


@dataclass(frozen=True, slots=True)
class _ToolsetToMine:
    tools: tuple[ToolDoc, ...]
    mined: MinedToolset


async def _iterate_toolsets(container: Container, toolset_names: Collection[str]) -> AsyncIterator[_ToolsetToMine]:
    """Yield the tools that are mined together, with their combinations.

    These are the wanted tool sets as one; without any, each tool set of the store by itself, one at a time.
    """
    if not toolset_names:
        async for id_prefix, tools in group_by_toolset(container.graph.stream_documents()):
            yield _ToolsetToMine(tuple(tools), mine_toolset(id_prefix, tools))
        return
    names = {name.casefold() for name in toolset_names}
    selected = [doc async for doc in container.graph.stream_documents() if doc.toolset.casefold() in names]
    present = {doc.toolset.casefold() for doc in selected}
    if missing := sorted(name for name in toolset_names if name.casefold() not in present):
        missing_names = ", ".join(map(repr, missing))
        raise UsageError(f"there is no tool set called {missing_names}: scripts/find_tools.py finds tools")
    yield _ToolsetToMine(tuple(selected), mine_toolset("", selected))


def _build_record(outcome: CombinationOutcome, solution_ids: Sequence[str], way: str) -> MiningRecord:
    return MiningRecord(
        key=outcome.key,
        way=way,
        kept=tuple(dict.fromkeys(solution_ids)),
        intents=outcome.intents,
        questions=outcome.questions,
        tried=outcome.tried,
        dropped=dict(outcome.dropped),
        triplets=outcome.triplets,
    )
