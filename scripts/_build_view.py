"""How a build looks on a terminal: what was left out, then the figures. All on stderr."""

from typing import TYPE_CHECKING

from _progress import console
from rich.table import Table

from agent.execution.secret_store import to_variable_name

if TYPE_CHECKING:
    from domain.tool import ToolId
    from graph.counting import CallCounts
    from graph.import_summary import ImportSummary, ResponseSources
    from graph.importers.records import SkippedInput
    from graph.take_overs import TakeOver, TakeOverListener

SHOWN = 20
"""Skipped records shown on the terminal; the report lists more."""


def show_skipped(skipped: "list[SkippedInput]") -> None:
    """The first of the records that were left out, each with its place."""
    for item in skipped[:SHOWN]:
        console.print(f"skipped {item}", style="yellow", markup=False, soft_wrap=True)
    if len(skipped) > SHOWN:
        console.print(f"… and {len(skipped) - SHOWN} more; --report F lists them", style="yellow", markup=False)


def show_duplicates(ids: "list[ToolId]") -> None:
    """Two tools of one name: the first counts. Told, though nothing is broken."""
    if ids:
        from domain.tool import split_tool_id

        shown = ", ".join("/".join(split_tool_id(tool)) for tool in ids[:3])
        more = f" and {len(ids) - 3} more (--report F lists them)" if len(ids) > 3 else ""
        text = (
            f"{len(ids)} documents left out, each the second, different one of its category, tool set and name: {shown}"
        )
        console.print(text + more, style="yellow", markup=False, soft_wrap=True)


def take_over_lines() -> "TakeOverListener":
    """Shows each document that makes another tool of one that is there, or would, as it is met: whatever becomes of the build, it was told."""
    met = {"refused": 0, "replaced": 0}

    def tell(one: "TakeOver") -> None:
        word = "replaced" if one.replaced else "refused"
        met[word] += 1
        if met[word] <= SHOWN:
            console.print(_printable(f"{word} {one}"), style="red", markup=False, soft_wrap=True)
        if met[word] == SHOWN + 1:
            console.print(f"… and more are {word}; --report F lists them", style="red", markup=False)
        if one.advice and met[word] == 1:
            console.print(
                f"nothing of a refused tool is changed: {one.advice}", style="red", markup=False, soft_wrap=True
            )

    return tell


def _outcomes(calls: "CallCounts") -> str:
    known, read = calls["known"], calls["read"]
    return (
        f"{read:,} read: {calls['ok']:,} succeeded, {known - calls['ok']:,} failed, {read - known:,} of unknown outcome"
    )


def _names(calls: "CallCounts") -> str:
    joined = calls["read"] - calls["unresolved"] - calls["ambiguous"]
    return (
        f"{joined:,} of these are of a known tool, {calls['unresolved']:,} of none, {calls['ambiguous']:,} of several"
    )


def _printable(text: str) -> str:
    """Text of strangers without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def _responses(known: "ResponseSources", tools: int) -> str:
    learnt = f", {known['learnt']:,} of them learnt from answers" if known["learnt"] else ""
    rest = "; the first calls tell the others" if known["unknown"] else ""
    return f"known for {tools - known['unknown']:,} of {tools:,} tools{learnt}{rest}"


def _add_documents(table: Table, summary: "ImportSummary") -> None:
    """What the documents leave open, and what they ask for."""
    known, links = summary["documents"], summary["links"]
    table.add_row("responses", _responses(known["responses"], summary["tools"]))
    filled = f"{links['feeds']:,} from fields of answers to parameters, {links['substitutes']:,} to stand-ins"
    table.add_row("links", filled)
    if addressless := summary["tools"] - known["callable"]:
        table.add_row(
            "no address",
            f"no server is named for {addressless:,} tools, so they cannot be called; build again with --server https://…",
        )
    for name, tools in list(known["secrets"].items())[:SHOWN]:
        table.add_row(
            "key",
            f"{_printable(to_variable_name(name))} for {tools:,} tool{'s' * (tools != 1)}, and {_printable(to_variable_name(name))}_HOSTS for where it may go",
        )


def show_summary(summary: "ImportSummary") -> None:
    """The figures as a table."""
    table = Table(show_header=False, box=None)
    trajectories, calls = summary["trajectories"], summary["calls"]
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in trajectories["dropped"].items()) or "none"
    table.add_row("tools", f"{summary['tools']:,}")
    if summary["tools"]:
        _add_documents(table, summary)
    if trajectories["read"] or calls["read"] or summary["transitions"]:
        table.add_row(
            "trajectories", f"{trajectories['read']:,} read, {trajectories['kept']:,} kept; dropped: {dropped}"
        )
        table.add_row("calls", _outcomes(calls))
        table.add_row("names of calls", _names(calls))
        table.add_row("transitions", f"{summary['transitions']:,}, and {summary['finish_transitions']:,} to Finish")
        table.add_row("records", f"{summary['already']:,} were in the store already, {summary['skipped']:,} skipped")
    table.add_row("seconds", ", ".join(f"{key} {value:.1f}" for key, value in summary["seconds"].items()))
    table.add_row("peak", f"{summary['peak_mb']:.0f} MB")
    console.print(table)
