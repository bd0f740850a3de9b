"""What a server has, in figures."""

from collections.abc import Sequence

import streamlit as st

from ui.client import Client
from ui.data import Availabilities, Count, Edges, Place, Statistics, Tools, statistics
from ui.language import message, number, say
from ui.screens.tables import table
from ui.source_words import when
from ui.texts import unmarked

_KEPT = {
    "recorded_calls": message("Recorded calls"),
    "memories": message("Memories"),
    "solutions": message("Solutions"),
    "templates": message("Templates"),
    "users": message("Users"),
    "conversations": message("Conversations"),
    "runs": message("Runs"),
    "sources": message("Sources"),
    "waiting_lessons": message("Lessons waiting for a store"),
}
_EFFECTS = {
    "reads": message("only read"),
    "changes": message("change something"),
    "unknown": message("may change something"),
}
_MARKS = {"pin": message("pinned"), "mute": message("muted"), "ban": message("banned")}
_KINDS = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "neo4j": "Neo4j",
    "qdrant": "Qdrant",
    "embedded": message("Qdrant, in files"),
}
_PLOTTED = 12


def figures(client: Client) -> None:
    """Sums first, then what they are made of."""
    anew = st.button(say("Count again"), icon=":material/refresh:", key="count-again")
    with st.spinner(say("Counting…")):
        found = statistics(client, anew=anew)
    st.caption(say("As of {when}.", when=when(found.at)))
    for name, why in found.missing.items():
        st.warning(say("{what} is missing: {why}", what=unmarked(name), why=unmarked(why)))
    _sums(found)
    if found.tools is not None:
        _tools(found.tools)
    if found.edges is not None:
        _edges(found.edges)
    if found.availability is not None:
        _availability(found.availability)
    _places(found)


def _sums(found: Statistics) -> None:
    sums = {say("Tools"): found.tools.total} if found.tools else {}
    sums |= {say(label): found.kept[name] for name, label in _KEPT.items() if name in found.kept}
    with st.container(horizontal=True):
        for label, count in sums.items():
            st.metric(label, number(count))


def _tools(tools: Tools) -> None:
    st.subheader(say("Tools"))
    if not tools.total:
        st.info(say("There is no tool yet: import some, or add an API under *Sources*."))
        return
    told = [f"{number(count)} {say(_EFFECTS.get(kind, kind))}" for kind, count in sorted(tools.effects.items())]
    told.append(say("{count:,} have an address that they can be called at", count=tools.callable))
    st.caption(unmarked(" · ".join(told)))
    for title, counts in ((say("By category"), tools.categories), (say("By source"), tools.sources)):
        _counts(title, counts)


def _counts(title: str, counts: Sequence[Count]) -> None:
    st.markdown(f"**{title}**")
    named = [(one.name or say("all others"), one.count) for one in counts]
    shown = named[:_PLOTTED]
    points = {
        (of := say("of what")): [name[:60] for name, _ in shown],
        (many := say("tools")): [count for _, count in shown],
    }
    st.bar_chart(points, x=of, y=many, x_label="", horizontal=True, sort=False, height=70 + 26 * len(shown), alt=title)  # pyright: ignore[reportUnknownMemberType]
    if len(named) > _PLOTTED:
        with st.expander(say("{title}: all {count}", title=title, count=len(named))):
            table([{"": name, say("Tools"): number(count)} for name, count in named])


def _edges(edges: Edges) -> None:
    st.subheader(say("Ways between tools"))
    rows = [
        (say("called one after the other, in imported records alone"), edges.imported),
        (say("called one after the other, in runs alone"), edges.live),
        (say("called one after the other, in both"), edges.both),
        (say("of these, ways that end"), edges.finish),
        *(
            (say("{mark} by administrators", mark=say(_MARKS.get(mark, mark))), count)
            for mark, count in edges.marks.items()
        ),
        (say("fields of answers that fill parameters"), edges.feeds),
        (say("tools that can stand in for another"), edges.substitutes),
        (say("tools whose links are not computed yet"), edges.pending),
    ]
    table([{say("What"): what, say("How many"): number(count)} for what, count in rows])


def _availability(found: Availabilities) -> None:
    st.subheader(say("Availability"))
    st.caption(say("The chance that a call of a tool succeeds. Untested: {count:,}", count=found.untested))
    if not sum(found.tenths):
        st.info(say("No tool has been called yet."))
        return
    at = [f"{place / 10:.1f}–{(place + 1) / 10:.1f}" for place in range(10)]
    points = {(of := say("chance")): at, (many := say("tools")): found.tenths}
    st.bar_chart(points, x=of, y=many, sort=False, height=200, alt=say("How many tools have which availability"))  # pyright: ignore[reportUnknownMemberType]


def _places(found: Statistics) -> None:
    st.subheader(say("Where it lies"))
    parts = ((say("Database"), found.database), (say("Graph"), found.graph), (say("Vectors"), found.vectors))
    table([_place(name, one) for name, one in parts])


def _place(name: str, one: Place) -> dict[str, str]:
    points = say("{count:,} points", count=one.count) if one.count is not None else ""
    return {
        say("Part"): name,
        say("Kept by"): say(_KINDS.get(one.kind, one.kind)),
        say("Size"): size(one.bytes) if one.bytes is not None else say("on a server of its own"),
        say("More"): " · ".join(part for part in (one.note, points) if part) or "–",
    }


def size(of: int) -> str:
    """Bytes as people write them."""
    value, units = float(of), ["B", "kB", "MB", "GB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "B" or value >= 100 else f"{value:.1f} {units[0]}"
