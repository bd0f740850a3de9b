"""Where in the tool graph one is, as it stands in the address: the tool in the middle, those that were before it, what is chosen, what is shown."""

import streamlit as st

from domain.tool import ToolId
from ui import places

_FILTERS = ("depth", "most", "by", "least", "toolset", "effect")
_CHOSEN = ("node", "edge", "set", "to")
_MOST_PAST = 12


def filters() -> dict[str, str]:
    """What is shown of the neighbourhood, as far as somebody chose that."""
    return {name: said for name in _FILTERS if (said := places.place(name))}


def past() -> list[str]:
    """The tools that stood in the middle before, the last one last. An id has no comma of its own."""
    return [one for one in places.place("past").split(",") if one]


def centre_on(tool: str) -> None:
    """Go on from here, with a way back."""
    before = places.place("tool")
    gone = [*past(), before] if before and before != tool else past()
    places.go("graph", tool=tool, past=",".join(gone[-_MOST_PAST:]), **filters())


def back() -> None:
    """To the tool that stood in the middle before; from the first one to all of it."""
    gone = past()
    places.go("graph", tool=gone[-1] if gone else "", past=",".join(gone[:-1]), **filters())


def choose(**what: str) -> None:
    """See something in full; called while the page is at rest, which is then drawn anew."""
    for name in _CHOSEN:
        st.query_params.pop(name, None)
    for name, said in what.items():
        if said:
            st.query_params[name] = said


def look_at(**what: str) -> None:
    """The same, from within a drawing of the page."""
    choose(**what)
    st.rerun()


def keep(name: str, said: str) -> None:
    """Show another part from now on; empty: the usual one."""
    if said:
        st.query_params[name] = said
    else:
        st.query_params.pop(name, None)


def edge_name(source: str, target: str) -> str:
    """How an edge stands in the address."""
    return f"{source},{target}"


def chosen_edge() -> tuple[ToolId, ToolId] | None:
    """The edge that is seen in full."""
    source, comma, target = places.place("edge").partition(",")
    return (ToolId(source), ToolId(target)) if comma and source and target else None
