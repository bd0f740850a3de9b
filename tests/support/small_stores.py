"""Stores for the tests of exports: a small one with everything in it, and generated ones."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from hypothesis import strategies as st

from domain.tool import FINISH, Parameter, ToolDoc, ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_graph import SqliteGraph
from graph.backends.sqlite_recordings import SqliteRecordings
from graph.facts import Edge, GraphState, ToolFacts, ToolLesson
from graph.recordings import RecordingStore
from graph.store import GraphStore
from graph.transfer.store_export import ExportResult, export_store
from graph.transfer.store_import import check_export, import_store
from tests.support.graph_samples import LOST, A, B, C, batch, walked

TOOLS = (A, B, C, LOST)


def quiet(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def document(tool: ToolId, description: str = "") -> ToolDoc:
    number = Parameter(name="n\u2028", type="integer", default=2**80, enum=(1, None, "ä"), minimum=-0.5)
    return ToolDoc(
        id=tool,
        category="Wetter ☔",
        toolset="s",
        api='"\\',
        function="f",
        description=description,
        parameters=(number,),
        example_response='{"broken": ',
    )


async def fill(graph: GraphStore, recordings: RecordingStore | None = None) -> None:
    """A little of everything."""
    await graph.put_tools([document(A, "line\nbreak \u2028"), document(C)])
    await graph.apply(batch("k1", {(A, B): 3, (B, FINISH): 1, (A, LOST): 1}, {A: 4}, {A: 3}))
    await graph.learn(walked("run ü", A, C, score=0.3))
    await graph.mark(A, LOST, "mute")
    await graph.mark(C, A, "pin")
    if recordings is not None:
        await recordings.add("r2", [(B, call("b")), (A, call("a1")), (A, call("a2"))])
        await recordings.add("r1", [(A, call("a3"))])
        await recordings.add("r0", [])


def call(response: str) -> RecordedCall:
    return RecordedCall("c", "s", "f", '{"q": 1}', response, RecordedOutcome.OK)


async def opened(folder: Path, name: str) -> tuple[SqliteGraph, SqliteRecordings]:
    """An embedded store in files of that name."""
    graph, recordings = SqliteGraph(folder / f"{name}.db"), SqliteRecordings(folder / f"{name}.calls.db")
    await graph.setup()
    await recordings.setup()
    return graph, recordings


async def exported(graph: GraphStore, path: Path, recordings: RecordingStore | None = None) -> ExportResult:
    return await export_store(graph, recordings, path, quiet, replace=True)


async def imported(path: Path, graph: GraphStore, recordings: RecordingStore | None = None) -> int:
    return await import_store(path, await check_export(path, quiet), graph, recordings, quiet)


async def sample(path: Path) -> Path:
    """An export of the small store at ``path``."""
    graph = InMemoryGraph()
    await fill(graph)
    await exported(graph, path)
    return path


def run_changed(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Edit the lines of an uncompressed export."""
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


counts = st.integers(0, 2**40)


def _facts(counted: tuple[int, int, int, int, int], quality: float, reliability: float) -> ToolFacts:
    calls, successes, ok, transient, gone = counted
    # Adding zero: no database keeps the sign of a zero.
    return ToolFacts(
        max(calls, successes), min(calls, successes), ok, transient, gone, quality + 0.0, reliability + 0.0
    )


facts = st.builds(
    _facts,
    st.tuples(*[counts] * 5),
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False, allow_infinity=False),
)
marks = st.sampled_from((None, "pin", "mute", "ban"))
edges = st.builds(Edge, st.sampled_from(TOOLS), st.sampled_from((*TOOLS, FINISH)), counts, st.integers(1, 9), marks)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.timezones())  # noqa: DTZ001
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
keys = texts.filter(lambda key: "\0" not in key)
lessons = st.builds(
    ToolLesson,
    keys,
    moments,
    st.none() | st.floats(-1, 1).map(lambda x: x + 0.0),
    st.lists(st.sampled_from(("ok", "transient", "gone")), max_size=3).map(tuple),
)
states = st.builds(
    GraphState,
    st.dictionaries(st.sampled_from((*TOOLS, FINISH)), facts),
    st.lists(edges, max_size=8),
    st.lists(keys, max_size=5),
    st.lists(st.tuples(st.sampled_from(TOOLS), lessons), max_size=6),
)
documents = st.lists(st.builds(document, st.sampled_from((A, B, C)), texts), max_size=4)
calls = st.builds(RecordedCall, texts, texts, texts, texts, texts, st.sampled_from(RecordedOutcome))
batches = st.dictionaries(texts, st.lists(st.tuples(st.sampled_from(TOOLS), calls), max_size=4), max_size=3)
