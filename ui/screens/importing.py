"""Imports: files are chosen and read, what would come is told, and then it is merged."""

from typing import cast

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.data import ImportedTools, begin_import, merge, report, upload
from ui.jobs import Job, jobs
from ui.language import listing, message, number, say, say_count
from ui.screens.job import followed
from ui.screens.tables import table
from ui.screens.telling import told
from ui.texts import unmarked

_HOLDS = {
    "": message("whatever they hold"),
    "tools": message("tools"),
    "trajectories": message("trajectories"),
    "calls": message("recorded calls"),
    "store": message("an export of a store"),
}
_TYPES = ["json", "jsonl", "yaml", "yml", "csv", "gz", "zip"]
_MIB = 200


def importing(client: Client) -> None:
    """The last import first, while it is not merged; below it a new one."""
    read, merged = jobs(client, "import-reading", limit=1), jobs(client, "import", limit=1)
    going_on = any(one.open for one in (*read, *merged))
    if merged and (not read or merged[0].created_at > read[0].created_at):
        _merged(client, merged[0])
    elif read:
        _read(client, read[0])
    if not going_on:
        _new(client)


def _new(client: Client) -> None:
    st.subheader(say("Import files"))
    st.caption(
        say(
            "OpenAPI documents, tools and trajectories as ToolBench or JSONL has them, recorded calls, exports of a store; a folder as a zip file. They are read first, and nothing is changed by that."
        )
    )
    st.caption(
        say(
            "What is imported is offered to everybody at once. Of the admission check, only the part about documents is made; nothing is called. An API that nobody knows yet is better added under *Sources*, where the whole admission check is made."
        )
    )
    files = st.file_uploader(
        say("Files"), type=_TYPES, accept_multiple_files=True, key="import-files", max_upload_size=_MIB
    )
    left, right = st.columns(2)
    holds = left.selectbox(say("They hold"), list(_HOLDS), format_func=lambda one: say(_HOLDS[one]), key="import-holds")
    server = right.text_input(
        say("Address of their server, where a document has none"), max_chars=500, key="import-server"
    )
    if st.button(
        say("Read them"), type="primary", icon=":material/upload_file:", key="import-read", disabled=not files
    ) and told(
        lambda: begin_import(
            client, [(upload(client, one.name, one.getvalue()).id, holds) for one in files], server.strip()
        )
    ):
        st.rerun()


def _read(client: Client, one: Job) -> None:
    st.subheader(say("What would come"))
    names = cast("list[str]", one.wanted.get("files") or [])
    st.caption(unmarked(", ".join(map(str, names))))
    if followed(client, one) or one.result is None:
        return
    preview, compared = _part(one.result, "preview"), _part(one.result, "compared")
    _counts(preview, compared)
    _tools(ImportedTools.model_validate(compared))
    for title, part in (
        (say("Left out"), "first_skipped"),
        (say("Kept out by the admission check of documents"), "first_kept_out"),
    ):
        _left(title, cast("list[JsonObject]", preview.get(part) or []), _int(preview, part.removeprefix("first_")))
    if over := cast("list[str]", compared.get("first_taken_over") or []):
        with st.expander(
            say("{count:,} would make other tools of those that are there", count=_int(compared, "taken_over"))
        ):
            table([{say("Tool and what changes"): text} for text in over])
    _merging(client, str(one.result["import"]), preview, compared)


def _counts(preview: JsonObject, compared: JsonObject) -> None:
    counts = {
        say("New tools"): _int(compared, "new"),
        say("Changed tools"): _int(compared, "changed"),
        say("Known already"): _int(compared, "same"),
        say("Trajectories"): _int(preview, "trajectories"),
        say("Recorded calls"): _int(preview, "calls"),
        say("Left out"): _int(preview, "skipped"),
        say("Kept out"): _int(preview, "kept_out"),
    }
    with st.container(horizontal=True):
        for label, count in counts.items():
            st.metric(label, number(count))
    told: list[str] = []
    if changing := _int(preview, "changing"):
        told.append(say_count("1 tool changes something", "{count:,} tools change something", changing))
    if without := _int(preview, "without_address"):
        told.append(say("{count:,} have no address, so that they can never be called", count=without))
    if items := _int(preview, "items"):
        told.append(say("{count:,} items of an export", count=items))
    st.caption(unmarked(" · ".join(told)))


