"""Build of a store from sources: the graph, the recorded responses, the vectors, the links."""

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from agent.execution.supplied_values import find_required_secrets
from agent.memory.long_term import LongTermMemory
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from graph.counting_pool import WORTHWHILE_FILES, open_counting_pool
from graph.dataflow import FlowStore
from graph.function_names import NameIndex
from graph.import_summary import ImportSummary, StepSeconds, summarise_import, survey_documents
from graph.ingest import (
    CountBlock,
    GraphImporter,
    ImportProgress,
    ImportResult,
    ReadDocuments,
    RememberSolved,
    SpreadBlocks,
    count_in_thread,
)
from graph.input_files import RecordSource, read_records, read_tools
from graph.take_overs import ForgetTools, ImportAdmission, TakeOverListener
from wiring.container import Container, open_container
from wiring.encoders import SETTINGS
from wiring.links import link
from wiring.settings import Settings, read_settings
from wiring.source_fetch import fetch_sources, is_address

if TYPE_CHECKING:
    from wiring.cluster import RayCluster


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Sources of a build, and how they are imported."""

    tools: tuple[Path | str, ...] = ()
    """Files and folders, and addresses (http, https) that documents are fetched from through the guard."""
    trajectories: tuple[Path, ...] = ()
    """Files of recorded runs."""
    calls: tuple[Path, ...] = ()
    """Files of recorded calls."""
    store: Path | None = None
    """Folder of the store; None for the store that the settings name."""
    server: str = ""
    """Base URL for OpenAPI documents whose servers are relative."""
    strict: bool = False
    """Raise for input that cannot be read, instead of skipping it."""
    replace: bool = False
    """Documents may turn existing tools into other tools."""
    embed: bool = True
    """Index the imported tools."""
    workers: int = 0
    """Number of processes that count; 0: as many as there are cores, where there is enough to count."""
    ray: str = ""
    """Address of a Ray cluster that counts the files and embeds the documents instead."""
    documents: ReadDocuments = read_tools
    """Reads the documents of ``tools``."""


async def build(
    options: BuildOptions,
    progress: ImportProgress,
    settings: Settings | None = None,
    *,
    on_take_over: TakeOverListener | None = None,
) -> tuple[ImportResult, ImportSummary]:
    """Import everything, then index the tools, then link them. Interrupted, or run again, it adds what is missing.

    ``on_take_over`` is called for each document that would turn an existing tool into another one.

    Raises:
        UsageError: a source is not there.
        BrokenInputError: in strict mode.
        UnavailableError: the store cannot be used.
    """
    start = perf_counter()
    await asyncio.to_thread(_read_sources, options)
    async with fetch_sources(settings or read_settings(), options.tools) as (paths, fetched):
        if paths != options.tools:
            options = replace(options, tools=paths, documents=fetched.read)
        async with (
            _join_cluster(options.ray) as cluster,
            open_container(settings, options.store, create=True) as container,
        ):
            return await build_in_container(
                container, options, progress, on_take_over=on_take_over, cluster=cluster, started_at=start
            )


async def build_in_container(
    container: Container,
    options: BuildOptions,
    progress: ImportProgress,
    *,
    on_take_over: TakeOverListener | None = None,
    cluster: "RayCluster | None" = None,
    started_at: float | None = None,
) -> tuple[ImportResult, ImportSummary]:
    """Build into a store that is open, while others use it. Raises as :func:`build`."""
    start = perf_counter() if started_at is None else started_at
    trajectories, calls = await asyncio.to_thread(_read_sources, options)
    recordings = await container.recordings() if calls else None
    memory = await container.memory()
    importer = GraphImporter(
        container.graph,
        recordings,
        progress,
        strict=options.strict,
        remember=_create_solved_recorder(memory, await container.flows()),
        admission=ImportAdmission(container.graph, options.replace, create_forgetter(container), on_take_over),
        documents=options.documents,
    )
    name_index = await importer.import_tools([Path(source) for source in options.tools], options.server)
    async with _open_counter(trajectories, name_index, 1 if cluster else options.workers) as (count, ahead):
        for source in trajectories:
            await importer.import_records(
                source, name_index, count, ahead, _create_cluster_spreader(cluster, source, name_index)
            )
    for source in calls:
        await importer.import_records(source, name_index)
    embed_start = perf_counter()
    if options.embed:
        await _embed_documents(container, progress, cluster)
        await memory.embed(lambda done: progress("memories", done, None))
    embed_seconds = perf_counter() - embed_start if options.embed else 0.0
    async with container.change_lock:
        linked = await link(container, lambda done, total: progress("links", done, total), embedded=options.embed)
    statistics = await container.graph.compute_statistics()
    times = StepSeconds(embed_seconds, linked.seconds, perf_counter() - start)
    documents = await survey_documents(container.graph.stream_documents(), find_required_secrets)
    summary = await asyncio.to_thread(summarise_import, importer.result, statistics, linked.counts, documents, times)
    return importer.result, summary


def _read_sources(options: BuildOptions) -> tuple[list[RecordSource], list[RecordSource]]:
    """Return the sources of trajectories and of calls. A missing source is reported before a store is created."""
    for source in options.tools:
        if not is_address(source):
            options.documents(Path(source), options.server)
    return (
        [read_records(path, "trajectories") for path in options.trajectories],
        [read_records(path, "calls") for path in options.calls],
    )


def _create_solved_recorder(memory: LongTermMemory, flows: FlowStore) -> RememberSolved:
    """Return a function that learns from solved requests.

    They teach which tools serve such a request, and where arguments come from.
    """

    async def remember_solved(key: str, solved: Sequence[SolvedRequest]) -> None:
        await flows.add(key, [taken for request in solved for taken in request.taken])
        await memory.keep_shared(solved)

    return remember_solved


def create_forgetter(container: Container) -> ForgetTools:
    """Return a function that forgets the data outside the graph of tools that have become other tools."""

    async def forget(tools: Collection[ToolId]) -> None:
        if await asyncio.to_thread(container.folder.recordings.exists):
            await (await container.recordings()).forget(tools)
        await (await container.flows()).forget(tools)
        await (await container.memories()).reset_judgements(tools)

    return forget


@asynccontextmanager
async def _open_counter(
    sources: list[RecordSource], names: NameIndex, workers: int
) -> AsyncGenerator[tuple[CountBlock, int]]:
    """Yield the function that counts, and how many blocks ahead it works: in processes where wanted or worthwhile."""
    files = sum(source.files for source in sources)
    workers = workers or (min(os.cpu_count() or 1, 8) if files >= WORTHWHILE_FILES else 1)
    if workers == 1 or not files:
        yield count_in_thread, 1
        return
    async with open_counting_pool(names, workers) as count:
        yield count, workers + 1


@asynccontextmanager
async def _join_cluster(address: str) -> "AsyncGenerator[RayCluster | None]":
    """Join the cluster first: where none answers, nothing is begun."""
    if not address:
        yield None
        return
    from wiring.cluster import open_cluster

    async with open_cluster(address) as cluster:
        yield cluster


def _create_cluster_spreader(
    cluster: "RayCluster | None", source: RecordSource, names: NameIndex
) -> SpreadBlocks | None:
    """Return the function that sends search trees to the cluster. Lines are cheaper to count than to send."""
    if cluster is None or not source.files:
        return None
    from wiring.cluster import create_block_spreader

    return create_block_spreader(cluster, names)


async def _embed_documents(container: Container, progress: ImportProgress, cluster: "RayCluster | None") -> None:
    """Embed on the cluster where possible, then index here.

    Vectors from the cluster are recognised by their digests; the rest of the work is local. An embedding service is
    called from here only: it does the work itself, and its key leaves this machine for nobody else.
    """
    from wiring.indexing import index_documents

    if cluster is not None and await _uses_settings_encoder(container) and container.settings.embedder == "bundled":
        from wiring.cluster import embed_on_cluster

        await embed_on_cluster(cluster, container, progress)
    await index_documents(container, progress)


async def _uses_settings_encoder(container: Container) -> bool:
    """Return whether the encoder in use is that of the settings, the only one that the nodes of a cluster know."""
    settings_embedder = await container.encoders.get_embedder(SETTINGS)
    return (await container.encoders.get_current_vectors()).identity == settings_embedder.identity
