"""An import as two jobs: its files are read and what would come is told, then it is merged into the open store."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import orjson

from domain.errors import UsageError
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.importers.records import Skipped
from graph.ingest import Ingested
from graph.store import GraphStore
from graph.summary import Summary, report
from graph.take_overs import sensitive_changes, with_known
from graph.transfer.importing import check_export
from server.data.import_preview import FIRST, Preview
from server.data.import_reading import read_import
from server.data.imports import Imports, documents
from server.jobs.kinds import JobInHand
from server.runs.agents import Agents
from wiring.build import BuildOptions, build_open
from wiring.transfer import import_open

READING, IMPORT = "import-reading", "import"
_AT_ONCE = 500


async def read_files(agents: Agents, imports: Imports, hand: JobInHand) -> JsonObject:
    """Read in a process of its own, then compared with what the store has: nothing is changed."""
    name = str(hand.job.wanted["import"])
    wanted, files = await asyncio.to_thread(imports.wanted, name)
    out = await asyncio.to_thread(imports.out, name)
    found = await read_import(files, out, hand.progress, wanted.server)
    container = await agents.whole()
    hand.progress("compare", 0, found.tools)
    compared = await _compared(out, container.graph, hand, found.tools)
    report_of = partial(_reading_report, imports, name, found, compared)
    await asyncio.to_thread(report_of)
    hand.say(f"{found.tools:,} tools, {found.trajectories:,} trajectories, {found.calls:,} recorded calls were read.")
    return {"import": name, "preview": found.model_dump(mode="json"), "compared": compared}


async def merge(agents: Agents, imports: Imports, hand: JobInHand) -> JsonObject:
    """Into the open store: tools, records, vectors, words and links. What it has applied already it applies to nothing again.

    Raises:
        ConflictError: its files were not read. UsageError: an export comes into a store that holds something else.
    """
    name = str(hand.job.wanted["import"])
    wanted, _ = await asyncio.to_thread(imports.wanted, name)
    read = await asyncio.to_thread(imports.read, name)
    preview = Preview.model_validate_json(await asyncio.to_thread((read / "preview.json").read_bytes))
    kinds = [one.holds for one in preview.files]
    places = [await asyncio.to_thread(imports.parts, name, number) for number in range(len(wanted.files))]
    container = await agents.whole()
    if "store" in kinds:
        if len(kinds) > 1:
            raise UsageError("an export of a store is imported by itself: import the other files after it")
        checked = await check_export(places[0], hand.progress)
        moved = await import_open(container, places[0], checked, hand.progress)
        return {"import": name, "written": moved.written, "embedded": moved.embedded}
    options = BuildOptions(
        tools=(read,) if "tools" in kinds else (),
        trajectories=tuple(place for place, kind in zip(places, kinds, strict=True) if kind == "trajectories"),
        calls=tuple(place for place, kind in zip(places, kinds, strict=True) if kind == "calls"),
        replace=bool(hand.job.wanted.get("replace")),
        workers=1,
        documents=partial(_documents, kept_out=bool(hand.job.wanted.get("unchecked"))),
    )
    result, summary = await build_open(container, options, hand.progress)
    await asyncio.to_thread(_merged_report, imports, name, result, summary)
    shown = {**summary, "take_overs": summary["take_overs"][:FIRST]}
    figures: JsonObject = orjson.loads(orjson.dumps(shown))
    return {"import": name, "summary": figures, "refused": len(result.refused)}


def _documents(path: Path, server: str, *, kept_out: bool) -> Iterator[ToolDoc | Skipped]:
    del server  # it was known when they were read
    return documents(path, kept_out=kept_out)


async def _compared(out: Path, graph: GraphStore, hand: JobInHand, total: int) -> JsonObject:
    """What the documents would do to what is there. ``taken_over``: those that would make other tools of tools that are there."""
    counts, first, done = Counter[str](), list[str](), 0
    coming = documents(out, kept_out=False)
    while docs := await asyncio.to_thread(
        lambda: [one for one in islice(coming, _AT_ONCE) if isinstance(one, ToolDoc)]
    ):
        there = await graph.get_tools([doc.id for doc in docs])
        for doc in docs:
            old = there.get(doc.id)
            if old is None:
                counts["new"] += 1
            elif changes := sensitive_changes(old, doc):
                counts["taken_over"] += 1
                if len(first) < FIRST:
                    first.append(f"{doc.id}: {'; '.join(map(str, changes))}"[:500])
            else:
                counts["same" if with_known(doc, old, another=False) == old else "changed"] += 1
        done += len(docs)
        hand.progress("compare", done, total)
    return {**{kind: counts[kind] for kind in ("new", "changed", "same", "taken_over")}, "first_taken_over": [*first]}


def _reading_report(imports: Imports, name: str, found: Preview, compared: JsonObject) -> None:
    told = {"preview": found.model_dump(mode="json"), "compared": compared, "left": list(imports.left(name))}
    imports.report(name).write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))


def _merged_report(imports: Imports, name: str, result: Ingested, summary: Summary) -> None:
    known: JsonObject = orjson.loads(imports.report(name).read_bytes())
    told = {**known, **report(result, summary)}
    imports.report(name).write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))
