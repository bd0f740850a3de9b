"""Transfer of stores: to files and back, between all back ends that the settings can name."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agent.solutions.from_memory import solution_of
from graph.transfer.companion_stores import CompanionStores
from graph.transfer.exporting import Exported, Progress, export_store
from graph.transfer.importing import Checked, check_export, import_store
from graph.transfer.lines import Counts
from wiring.container import Container, open_container, told_settings
from wiring.layout import StoreFolder
from wiring.links import link
from wiring.settings import Settings
from wiring.snapshot import snapshot


@dataclass(frozen=True, slots=True)
class Imported:
    """Result of an import."""

    checked: Checked
    written: int
    """Items that were not in the store yet."""
    embedded: int | None
    """Number of indexed tools; None where they were not to be indexed."""


async def export_to(
    path: Path,
    store: Path | None,
    progress: Progress,
    settings: Settings | None = None,
    *,
    recordings: bool = False,
    replace: bool = False,
) -> Exported:
    """Export the store that ``store`` or the settings name, its files as they are at one moment.

    Raises as ``export_store``.
    """
    settings = settings or told_settings()
    folder = StoreFolder(store or settings.store)
    await asyncio.to_thread(folder.open, create=store is None and bool(settings.graph_url))
    async with (
        snapshot(folder, path.parent) as copy,
        open_container(settings.model_copy(update={"store": copy.root}), copy.root if store else None) as container,
    ):
        kept = await container.recordings() if recordings and await _has_recordings(container) else None
        companions = await _companions(container)
        return await export_store(container.graph, kept, path, progress, replace=replace, companions=companions)


async def import_from(
    path: Path, store: Path | None, progress: Progress, settings: Settings | None = None, *, embed: bool = True
) -> Imported:
    """Check the file, then import it, then index and link its tools.

    Raises as ``check_export`` and ``import_store``.
    """
    checked = await check_export(path, progress)
    async with open_container(settings, store, create=True) as container:
        return await import_open(container, path, checked, progress, embed=embed)


async def import_open(
    container: Container, path: Path, checked: Checked, progress: Progress, *, embed: bool = True
) -> Imported:
    """Import into a store that is open, while others use it. Raises as ``import_store``."""
    wanted = checked.export.counts.batches or await _has_recordings(container)
    recordings = await container.recordings() if wanted else None
    companions = await _companions(container, checked.export.counts)
    written = await import_store(path, checked, container.graph, recordings, progress, companions)
    embedded = await _indexed(container, progress) if embed else None
    if embed and companions.memories is not None:
        await (await container.memory()).embed(lambda done: progress("memories", done, None))
    if embed and companions.solutions is not None:
        await (await container.solutions()).embed(lambda done: progress("solutions", done, None))
    async with container.changing:
        await link(container, lambda done, total: progress("links", done, total), embedded=embed)
    return Imported(checked, written, embedded)


async def _companions(container: Container, wanted: Counts | None = None) -> CompanionStores:
    """Open the stores beside the graph that exist already, or that ``wanted`` needs."""
    folder, wanted = container.folder, wanted or Counts()
    memories = container.vectors_on_server or wanted.memories or await asyncio.to_thread(folder.memories.exists)
    counted = wanted.flow_keys or wanted.flows or await asyncio.to_thread(folder.flows.exists)
    flows = container.graph_on_server or counted
    library = await container.solutions("")
    return CompanionStores(
        await container.memories() if memories else None,
        await container.flows() if flows else None,
        await container.solution_store(),
        lambda earlier: library.keep([solution_of(one) for one in earlier]),
    )


async def _has_recordings(container: Container) -> bool:
    return await asyncio.to_thread(container.folder.recordings.exists)


async def _indexed(container: Container, progress: Progress) -> int:
    from wiring.indexing import index_documents

    return await index_documents(container, progress)
