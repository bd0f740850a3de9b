"""What a process of its own does with a store, for the tests: ``python -m … COMMAND PATH [MORE]``.

``learn NAME N``: learn N runs, printing the key of each once it is acknowledged. ``setup``: set up, and say so.
``apply``: apply one large batch, saying when it begins. ``readonly``: try to set up and to read as a user without rights.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from domain.errors import UnavailableError
from graph.backends.sqlite_graph import SqliteGraph
from tests.support.graph_samples import A, B, batch, walked
from tests.unit.graph.backends.large_batch import large_batch


def say(text: str) -> None:
    print(text, flush=True)


async def learn(path: Path, name: str, runs: str) -> None:
    graph = SqliteGraph(path)
    for run in range(int(runs)):
        key = f"{name} {run}"
        if await graph.learn(walked(key, A, B, decay=1.0)):
            say(key)
    await graph.close()


async def setup(path: Path) -> None:
    graph = SqliteGraph(path)
    await graph.setup()
    say(str(await graph.apply(batch("the same", {(A, B): 1}))))
    await graph.close()


async def apply(path: Path) -> None:
    graph = SqliteGraph(path)
    await graph.setup()
    say("begins")
    await graph.apply(large_batch("large"))
    await graph.close()


async def readonly(path: Path) -> None:
    with tempfile.TemporaryDirectory() as warm:  # imports whatever is imported late, while that is still allowed
        await setup(Path(warm) / "graph.db")
    if os.getuid() == 0:
        os.setuid(65534)
    for work in (SqliteGraph(path).setup(), SqliteGraph(path).get_out_edges(A)):
        try:
            await work
        except UnavailableError as error:
            say(str(error))


if __name__ == "__main__":
    command, path, *more = sys.argv[1:]
    asyncio.run({"learn": learn, "setup": setup, "apply": apply, "readonly": readonly}[command](Path(path), *more))
