"""The tool graph: from afar, or around a tool, as a picture to choose from and as tables with the same facts."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.explorer import GraphOverview, GraphSet, from_afar
from ui.graph_layout import curve, fitting, in_rows
from ui.graph_picture import Box, Line, picture
from ui.language import say, say_count
from ui.library import tools
from ui.screens.explorer_around import around_tool
from ui.screens.explorer_picking import picked
from ui.screens.explorer_places import centre_on, choose
from ui.screens.tables import table
from ui.texts import unmarked
from ui.walk_graph import tool_name

_OF_A_SET = 25


def explorer(client: Client, _conversation: str) -> None:
    """What stands in the middle stands in the address; nothing there: all of it, from afar."""
    st.title(say("Tool graph"))
    if named := places.place("tool"):
        around_tool(client, named)
        return
    found = from_afar(client)
    if not found.tools:
        st.info(say("There are no tools here yet: an author adds some under Sources, or an operator imports them."))
        return
    st.caption(
        say(
            "Which tools were called one after the other, and which answer fills which parameter. Begin with a tool, or with a tool set."
        )
    )
    if tool := picked(client, say("Begin with a tool"), "begin"):
        centre_on(tool)
    _drawn(found)
    _chosen(client, found)
    _busiest(found)
    _tables(found)


def _drawn(found: GraphOverview) -> None:
    names = {one.id: f"n{place}" for place, one in enumerate(found.sets)}
    joins = [(names[one.source], names[one.target], one.walked + one.coupled / 10) for one in found.joins]
    layout = in_rows(list(names.values()), joins)
    heaviest = max((one.walked for one in found.joins), default=0) or 1
    chosen = places.place("set")
    boxes = [
        Box(
            names[one.id],
            fitting(one.toolset),
            say("{tools} · used {walked:,}×", tools=say_count("1 tool", "{count:,} tools", one.tools), walked=one.walked),
            say("Tool set {toolset} of {category}", toolset=one.toolset, category=one.category),
            "chosen" if one.id == chosen else "",
        )
        for one in found.sets
    ]  # fmt: skip
    lines: list[Line] = []
    for number, one in enumerate(found.joins):
        way = curve(layout.spots[names[one.source]], layout.spots[names[one.target]])
        text = f"{one.walked:,}" if one.walked else say_count("1 field", "{count:,} fields", one.coupled)
        label = say(
            "called one after the other: {walked:,} times; fields that fill parameters: {coupled:,}",
            walked=one.walked,
            coupled=one.coupled,
        )
        width = 1 + 4 * one.walked / heaviest
        look = "" if one.walked else "feed"
        lines.append(Line(f"e{number}", names[one.source], names[one.target], way.path, way.x, way.y, text, label, width, look))  # fmt: skip
    sets = {name: one for one, name in names.items()}
    picture(
        "afar",
        say("Tool sets, and what joins them"),
        layout,
        boxes,
        lines,
        "n0",
        lambda one: choose(set=sets.get(one, "")),
    )
    st.caption(_left_out(found))


def _left_out(found: GraphOverview) -> str:
    said = [
        say_count("1 tool", "{count:,} tools", found.tools),
        say("{shown:,} of {all:,} tool sets: the most used, then the largest", shown=len(found.sets), all=found.toolsets),
        say("solid: called one after the other; dashed: only an answer that can fill a parameter"),
    ]  # fmt: skip
    if found.joins_left_out:
        said.append(say("{count:,} lighter joins are left out", count=found.joins_left_out))
    if not found.counted_whole:
        said.append(say("not everything was counted, since there is so much of it"))
    return " · ".join(said)


def _chosen(client: Client, found: GraphOverview) -> None:
    one = next((each for each in found.sets if each.id == places.place("set")), None)
    if one is None:
        return
    with st.container(border=True, key="chosen-set"):
        st.subheader(unmarked(one.toolset))
        st.caption(unmarked(f"{one.category} · {_counted(one)}"))
        page = tools(client, category=one.category, toolset=one.toolset)
        with st.container(horizontal=True, gap="small"):
            for each in page.tools[:_OF_A_SET]:
                if st.button(unmarked(each.api), key=f"of-set-{each.id}"):
                    centre_on(each.id)
        if page.total > _OF_A_SET:
            st.caption(
                say("The first {shown} of {total:,}; search for the others above.", shown=_OF_A_SET, total=page.total)
            )


def _counted(one: GraphSet) -> str:
    tools = say_count("1 tool", "{count:,} tools", one.tools)
    return say(
        "{tools}, used {walked:,} times, {inside:,} of these from one to another of the set",
        tools=tools,
        walked=one.walked,
        inside=one.inside,
    )


def _busiest(found: GraphOverview) -> None:
    if not found.busiest:
        return
    st.subheader(say("The most used tools"))
    with st.container(horizontal=True, gap="small"):
        for one in found.busiest:
            if st.button(unmarked(f"{tool_name(one.id)} ({one.walked:,})"), key=f"busy-{one.id}"):
                centre_on(one.id)


def _tables(found: GraphOverview) -> None:
    names = {one.id: one.toolset for one in found.sets}
    with st.expander(say("The same as tables")):
        table(
            [
                {
                    say("Tool set"): one.toolset,
                    say("Category"): one.category,
                    say("Tools"): f"{one.tools:,}",
                    say("Times used"): f"{one.walked:,}",
                    say("Within it"): f"{one.inside:,}",
                }
                for one in found.sets
            ]
        )
        if found.joins:
            table(
                [
                    {
                        say("From"): names[one.source],
                        say("To"): names[one.target],
                        say("Called one after the other"): f"{one.walked:,}",
                        say("Fields that fill parameters"): f"{one.coupled:,}",
                    }
                    for one in found.joins
                ]
            )
