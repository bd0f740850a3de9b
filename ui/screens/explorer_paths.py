"""The ways from the tool in the middle to another one: over at most three edges, the surest first."""

import streamlit as st

from ui.client import Client
from ui.explorer import GraphPath, PathStep, paths
from ui.explorer_words import coupled, named, walked
from ui.language import say
from ui.problems import ServerError
from ui.screens.explorer_places import edge_name, look_at
from ui.texts import unmarked


def ways_to(client: Client, source: str, target: str) -> None:
    """Each edge of a way can be seen in full."""
    with st.container(border=True, key="ways"):
        st.subheader(unmarked(say("Ways from {one} to {other}", one=named(source), other=named(target))))
        try:
            found = paths(client, source, target)
        except ServerError as error:
            if error.logged_out or error.status not in (400, 404):
                raise
            st.error(unmarked(str(error)))
            return
        if not found.paths:
            st.info(say("No way of at most three edges is known."))
        for number, one in enumerate(found.paths):
            _way(number, one)
        if found.left_out:
            st.caption(say("{count:,} less sure ways are left out", count=found.left_out))
        if st.button(say("Close"), key="close-ways", type="tertiary"):
            look_at()


def _way(number: int, one: GraphPath) -> None:
    tools = [one.steps[0].source, *(step.target for step in one.steps)]
    with st.expander(unmarked(f"{one.score:.4f} · {' → '.join(named(tool) for tool in tools)}"), expanded=number == 0):
        st.caption(say("Its number is the product of weight × availability over its edges."))
        for place, step in enumerate(one.steps):
            if st.button(unmarked(_told(step)), key=f"way-{number}-{place}", type="tertiary"):
                look_at(edge=edge_name(step.source, step.target))


def _told(step: PathStep) -> str:
    said = [
        walked(step.walk) if step.walk else say("not called one after the other yet"),
        coupled(step.feed) if step.feed else "",
    ]
    return f"{named(step.source)} → {named(step.target)}: {'; '.join(part for part in said if part)}"
