"""Makes the fixtures beside this file with the version that kept programs with memories: run from a checkout of commit 8de5aa6 (README.md)."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

import asyncio
import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from agent.learning.learner import learn_from_run
from agent.memory.long_term import LongTermMemory
from domain.memory import MemoryStore
from domain.plan import Binding
from domain.program import Program, ProgramPlan
from domain.trajectory import SolvedRequest
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.support.program_world import code, end, world
from tests.support.small_world import FORECAST, FOUND, GEOCODE, NEW_WEATHER, TOOLS, ScriptedExecutor
from wiring.container import open_container
from wiring.store_transfer import export_store_file

PLACE = 'place = (await search_places(city="Paris"))["results"][0]'
DAYS = 'days = (await get_daily_forecast(latitude=place["latitude"], longitude=place["longitude"]))["days"]'
WARM = SolvedRequest(
    "What is the weather forecast for the days above 3 degrees in Paris?",
    (GEOCODE.id, NEW_WEATHER.id),
    bindings=((Binding(parameter="city", origin="request", reference="Paris"),), ()),
    program=ProgramPlan(
        program=Program(
            text="\n".join(
                (
                    PLACE.replace('"Paris"', "city"),
                    DAYS,
                    "warm = [day for day in days if day['temperature'] > temperature]",
                    '{"answered": "yes", "answer": f"{len(warm)} days, from {days[0][\'date\']}"}',
                )
            ),
            tools={"search_places": GEOCODE.id, "get_daily_forecast": NEW_WEATHER.id},
            arguments={"search_places": {"city": "city"}},
        ),
        inputs={"city": {"type": "string"}, "temperature": {"type": "integer"}},
    ),
)
RUNS = {
    ("ann", "What is the weather forecast for Paris?"): (
        PLACE,
        DAYS,
        '{"answered": "yes", "answer": f"{days[0][\'temperature\']} degrees on {days[0][\'date\']}"}',
    ),
    ("bob", "Where does Oslo lie?"): (
        'place = (await search_places(city="Oslo"))["results"][0]',
        '{"answered": "yes", "answer": f"{place[\'latitude\']}, {place[\'longitude\']}"}',
    ),
}


async def main(folder: Path) -> None:
    """A store with memories of three owners, one without a program, as files, as an export and as points of Qdrant."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        qdrant = QdrantMemories(QdrantAddress(":memory:"))
        await qdrant.setup()
        async with open_container(store=root / "store", create=True) as container:
            await container.graph.put_tools(TOOLS)
            for number, ((owner, request), lines) in enumerate(RUNS.items()):
                executor = ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST)
                async with world(root / str(number), executor, code(*lines)) as made:
                    records = [one.model_copy(update={"run": f"run {number}"}) for one in await made.told(request)]
                assert end(records).outcome == "answered", end(records)
                stores: tuple[MemoryStore, ...] = (await container.memories(), qdrant)
                for store in stores:
                    memory = LongTermMemory(store, container.embedder(), owner)
                    taught = await learn_from_run(records, container.graph, memory)
                    assert taught is not None, request
                    assert taught.remembered, request
            plain = LongTermMemory(await container.memories(), container.embedder())
            await plain.keep_shared([SolvedRequest("How warm is Rome tomorrow?", (GEOCODE.id, NEW_WEATHER.id))])
            for store in (await container.memories(), qdrant):
                await LongTermMemory(store, container.embedder()).keep_shared([WARM])
            await plain.embed()
        await export_store_file(folder / "store.jsonl.gz", root / "store", lambda *told: None, replace=True)
        for gone in ("vectors", "lexical"):
            shutil.rmtree(root / "store" / gone, ignore_errors=True)
        with tarfile.open(folder / "store.tar.xz", "w:xz") as packed:
            packed.add(root / "store", "store")
        found = [one.model_dump(mode="json") async for one in qdrant.stream_all()]
        (folder / "qdrant.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        await qdrant.close()


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(Path(sys.argv[1])))
