"""A tool's neighbours: what came before and after it, what feeds what, and what can stand in for it."""

import streamlit as st

from domain.tool import ToolId
from ui import places
from ui.client import Client
from ui.library import Tool, Walk, neighbours
from ui.screens.tables import table
from ui.tool_graph import neighbours_dot, told_neighbours
from ui.walk_graph import tool_name


def beside(client: Client, found: Tool) -> None:
    """As a graph, and as tables with what each rests on."""
    near = neighbours(client, found.id)
    if not (near.after or near.before or near.feeds_in or near.feeds_out or near.substitutes):
        st.info("Nothing is known beside it yet: runs tell what comes before and after, documents what feeds what.")
        return
    st.graphviz_chart(neighbours_dot(found.id, near), alt=told_neighbours(near)[:2_000])  # pyright: ignore[reportUnknownMemberType]
    _walks(f"After it ({near.afters:,})", near.after)
    _walks(f"Before it ({near.befores:,})", near.before)
    fed = [(one, f"{one.field} fills its {one.parameter}") for one in near.feeds_in]
    fed += [(one, f"its {one.field} fills {one.parameter}") for one in near.feeds_out]
    if fed:
        st.subheader(f"What feeds what ({near.feed_ins + near.feed_outs:,})")
        table([{"Tool": tool_name(one.tool), "How": said, "Score": f"{one.score:.2f}"} for one, said in fed])
    if near.substitutes:
        st.subheader("What can stand in for it")
        table(
            [
                {"Tool": tool_name(one.tool), "Score": f"{one.score:.2f}", "Takes": _takes(one.parameters)}
                for one in near.substitutes
            ]
        )  # fmt: skip
    seen = [one.tool for one in (*near.after, *near.before, *near.substitutes, *(one for one, _ in fed))]
    _going(found.id, list(dict.fromkeys(one for one in seen if "/" in one)))


def _walks(title: str, walks: list[Walk]) -> None:
    if not walks:
        return
    st.subheader(title)
    table(
        [
            {
                "Tool": tool_name(one.tool),
                "Weight": f"{one.weight:.3f}",
                "Imported": f"{one.imported:,}",
                "Live": f"{one.live:,}",
                "Left of the live ones": f"{one.strength:.1f}",
                "Mark": one.mark or "",
            }
            for one in walks
        ]
    )


def _takes(parameters: dict[str, str]) -> str:
    return ", ".join(f"{one} as {other}" for one, other in parameters.items())


def _going(here: ToolId, others: list[ToolId]) -> None:
    other = st.selectbox("Open one of them", others, index=None, format_func=tool_name, key=f"beside-{here}")
    if other:
        places.go("tools", tool=other)
