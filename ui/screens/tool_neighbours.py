"""A tool's neighbours: what came before and after it, what feeds what, and what can stand in for it."""

import streamlit as st

from domain.tool import ToolId
from ui import places
from ui.client import Client
from ui.language import listing, number, say
from ui.library import Tool, Walk, neighbours
from ui.screens.tables import table
from ui.tool_graph import MARKS, neighbours_dot, told_neighbours
from ui.walk_graph import tool_name


def beside(client: Client, found: Tool) -> None:
    """As a graph, and as tables with what each rests on."""
    near = neighbours(client, found.id)
    if not (near.after or near.before or near.feeds_in or near.feeds_out or near.substitutes):
        st.info(
            say("Nothing is known beside it yet: runs tell what comes before and after, documents what feeds what.")
        )
        return
    st.graphviz_chart(neighbours_dot(found.id, near), alt=told_neighbours(near)[:2_000])  # pyright: ignore[reportUnknownMemberType]
    _walks(say("After it ({count:,})", count=near.afters), near.after)
    _walks(say("Before it ({count:,})", count=near.befores), near.before)
    fed = [
        (one, say("{field} fills its {parameter}", field=one.field, parameter=one.parameter)) for one in near.feeds_in
    ]
    fed += [
        (one, say("its {field} fills {parameter}", field=one.field, parameter=one.parameter)) for one in near.feeds_out
    ]
    if fed:
        st.subheader(say("What feeds what ({count:,})", count=near.feed_ins + near.feed_outs))
        table(
            [
                {say("Tool"): tool_name(one.tool), say("How"): said, say("Score"): f"{one.score:.2f}"}
                for one, said in fed
            ]
        )
    if near.substitutes:
        st.subheader(say("What can stand in for it"))
        table(
            [
                {say("Tool"): tool_name(one.tool), say("Score"): f"{one.score:.2f}", say("Takes"): _takes(one.parameters)}
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
                say("Tool"): tool_name(one.tool),
                say("Weight"): f"{one.weight:.3f}",
                say("Imported"): number(one.imported),
                say("Live"): number(one.live),
                say("Left of the live ones"): f"{one.strength:.1f}",
                say("Mark"): say(MARKS.get(one.mark or "", one.mark or "")),
            }
            for one in walks
        ]
    )


def _takes(parameters: dict[str, str]) -> str:
    return listing([say("{name} as {other}", name=one, other=other) for one, other in parameters.items()])


def _going(here: ToolId, others: list[ToolId]) -> None:
    other = st.selectbox(say("Open one of them"), others, index=None, format_func=tool_name, key=f"beside-{here}")
    if other:
        places.go("tools", tool=other)
