"""Around a tool: its neighbours by weight and by coupling, as a picture and as tables; one of them, or an edge, in full."""

from collections.abc import Mapping

import streamlit as st

from domain.tool import ToolId
from ui import places
from ui.client import Client
from ui.explorer import GraphPicture, GraphTool, around
from ui.explorer_words import coupled, walked
from ui.graph_layout import around_centre, curve, fitting
from ui.graph_picture import Box, Line, picture
from ui.language import say, say_count
from ui.problems import ServerError
from ui.screens.explorer_chosen import chosen_edge_in_full, chosen_tool
from ui.screens.explorer_filters import filtering, wanted
from ui.screens.explorer_paths import ways_to
from ui.screens.explorer_places import back, choose, chosen_edge, edge_name, look_at, past
from ui.screens.tables import table
from ui.texts import unmarked
from ui.tool_words import EFFECTS, availability_told
from ui.walk_graph import tool_name


def around_tool(client: Client, named: str) -> None:
    """``named``: the tool in the middle."""
    _way_back()
    try:
        found = around(client, named, wanted())
    except ServerError as error:
        if error.logged_out or error.status != 404:
            raise
        st.error(unmarked(str(error)))
        return
    centre = found.tools[0]
    st.subheader(unmarked(tool_name(centre.id)))
    filtering(found)
    if len(found.tools) == 1:
        st.info(
            say(
                "Nothing is beside it, as far as is known and chosen: runs tell what comes before and after, documents what feeds what."
            )
        )
    _drawn(found)
    if places.place("to"):
        ways_to(client, centre.id, places.place("to"))
    elif (edge := chosen_edge()) is not None:
        chosen_edge_in_full(client, *edge)
    else:
        chosen_tool(client, places.place("node") or centre.id, centre.id)
    _tables(found)


def _way_back() -> None:
    before = past()
    with st.container(horizontal=True, gap="small"):
        label = say("Back to {tool}", tool=tool_name(before[-1])) if before else say("All tool sets")  # pyright: ignore[reportArgumentType]
        if st.button(unmarked(label), icon=":material/arrow_back:", type="tertiary", key="graph-back"):
            back()
        if before and st.button(say("All tool sets"), type="tertiary", key="graph-afar"):
            places.go("graph")


def _drawn(found: GraphPicture) -> None:
    names = {str(one.id): f"n{place}" for place, one in enumerate(found.tools)}
    edges = [(names[one.source], names[one.target], one.weight) for one in found.walks]
    edges += [(names[one.source], names[one.target], one.score / 2) for one in found.feeds]
    layout = around_centre("n0", {names[one.id]: one.depth for one in found.tools}, edges)
    ends: dict[str, str] = {}
    lines: list[Line] = []
    marked = chosen_edge()

    def line(source: str, target: str, shift: float, text: str, label: str, width: float, look: str) -> None:
        written = 0.3 if target == found.centre else 0.7
        way = curve(layout.spots[names[source]], layout.spots[names[target]], shift, written)
        number = f"e{len(lines)}"
        ends[number] = edge_name(source, target)
        near = "near" if found.centre in (source, target) else ""
        held = "chosen" if marked == (source, target) else ""
        said = f"{tool_name(source)} → {tool_name(target)}: {label}"  # pyright: ignore[reportArgumentType]
        lines.append(Line(number, names[source], names[target], way.path, way.x, way.y, text, said, width, f"{look} {near} {held}"))  # fmt: skip

    for one in found.feeds:
        line(one.source, one.target, 9, fitting(coupled(one)), coupled(one), 1.4, "feed")
    for one in found.walks:
        text = " ".join(part for part in (one.mark, f"{one.weight:.2f}") if part)
        line(one.source, one.target, -9, text, walked(one), 1 + 4 * one.weight, one.mark or "")
    tools = {name: tool for tool, name in names.items()}

    def chosen(one: str) -> None:
        if one in ends:
            choose(edge=ends[one])
        else:
            choose(node=tools.get(one, ""))

    seen = places.place("node")
    boxes = [_box(one, names[one.id], found, seen) for one in found.tools]
    label = say("{tool} and what is around it", tool=tool_name(found.centre))
    picture(f"around {found.centre}", label, layout, boxes, lines, "n0", chosen)
    st.caption(_left_out(found))


def _box(one: GraphTool, name: str, found: GraphPicture, seen: str) -> Box:
    told = availability_told(one.availability, one.tried)
    beyond = say("{count:,} more beside it", count=one.beyond) if one.beyond else ""
    looks = ["centre" if one.id == found.centre else "", "chosen" if one.id == seen else ""]
    looks += ["banned" if one.banned else "", "changes" if one.effect != "reads" else ""]
    label = ". ".join(
        part
        for part in (tool_name(one.id), EFFECTS.get(one.effect, one.effect), told, say("banned") if one.banned else "", beyond)
        if part
    )  # fmt: skip
    more = f" · +{one.beyond:,}" if one.beyond else ""
    return Box(name, fitting(one.api), fitting(one.toolset) + more, label, " ".join(look for look in looks if look))


def _left_out(found: GraphPicture) -> str:
    said = [
        say("solid: called one after the other, with its weight; dashed: an answer can fill a parameter, with what fills what; a box with a dashed border may change something"),
        say_count("1 tool beside it", "{count:,} tools beside it", len(found.tools) - 1),
    ]  # fmt: skip
    if found.left_out:
        said.append(say("{count:,} further ones are left out", count=found.left_out))
    if found.edges_left_out:
        said.append(say("{count:,} edges between these are left out", count=found.edges_left_out))
    if found.ends:
        said.append(say("{share:.0%} of requests ended with it", share=found.ends))
    return " · ".join(said)


def _tables(found: GraphPicture) -> None:
    edges = {edge_name(one.source, one.target): (one.source, one.target) for one in (*found.walks, *found.feeds)}
    with st.expander(say("The same as tables")):
        if found.walks:
            table(
                [
                    {
                        say("From"): tool_name(one.source),
                        say("To"): tool_name(one.target),
                        say("Weight"): f"{one.weight:.3f}",
                        say("Imported"): f"{one.imported:,}",
                        say("Live"): f"{one.live:,}",
                        say("× availability"): f"{one.score:.3f}",
                        say("Mark"): one.mark or "",
                    }
                    for one in found.walks
                ]
            )
        if found.feeds:
            table(
                [
                    {
                        say("From"): tool_name(one.source),
                        say("To"): tool_name(one.target),
                        say("What fills what"): coupled(one),
                        say("Score"): f"{one.score:.2f}",
                    }
                    for one in found.feeds
                ]
            )
        if edges:
            _choosing(edges)


def _choosing(edges: Mapping[str, tuple[ToolId, ToolId]]) -> None:
    """By keyboard, or where a picture does not suit."""

    def told(one: str) -> str:
        source, target = edges[one]
        return f"{tool_name(source)} → {tool_name(target)}"

    one = st.selectbox(say("See an edge in full"), list(edges), index=None, format_func=told, key="edge-of-table")
    if one and one != places.place("edge"):
        look_at(edge=one)
