"""An import as two jobs: its files are read and what would come is told, then it is merged into the open store."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import orjson

from domain.errors import UsageError
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.import_summary import ImportSummary, build_report
from graph.importers.records import SkippedInput
from graph.ingest import ImportResult
from graph.store import GraphStore
from graph.transfer.store_import import check_export
from server.data.import_preview import FIRST, Preview
from server.data.import_reading import read_import
from server.data.import_tools import ImportedTools, added_tools, imported_tools
from server.data.imports import Imports, documents
from server.jobs.kinds import JobInHand
from server.runs.agent_runtime import AgentRuntime
from wiring.store_build import BuildOptions, build_in_container
from wiring.store_transfer import import_into_container

READING, IMPORT = "import-reading", "import"
BackUp = Callable[[JobInHand], Awaitable[JsonObject]]
"""Makes the backup of a job, once however often it is asked, and names it as ``backup``."""


async def read_files(agents: AgentRuntime, imports: Imports, hand: JobInHand) -> JsonObject:
    """Read in a process of its own, then compared with what the store has: nothing is changed."""
    name = str(hand.job.wanted["import"])
    wanted, files = await asyncio.to_thread(imports.wanted, name)
    out = await asyncio.to_thread(imports.out, name)
    found = await read_import(files, out, hand.progress, wanted.server)
    container = await agents.get_full_container()
    hand.progress("compare", 0, found.tools)
    coming = await imported_tools(
        documents(out, kept_out=False), container.graph, partial(_compared, hand, found.tools)
    )
    compared: JsonObject = coming.model_dump(mode="json")
    report_of = partial(_reading_report, imports, name, found, compared)
    await asyncio.to_thread(report_of)
    hand.say(f"{found.tools:,} tools, {found.trajectories:,} trajectories, {found.calls:,} recorded calls were read.")
    return {"import": name, "preview": found.model_dump(mode="json"), "compared": compared}


async def merge(agents: AgentRuntime, imports: Imports, back_up: BackUp, hand: JobInHand) -> JsonObject:
    """Into the open store: tools, records, vectors, words and links. What it has applied already it applies to nothing again. ``back_up`` is asked
    first, where a backup is wanted: to restore it is the way back.

    Raises:
        ConflictError: its files were not read. UsageError: an export comes into a store that holds something else.
    """
    name = str(hand.job.wanted["import"])
    wanted, _ = await asyncio.to_thread(imports.wanted, name)
    read = await asyncio.to_thread(imports.read, name)
    preview = Preview.model_validate_json(await asyncio.to_thread((read / "preview.json").read_bytes))
    kinds = [one.holds for one in preview.files]
    places = [await asyncio.to_thread(imports.parts, name, number) for number in range(len(wanted.files))]
    if "store" in kinds and len(kinds) > 1:
        raise UsageError("an export of a store is imported by itself: import the other files after it")
    container = await agents.get_full_container()
    backup = (await back_up(hand))["backup"] if hand.job.wanted.get("backup") else ""
    if "store" in kinds:
        before = frozenset([doc.id async for doc in container.graph.stream_documents()])
        checked = await check_export(places[0], hand.progress)
        moved = await import_into_container(container, places[0], checked, hand.progress)
        added = (await added_tools(container.graph, before)).model_dump(mode="json")
        return {
            "import": name, "backup": backup, "tools": added, "written": moved.written, "embedded": moved.embedded,
        }  # fmt: skip
    unchecked = bool(hand.job.wanted.get("unchecked"))
    coming = await _coming(imports, name, container.graph, hand, unchecked=unchecked)
    options = BuildOptions(
        tools=(read,) if "tools" in kinds else (),
        trajectories=tuple(place for place, kind in zip(places, kinds, strict=True) if kind == "trajectories"),
        calls=tuple(place for place, kind in zip(places, kinds, strict=True) if kind == "calls"),
        replace=bool(hand.job.wanted.get("replace")),
        workers=1,
        documents=partial(_documents, kept_out=unchecked),
    )
    result, summary = await build_in_container(container, options, hand.progress)
    await asyncio.to_thread(_merged_report, imports, name, result, summary)
    shown = {**summary, "take_overs": summary["take_overs"][:FIRST]}
    figures: JsonObject = orjson.loads(orjson.dumps(shown))
    tools = coming.model_dump(mode="json")
    return {"import": name, "backup": backup, "tools": tools, "summary": figures, "refused": len(result.refused)}


def _documents(path: Path, server: str, *, kept_out: bool) -> Iterator[ToolDoc | SkippedInput]:
    del server  # it was known when they were read
    return documents(path, kept_out=kept_out)


async def _coming(imports: Imports, name: str, graph: GraphStore, hand: JobInHand, *, unchecked: bool) -> ImportedTools:
    """The tools that a merge brings, told before it changes anything; by a job that was begun before, as they were then."""
    kept = imports.coming(name, hand.job.id)
    if await asyncio.to_thread(kept.is_file):
        return ImportedTools.model_validate_json(await asyncio.to_thread(kept.read_bytes))
    read = await asyncio.to_thread(imports.read, name)
    tell = partial(_compared, hand, None)
    found = await imported_tools(
        documents(read, kept_out=unchecked), graph, tell, replace=bool(hand.job.wanted.get("replace"))
    )
    await asyncio.to_thread(kept.write_text, found.model_dump_json(), encoding="utf-8")
    return found


def _compared(hand: JobInHand, total: int | None, done: int) -> None:
    hand.progress("compare", done, total)


def _reading_report(imports: Imports, name: str, found: Preview, compared: JsonObject) -> None:
    told = {"preview": found.model_dump(mode="json"), "compared": compared, "left": list(imports.left(name))}
    imports.report(name).write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))


def _merged_report(imports: Imports, name: str, result: ImportResult, summary: ImportSummary) -> None:
    known: JsonObject = orjson.loads(imports.report(name).read_bytes())
    told = {**known, **build_report(result, summary)}
    imports.report(name).write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))
