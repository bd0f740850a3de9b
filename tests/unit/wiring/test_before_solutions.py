"""Programs that the version before solutions kept with memories are solutions where its stores and exports are opened."""

import json
import tarfile
from datetime import datetime
from pathlib import Path

import pytest

from agent.solutions.conversion import UNNAMED_INPUTS_REASON, build_solution_from_memory
from agent.solutions.library import SolutionLibrary
from domain.errors import UnavailableError
from domain.memory import LegacyMemory, Memory, read_memory
from domain.program import ProgramPlan
from domain.solution import Solution
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from graph.transfer.companion_stores import CompanionStores
from graph.transfer.store_import import check_export
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from retriever.embedders.onnx_embedder import OnnxEmbedder
from tests.support.archives import unpack
from tests.support.scholar_tools import Catalogue
from tests.support.small_stores import quiet
from wiring.container import open_container
from wiring.store_backends import adopt_programs
from wiring.store_transfer import export_store_file, import_store_file

DATA = Path(__file__).parents[2] / "data" / "before_solutions"
OWNED = {
    "ann": ("What is the weather forecast for {city}?",),
    "": ("What is the weather forecast for the days above {temperature} degrees in {city}?",),
    "bob": ("Where does {city} lie?",),
}


def patterns_by_owner(solutions: list[Solution]) -> dict[str, tuple[str, ...]]:
    """What each owner's solution serves."""
    assert all(one.origin == "run" and not one.suspended and not one.plan.values for one in solutions)
    return {one.owner: one.patterns for one in solutions}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store as it was."""
    with tarfile.open(DATA / "store.tar.xz") as packed:
        unpack(packed, tmp_path)
    return tmp_path / "store"


async def test_where_a_store_is_opened(store: Path) -> None:
    for _ in range(2):
        async with open_container(store=store) as container:
            anns = await container.solutions("ann")
            near = await anns.find_near("What is the weather forecast for Lima?", 3)
            assert near[0].pattern == OWNED["ann"][0]
            assert set(near[0].solution.fingerprints) == set(near[0].solution.path)
            kept = [one async for one in (await container.solution_store()).stream_all()]
            memories = await container.memories()
            assert await memories.count() == 4
            assert await memories.list_legacy(9) == []
        assert patterns_by_owner(kept) == OWNED
        assert {(one.good, one.bad) for one in kept} == {(0, 0)}


async def test_where_an_export_is_read_and_once_more_where_it_was_broken_off(tmp_path: Path) -> None:
    for _ in range(2):
        made = await import_store_file(DATA / "store.jsonl.gz", tmp_path / "new", quiet)
        assert made.checked.export.counts.memories == 4
    async with open_container(store=tmp_path / "new") as container:
        kept = [one async for one in (await container.solution_store()).stream_all()]
        assert patterns_by_owner(kept) == OWNED
        (near, *_) = await (await container.solutions("bob")).find_near("Where does Lima lie?", 3)
        assert near.pattern == OWNED["bob"][0]


async def test_what_became_of_them_moves_on(store: Path, tmp_path: Path) -> None:
    exported = await export_store_file(tmp_path / "e.jsonl", store, quiet)
    assert (exported.counts.memories, exported.counts.solutions) == (4, 3)
    assert '"program":' not in "".join(
        line for line in (tmp_path / "e.jsonl").read_text().splitlines() if line.startswith('{"kind":"memory"')
    )
    await import_store_file(tmp_path / "e.jsonl", tmp_path / "new", quiet)
    assert await export_store_file(tmp_path / "again.jsonl", tmp_path / "new", quiet) == exported
    async with open_container(store=tmp_path / "new") as container:
        (near, *_) = await (await container.solutions("ann")).find_near("What is the weather forecast for Lima?", 3)
        assert near.solution.owner == "ann"


async def test_where_a_collection_of_qdrant_is_opened() -> None:
    memories, store = QdrantMemories(QdrantAddress(":memory:")), InMemorySolutions()
    await memories.setup()
    rows = json.loads((DATA / "qdrant.json").read_text())
    await memories.add([read_memory(row)[0] for row in rows])
    for row in rows:  # as that version wrote them
        await memories._set_payload({"body": json.dumps(row, separators=(",", ":"))}, [row["id"]])  # pyright: ignore
    await memories.judge(rows[0]["id"], good=True)
    library = SolutionLibrary(store, InMemoryPatterns(), OnnxEmbedder(), "", Catalogue())
    before = {one.id: one async for one in memories.stream_all()}
    await adopt_programs(memories, library)
    assert patterns_by_owner([one async for one in store.stream_all()]) == OWNED
    assert {one.id: one async for one in memories.stream_all()} == before
    assert await memories.list_legacy(9) == []
    await memories.close()


async def test_programs_of_an_export_want_a_place() -> None:
    (row, *_) = json.loads((DATA / "qdrant.json").read_text())
    memory, program = read_memory(row)
    assert program is not None
    assert (await check_export(DATA / "store.jsonl.gz", quiet)).export.counts.solutions == 0
    with pytest.raises(UnavailableError, match="no place"):
        await CompanionStores().adopt([LegacyMemory(memory, program)])


def test_one_whose_inputs_nothing_names_waits_for_a_person() -> None:
    (row, *_) = json.loads((DATA / "qdrant.json").read_text())
    memory, program = read_memory(row)
    assert program is not None
    asked = memory.model_copy(update={"request": "where does that town lie", "bindings": ()})
    made = build_solution_from_memory(LegacyMemory(asked, program))
    assert (made.patterns, made.suspended) == (("where does that town lie",), UNNAMED_INPUTS_REASON)


def test_an_input_is_found_by_its_looks_where_there_is_one_of_the_kind() -> None:
    def pattern(request: str, **inputs: str) -> str:
        memory = Memory(id="x", request=request, pattern="", path=(), at=datetime.fromtimestamp(0))  # noqa: DTZ006
        plan = ProgramPlan.model_validate(
            {"program": {"text": "1", "tools": {}}, "inputs": {name: {"type": kind} for name, kind in inputs.items()}}
        )
        made = build_solution_from_memory(LegacyMemory(memory, plan))
        return made.patterns[0] if not made.suspended else ""

    assert pattern("The 5 best films of Ann Lee", n="integer", who="string") == "The {n} best films of {who}"
    assert pattern('What is "a b" in Oslo?', text="string") == ""
    assert pattern("From 5 to 6", a="integer", b="integer") == ""
    assert pattern("The 5 best", n="integer", who="string") == ""
