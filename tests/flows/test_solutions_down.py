"""A library of solutions that cannot be opened, is locked, or whose server is gone: the run answers, and the log and ``weights.learned`` say what was not kept."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.solutions.library import SolutionLibrary
from domain.event import EventRecord, NoSolution
from domain.solution import PatternIndex, SolutionStore
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from graph.backends.sqlite_solutions import SqlitePatterns, SqliteSolutions
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_patterns import QdrantPatterns
from tests.flows.test_runs import WEATHER
from tests.flows.test_taking_solutions import ASKED, WRITTEN, Town, last, learned, taken, towns
from tests.support.indexed_store import indexed_store
from tests.support.run_deps import change_deps
from tests.support.small_world import FORECAST, FOUND, TOOLS, ScriptedExecutor, WordEmbedder
from wiring.container import open_container
from wiring.runs import build_run_deps, run_and_learn
from wiring.settings import Settings

GONE = "a run goes on without the library of solutions"
Opened = Callable[[Path], AbstractAsyncContextManager[tuple[SolutionStore, PatternIndex]]]


@asynccontextmanager
async def closed_store(folder: Path) -> AsyncGenerator[tuple[SolutionStore, PatternIndex]]:
    store = SqliteSolutions(folder / "solutions.db")
    await store.setup()
    await store.close()
    yield store, InMemoryPatterns()


@asynccontextmanager
async def closed_index(folder: Path) -> AsyncGenerator[tuple[SolutionStore, PatternIndex]]:
    index = SqlitePatterns(folder / "patterns.db")
    await index.setup()
    await index.close()
    yield InMemorySolutions(), index


@asynccontextmanager
async def gone_server(folder: Path) -> AsyncGenerator[tuple[SolutionStore, PatternIndex]]:
    del folder
    index = QdrantPatterns(QdrantAddress("http://127.0.0.1:9", timeout=2))
    yield InMemorySolutions(), index
    await index.close()


def over(made: Town, store: SolutionStore, index: PatternIndex) -> None:
    """Put the town's library on these."""
    made.library = SolutionLibrary(store, index, WordEmbedder(), "", made.made.deps.knowledge.store)
    made.made.deps = change_deps(made.made.deps, solutions=made.library)


@pytest.mark.parametrize(
    ("out_of_reach", "says"), [(closed_store, "closed"), (closed_index, "closed"), (gone_server, "the vector store")]
)
async def test_a_run_goes_on_without(
    out_of_reach: Opened, says: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with towns(tmp_path, WRITTEN) as made, out_of_reach(tmp_path) as (store, index):
        over(made, store, index)
        records = await made.ask(ASKED)
    answered(records, says)
    assert GONE in caplog.text
    assert made.asked == ["program"]


def answered(records: Sequence[EventRecord], says: str) -> None:
    """By a program that was written, with all learnt but the solution."""
    assert last(records).outcome == "answered"
    assert last(records).error == ""
    told = learned(records)
    assert says in told.error
    assert told.tools
    assert told.solutions == ()
    assert not taken(records)


async def test_the_planner_solution_says_why_it_goes_on_as_program_does(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN) as made, closed_store(tmp_path) as (store, index):
        over(made, store, index)
        made.made.deps = change_deps(made.made.deps, planner="solution")
        records = await made.ask(ASKED)
    answered(records, "closed")
    (none,) = [one.event for one in records if isinstance(one.event, NoSolution)]
    assert "the library of solutions is done without: unavailable" in none.reason


async def test_one_that_is_locked_serves_and_says_that_it_was_not_judged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteSolutions(tmp_path / "solutions.db", busy_seconds=0.2)
    await store.setup()
    async with towns(tmp_path, WRITTEN) as made:
        over(made, store, InMemoryPatterns())
        (kept,) = learned(await made.ask(ASKED)).solutions
        with closing(sqlite3.connect(tmp_path / "solutions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            second = await made.ask("How many inhabitants does Oslo have?")
        assert (await store.get([kept]))[kept].good == 0
        third = await made.ask("How many inhabitants does Lyon have?")
        assert (await store.get([kept]))[kept].good == 1
    await store.close()
    assert [(len(taken(one)), last(one).outcome, last(one).error) for one in (second, third)] == [
        (1, "answered", "")
    ] * 2
    assert learned(second).error.startswith("store_busy: ")
    assert "solutions.db: another process keeps writing to it" in caplog.text, "who runs the program reads where it is"
    assert learned(second).tools
    assert learned(third).error == ""
    assert made.asked == ["program"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("broken", ["solutions.db", "patterns.db"])
async def test_a_file_that_is_broken(broken: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As a run of a store meets it: an author without a model."""
    settings = Settings(store=tmp_path / "store")
    store = await indexed_store(settings.store, TOOLS, settings)
    (store / broken).write_bytes(b"no database at all" * 999)
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)
    async with open_container(settings, store) as container:
        deps = await build_run_deps(container, "offline", executor, "program", approver=AllowChangesApprover())
        records = [one async for one in run_and_learn(WEATHER, deps, name="r1")]
        facts = await container.graph.get_facts([tool.id for tool in TOOLS])
    assert last(records).outcome == "answered"
    assert broken in learned(records).error
    assert sum(found.ok for found in facts.values()) == 2
    assert GONE in caplog.text
    assert (store / broken).read_bytes().startswith(b"no database"), "nobody writes over what may be mended"
