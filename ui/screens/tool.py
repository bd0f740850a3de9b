"""A tool's page: what it is, how it has answered, what is beside it, what it answers when it is called, and what is said of it."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.library import Tool, recorded, tool
from ui.problems import ServerError
from ui.screens.leave import leave_for
from ui.screens.tables import table
from ui.screens.tool_availability import availability
from ui.screens.tool_marks import marking
from ui.screens.tool_neighbours import beside
from ui.screens.tool_try import trying
from ui.texts import response_text, unmarked, visible
from ui.tool_words import facts_told
from ui.values import shown


def tool_page(client: Client, named: str) -> None:
    """Which part of it is seen stands in the address, as the tool does."""
    if st.button("All tools", icon=":material/arrow_back:", type="tertiary", key="all-tools"):
        places.go("tools")
    try:
        found = tool(client, named)
    except ServerError as error:
        if error.logged_out or error.status != 404:
            raise
        st.error(unmarked(str(error)))
        return
    st.title(unmarked(found.api))
    st.caption(unmarked(facts_told(found)))
    parts: dict[str, tuple[str, Callable[[Client, Tool], None]]] = {
        "": ("Document", _document),
        "neighbours": ("Neighbours", beside),
        "answers": ("Recorded answers", _answers),
        "try": ("Try it", trying),
    }
    if found.changes:
        parts["leave"] = ("Permissions", leave_for)
    if client.account.user.role == "admin":
        parts["marks"] = ("Marks", marking)
    chosen = places.place("part") if places.place("part") in parts else ""
    with st.container(horizontal=True, gap="small"):
        for name, (label, _) in parts.items():
            if st.button(label, key=f"part-{name}", type="primary" if name == chosen else "secondary"):
                places.go("tools", tool=found.id, part=name)
    parts[chosen][1](client, found)


def _document(_client: Client, found: Tool) -> None:
    st.text(visible(found.description) or "It says nothing of itself.")
    if found.toolset_description:
        st.text(visible(found.toolset_description))
    st.caption(unmarked(f"{found.method} {found.url}".strip()))
    st.caption(unmarked(f"It {'may change something' if found.changes else 'only reads'}: {found.why}."))
    st.subheader("Parameters")
    if found.parameters:
        table([_row(found, place) for place in range(len(found.parameters))])
    else:
        st.caption("It takes none.")
    for one in found.credentials:
        need = "needs" if one.required else "may use"
        st.caption(unmarked(f"It {need} a key called {one.secret} ({one.place} {one.name})."))
    st.code(visible(found.signature), language="python", wrap_lines=True)
    if found.takes_entities or found.gives_entities:
        takes, gives = ", ".join(found.takes_entities) or "none", ", ".join(found.gives_entities) or "none"
        st.caption(unmarked(f"Entities that it asks for: {takes}; that it answers with: {gives}."))
    availability(found.availability, found.record)
    st.subheader("Solutions that call it")
    for one in found.solutions:
        standing = "suspended" if one.suspended else f"served {one.good:,} times, failed {one.bad:,} times"
        st.text(visible(f"{one.pattern} ({standing})"))
    if not found.solutions:
        st.caption("None yet.")
    if found.example:
        st.subheader("An answer, as its document gives it")
        st.code(response_text(found.example), language="json", wrap_lines=True)


def _row(found: Tool, place: int) -> dict[str, str]:
    one = found.parameters[place]
    example = next((value for value in (one.default, one.example) if value is not None), None)
    return {
        "Name": one.name,
        "Type": one.type + ("" if one.required else " (optional)"),
        "Where": one.location,
        "Example": "" if example is None else shown(example)[:100],
        "Description": one.description[:400],
    }


def _answers(client: Client, found: Tool) -> None:
    calls = recorded(client, found.id)
    if not calls.calls:
        st.info("No call of it was imported with its answer.")
        return
    st.caption(f"The last {len(calls.calls):,} of {calls.total:,} imported calls.")
    for number, one in enumerate(calls.calls):
        with st.expander(unmarked(f"{number + 1}. {one.outcome}: {one.arguments[:100]}")):
            st.code(response_text(one.arguments), language="json", wrap_lines=True)
            st.text(f"Answer, {one.whole:,} characters")
            st.code(response_text(one.response), language="json", wrap_lines=True)