def _tools(found: ImportedTools) -> None:
    """Those that come, or came, by the APIs that they are of, each with the names of the first."""
    if not found.first:
        return
    st.markdown(
        say(
            "{new:,} new and {changed:,} changed tools of {apis}:",
            new=found.new,
            changed=found.changed,
            apis=say_count("1 API", "{count:,} APIs", found.apis),
        )
    )
    table(
        [
            {
                say("API"): one.api,
                say("New"): number(one.new),
                say("Changed"): number(one.changed),
                say("Tools"): _names(one.names, one.new + one.changed),
            }
            for one in found.first
        ]
    )
    if more := found.apis - len(found.first):
        st.caption(say_count("… 1 API more", "… {count:,} APIs more", more))


def _names(names: list[str], count: int) -> str:
    """The names of the first of ``count`` tools, and how many more there are."""
    told = listing(names)
    return f"{told} {say('and {count} more', count=count - len(names))}" if count > len(names) else told


def _left(title: str, rows: list[JsonObject], count: int) -> None:
    if not rows:
        return
    with st.expander(f"{title}: {number(count)}"):
        table(
            [
                {
                    say("File"): str(row.get("file", "")),
                    say("Line"): str(row.get("line") or "–"),
                    say("Tool"): str(row.get("tool") or "–"),
                    say("Why"): str(row.get("why", "")),
                }
                for row in rows
            ]
        )


def _merging(client: Client, name: str, preview: JsonObject, compared: JsonObject) -> None:
    replace = unchecked = False
    reason = ""
    if _int(compared, "taken_over"):
        replace = st.checkbox(
            say("Let these documents make other tools of those that are there"), key=f"replace-{name}"
        )
    if _int(preview, "kept_out"):
        unchecked = st.checkbox(say("Import what the admission check keeps out, too"), key=f"unchecked-{name}")
        if unchecked:
            reason = st.text_input(say("Why? It stands in the audit log"), max_chars=500, key=f"reason-{name}")
    backup = st.checkbox(
        say("Back up the server first"),
        True,
        key=f"backup-{name}",
        help=say("An import cannot be undone otherwise: the backup is the way back."),
    )
    with st.container(horizontal=True):
        if st.button(say("Merge into the store"), type="primary", icon=":material/merge:", key="import-merge") and told(
            lambda: merge(client, name, replace=replace, unchecked=unchecked, reason=reason, backup=backup)
        ):
            st.rerun()
        _report(client, name)


def _merged(client: Client, one: Job) -> None:
    st.subheader(say("The last import"))
    if followed(client, one) or one.result is None:
        return
    summary = _part(one.result, "summary")
    if summary:
        counted = say(
            "The store has {tools:,} tools now. {already:,} records were known already; {refused:,} documents were refused.",
            tools=_int(summary, "tools"), already=_int(summary, "already"), refused=_int(one.result, "refused"),
        )  # fmt: skip
        st.success(unmarked(counted))
    else:
        st.success(say("{count:,} items were written.", count=_int(one.result, "written")))
    _tools(ImportedTools.model_validate(_part(one.result, "tools")))
    _way_back(str(one.result.get("backup") or ""))
    _report(client, str(one.result["import"]))


def _way_back(backup: str) -> None:
    """The backup that was made before the import, and what becomes of the server with it."""
    if not backup:
        st.caption(say("No backup was made before it, so it can only be undone with an older one: see *Backups*."))
        return
    st.caption(
        unmarked(
            say(
                "To undo it, restore the backup {name} under *Backups*: it was made right before. All that was done and learnt since goes with it.",
                name=backup,
            )
        )
    )


def _report(client: Client, name: str) -> None:
    st.download_button(
        say("Report"), lambda: report(client, name), file_name="import.json", mime="application/json", icon=":material/download:",
        key=f"report-{name}", on_click="ignore",
    )  # fmt: skip


def _part(of: JsonObject, name: str) -> JsonObject:
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def _int(of: JsonObject, name: str) -> int:
    found = of.get(name)
    return found if isinstance(found, int) else 0
