"""Builds a store from sources: the graph, the recorded responses, the vectors."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from graph.ingest import Count, Ingest, Ingested, Progress, count_here
from graph.names import NameIndex
from graph.sources import Source, read_records, read_tools
from graph.summary import Summary, summarise
from graph.workers import WORTHWHILE_FILES, counting_processes
from wiring.container import Container, open_container
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What to build from what. ``workers`` 0: as many as there are cores, where there is enough to count."""

    tools: tuple[Path, ...] = ()
    trajectories: tuple[Path, ...] = ()
    calls: tuple[Path, ...] = ()
    store: Path | None = None
    server: str = ""
    strict: bool = False
    embed: bool = True
    workers: int = 0


async def build(
    options: BuildOptions, progress: Progress, settings: Settings | None = None
) -> tuple[Ingested, Summary]:
    """Import everything, then index the tools. Interrupted, or run again, it adds what is missing.

    Raises:
        UsageError: a source is not there. BrokenInputError: in strict mode. UnavailableError: the store cannot be used.
    """
    start = perf_counter()
    trajectories, calls = await asyncio.to_thread(_sources, options)
    async with open_container(settings, options.store, create=True) as container:
        recordings = await container.recordings() if calls else None
        ingest = Ingest(container.graph, recordings, progress, strict=options.strict)
        names = await ingest.tools(options.tools, options.server)
        async with _counting(trajectories, names, options.workers) as (count, ahead):
            for source in trajectories:
                await ingest.records(source, names, count, ahead)
        for source in calls:
            await ingest.records(source, names)
        embed_start = perf_counter()
        if options.embed:
            await _embed(container, progress)
        end = perf_counter()
        statistics = await container.graph.statistics()
        embed_seconds = end - embed_start if options.embed else 0.0
        summary = await asyncio.to_thread(summarise, ingest.result, statistics, embed_seconds, end - start)
        return ingest.result, summary


def _sources(options: BuildOptions) -> tuple[list[Source], list[Source]]:
    """Trajectories and calls. Whatever is not there is told before a store is made."""
    for path in options.tools:
        read_tools(path)
    return (
        [read_records(path, "trajectories") for path in options.trajectories],
        [read_records(path, "calls") for path in options.calls],
    )


@asynccontextmanager
async def _counting(sources: list[Source], names: NameIndex, workers: int) -> AsyncGenerator[tuple[Count, int]]:
    """How to count, and how many blocks ahead: in processes where that was asked for, or pays."""
    files = sum(source.files for source in sources)
    workers = workers or (min(os.cpu_count() or 1, 8) if files >= WORTHWHILE_FILES else 1)
    if workers == 1 or not files:
        yield count_here, 1
        return
    async with counting_processes(names, workers) as count:
        yield count, workers + 1


async def _embed(container: Container, progress: Progress) -> None:
    from retriever.indexing import index_tools

    embedder, index, lexical = await container.retrieval()
    total = (await container.graph.statistics()).documents
    await index_tools(
        container.graph.documents(), embedder, index, lexical, lambda done: progress("embed", done, total)
    )
    if container.vectors_on_server:
        from wiring.words import publish

        await publish(container.graph, index, lexical)
