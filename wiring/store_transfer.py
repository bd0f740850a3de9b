"""Export of a store to a file, and import from one, whatever back ends the settings name."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agent.solutions.conversion import build_solution_from_memory
from graph.transfer.companion_stores import CompanionStores
from graph.transfer.export_format import ExportCounts
from graph.transfer.store_export import ExportResult, TransferProgress, export_store
from graph.transfer.store_import import CheckedExport, check_export, import_store
from wiring.container import Container, load_settings, open_container
from wiring.links import link
from wiring.settings import Settings
from wiring.snapshot import snapshot
from wiring.store_folder import StoreFolder


@dataclass(frozen=True, slots=True)
class StoreImportResult:
    """Result of an import."""

    checked: CheckedExport
    written: int
    """Items that were not in the store yet."""
    embedded: int | None
    """Number of indexed tools; None where they were not to be indexed."""


async def export_store_file(
    path: Path,
    store: Path | None,
    progress: TransferProgress,
    settings: Settings | None = None,
    *,
    recordings: bool = False,
    replace: bool = False,
) -> ExportResult:
    """Export the store that ``store`` or the settings name, its files as they are at one moment.

    Raises as ``export_store``.
    """
    settings = settings or load_settings()
    folder = StoreFolder(store or settings.store)
    await asyncio.to_thread(folder.open, create=store is None and bool(settings.graph_url))
    async with (
        snapshot(folder, path.parent) as copy,
        open_container(settings.model_copy(update={"store": copy.root}), copy.root if store else None) as container,
    ):
        recording_store = await container.recordings() if recordings and await _has_recordings(container) else None
        companions = await _open_companions(container)
        return await export_store(
            container.graph, recording_store, path, progress, replace=replace, companions=companions
        )


async def import_store_file(
    path: Path, store: Path | None, progress: TransferProgress, settings: Settings | None = None, *, embed: bool = True
) -> StoreImportResult:
    """Check the file, then import it, then index and link its tools.

    Raises as ``check_export`` and ``import_store``.
    """
    checked = await check_export(path, progress)
    async with open_container(settings, store, create=True) as container:
        return await import_into_container(container, path, checked, progress, embed=embed)


async def import_into_container(
    container: Container, path: Path, checked: CheckedExport, progress: TransferProgress, *, embed: bool = True
) -> StoreImportResult:
    """Import into a store that is open, while others use it. Raises as ``import_store``."""
    needs_recordings = checked.export.counts.batches or await _has_recordings(container)
    recordings = await container.recordings() if needs_recordings else None
    companions = await _open_companions(container, checked.export.counts)
    written = await import_store(path, checked, container.graph, recordings, progress, companions)
    embedded = await _index(container, progress) if embed else None
    if embed and companions.memories is not None:
        await (await container.memory()).embed(lambda done: progress("memories", done, None))
    if embed and companions.solutions is not None:
        await (await container.solutions()).embed(lambda done: progress("solutions", done, None))
    async with container.change_lock:
        await link(container, lambda done, total: progress("links", done, total), embedded=embed)
    return StoreImportResult(checked, written, embedded)


async def _open_companions(container: Container, counts: ExportCounts | None = None) -> CompanionStores:
    """Open the stores beside the graph that exist already, or that ``counts`` needs."""
    folder, counts = container.folder, counts or ExportCounts()
    memories = container.vectors_on_server or counts.memories or await asyncio.to_thread(folder.memories.exists)
    needs_flows = counts.flow_keys or counts.flows or await asyncio.to_thread(folder.flows.exists)
    flows = container.graph_on_server or needs_flows
    library = await container.solutions("")
    return CompanionStores(
        await container.memories() if memories else None,
        await container.flows() if flows else None,
        await container.solution_store(),
        lambda earlier: library.add_unembedded([build_solution_from_memory(one) for one in earlier]),
    )


async def _has_recordings(container: Container) -> bool:
    return await asyncio.to_thread(container.folder.recordings.exists)


async def _index(container: Container, progress: TransferProgress) -> int:
    from wiring.indexing import index_documents

    return await index_documents(container, progress)
