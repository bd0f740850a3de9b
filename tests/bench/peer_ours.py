"""What Footpath offers for requests, in a process of its own, so that time and memory compare with those of ``peer_theirs``.

``{"step": "build", "store": FOLDER, "documents": [files], "trajectories": [files]}``, then ``{"step": "ask", "store": FOLDER, "requests": [...], "sizes": [5, 16]}``.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from footpath import AsyncFootpath
from wiring.container import open_container

WAYS = ("offer", "find")


def peak_mb() -> float:
    """Of this process alone: what is told of its resources begins with the size of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def main() -> None:
    """One step."""
    asked = json.loads(sys.stdin.read())
    store = Path(asked["store"])
    began = time.process_time()
    if asked["step"] == "build":
        await AsyncFootpath.build(store, asked["documents"], asked["trajectories"])
        print(json.dumps({"seconds": time.process_time() - began, "peak_mb": peak_mb()}))
        return
    async with open_container(store=store) as container:
        footpath = AsyncFootpath(container)
        await footpath.offer("anything", 16)  # whatever is made at the first request belongs to opening
        seconds = time.process_time() - began
        ways = {way: await _asked(footpath, way, asked["requests"], asked["sizes"]) for way in WAYS}
        told = {str(one.id): f"{one.method} {one.url}" async for one in container.graph.stream_documents()}
    print(json.dumps({"tools": told, "ways": ways, "seconds": seconds, "peak_mb": peak_mb()}))


async def _asked(footpath: AsyncFootpath, way: str, requests: list[str], sizes: list[int]) -> list[dict[str, Any]]:
    """Of each request what is offered at each size; the largest, asked first, is timed: the others find the request read."""
    rows: list[dict[str, Any]] = []
    for request in requests:
        row: dict[str, Any] = {}
        for size in sorted(sizes, reverse=True):
            began = time.process_time()
            tools, characters = await _offered(footpath, way, request, size)
            row.setdefault("seconds", time.process_time() - began)
            row[str(size)] = {"tools": tools, "characters": characters}
        rows.append(row)
    return rows


async def _offered(footpath: AsyncFootpath, way: str, request: str, size: int) -> tuple[list[str], int]:
    """Ids, best first, and the length of what a model is given of them."""
    if way == "find":
        found = [str(one.id) for one in await footpath.find(request, size)]
        return found, sum([len((await footpath.tool(one)).signature) for one in found])
    offer = await footpath.offer(request, size)
    return [str(one.id) for one in offer.tools], len(offer.text)


if __name__ == "__main__":
    asyncio.run(main())
