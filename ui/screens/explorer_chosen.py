"""A tool or an edge of the picture in full: what it rests on, and why it weighs what it weighs."""

import streamlit as st

from domain.tool import FINISH
from ui import places
from ui.client import Client
from ui.explorer import GraphEdge, edge
from ui.explorer_words import because, evidence, example_told, named, product, reckoned
from ui.language import say
from ui.library import tool
from ui.problems import ServerError
from ui.screens.explorer_corrections import correcting_edge, correcting_tool
from ui.screens.explorer_picking import picked
from ui.screens.explorer_places import centre_on, look_at
from ui.screens.tables import table
from ui.texts import clipped, unmarked, visible
from ui.tool_words import facts_told

_LONG = 600


def chosen_tool(client: Client, named_tool: str, centre: str) -> None:
    """Its document in short, its availability in parts, its entities; what one can do from here."""
    with st.container(border=True, key="chosen-tool"):
        try:
            found = tool(client, named_tool)
        except ServerError as error:
            if error.logged_out or error.status != 404:
                raise
            st.error(unmarked(str(error)))
            return
        st.subheader(unmarked(found.api))
        st.caption(unmarked(facts_told(found)))
        st.text(visible(found.description[:_LONG]) or say("It says nothing of itself."))
        if found.parameters:
            st.caption(unmarked(say("It takes: {names}", names=", ".join(one.name for one in found.parameters))))
        for line in found.record.told:
            st.caption(unmarked(line))
        if found.takes_entities or found.gives_entities:
            none = say("none")
            takes, gives = ", ".join(found.takes_entities) or none, ", ".join(found.gives_entities) or none
            st.caption(
                unmarked(
                    say("Entities that it asks for: {takes}; that it answers with: {gives}.", takes=takes, gives=gives)
                )
            )
        with st.container(horizontal=True, gap="small"):
            if found.id != centre and st.button(say("Centre on it"), type="primary", key="centre-on"):
                centre_on(found.id)
            if st.button(say("Open the tool"), key="open-tool"):
                places.go("tools", tool=found.id)
            if found.id != centre and st.button(say("Ways there"), key="ways-there"):
                look_at(to=found.id)
        if client.account.user.role == "admin":
            correcting_tool(client, found)
        if found.id == centre and (other := picked(client, say("Ways to another tool"), "to")):
            look_at(to=other)


def chosen_edge_in_full(client: Client, source: str, target: str) -> None:
    """Its evidence, its place among all ways out of its tool and why, what fills what and what that rests on."""
    with st.container(border=True, key="chosen-edge"):
        st.subheader(unmarked(f"{named(source)} → {named(target)}"))
        request = st.text_input(
            say("How well does it fit a request?"),
            max_chars=4000,
            key="edge-request",
            placeholder=say("Words of a request"),
        ).strip()
        try:
            found = edge(client, source, target, request)
        except ServerError as error:
            if error.logged_out or error.status not in (400, 404):
                raise
            st.error(unmarked(str(error)))
            return
        for line in (*evidence(found), *reckoned(found)):
            st.text(visible(line))
        _others(found)
        _couplings(found)
        if client.account.user.role == "admin":
            correcting_edge(client, found)
        with st.container(horizontal=True, gap="small"):
            for one in (source, target):
                if one not in (places.place("tool"), FINISH) and st.button(
                    unmarked(say("Centre on {tool}", tool=named(one))), key=f"centre-{one}"
                ):
                    centre_on(one)
            if st.button(say("Close"), key="close-edge", type="tertiary"):
                look_at()


def _others(found: GraphEdge) -> None:
    if not found.others:
        return
    with st.expander(say("The other ways out of {tool}", tool=unmarked(named(found.source)))):
        table(
            [
                {say("Tool"): named(one.tool), say("Reckoned"): product(one.weight, one.availability, one.score, one.fit), say("Mark"): one.mark or ""}
                for one in found.others
            ]
        )  # fmt: skip


def _couplings(found: GraphEdge) -> None:
    if found.couplings:
        st.markdown(f"**{say('What fills what')}**")
        table(
            [
                {
                    say("Field of its answer"): one.field,
                    say("Parameter"): one.parameter,
                    say("Score"): f"{one.score:.2f}",
                    say("Because"): because(one),
                    say("A value"): clipped(example_told(one)),
                }
                for one in found.couplings
            ]
        )
    if found.couplings_left_out:
        st.caption(say("{count:,} further ones are left out", count=found.couplings_left_out))
    for one in found.forbidden:
        st.caption(
            unmarked(
                say(
                    "An administrator said that {field} never fills {parameter}.",
                    field=one.field,
                    parameter=one.parameter,
                )
            )
        )
