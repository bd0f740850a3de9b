"""A tool's page: what it is, how it has answered, what is beside it, what it answers when it is called, and what is said of it."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, message, say
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

_NEEDS = message("It needs a key called {secret} ({place} {name}).")
_MAY_USE = message("It may use a key called {secret} ({place} {name}).")


def tool_page(client: Client, named: str) -> None:
    """Which part of it is seen stands in the address, as the tool does."""
    if st.button(say("All tools"), icon=":material/arrow_back:", type="tertiary", key="all-tools"):
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
        "": (say("Document"), _document),
        "neighbours": (say("Neighbours"), beside),
        "answers": (say("Recorded answers"), _answers),
        "try": (say("Try it"), trying),
    }
    if found.changes:
        parts["leave"] = (say("Permissions"), leave_for)
    if client.account.user.role == "admin":
        parts["marks"] = (say("Marks"), marking)
    chosen = places.place("part") if places.place("part") in parts else ""
    with st.container(horizontal=True, gap="small"):
        for name, (label, _) in parts.items():
            if st.button(label, key=f"part-{name}", type="primary" if name == chosen else "secondary"):
                places.go("tools", tool=found.id, part=name)
    parts[chosen][1](client, found)


def _document(_client: Client, found: Tool) -> None:
    st.text(visible(found.description) or say("It says nothing of itself."))
    if found.toolset_description:
        st.text(visible(found.toolset_description))
    st.caption(unmarked(f"{found.method} {found.url}".strip()))
    st.caption(
        unmarked(
            say("It may change something: {why}.", why=say(found.why))
            if found.changes
            else say("It only reads: {why}.", why=say(found.why))
        )
    )
    st.subheader(say("Parameters"))
    if found.parameters:
        table([_row(found, place) for place in range(len(found.parameters))])
    else:
        st.caption(say("It takes none."))
    for one in found.credentials:
        needs = _NEEDS if one.required else _MAY_USE
        st.caption(unmarked(say(needs, secret=one.secret, place=one.place, name=one.name)))
    st.code(visible(found.signature), language="python", wrap_lines=True)
    if found.takes_entities or found.gives_entities:
        takes, gives = (listing([*names]) or say("none") for names in (found.takes_entities, found.gives_entities))
        st.caption(
            unmarked(
                say("Entities that it asks for: {takes}; that it answers with: {gives}.", takes=takes, gives=gives)
            )
        )
    availability(found.availability, found.record)
    st.subheader(say("Solutions that call it"))
    for one in found.solutions:
        standing = (
            say("suspended")
            if one.suspended
            else say("served {good:,} times, failed {bad:,} times", good=one.good, bad=one.bad)
        )
        st.text(visible(f"{one.pattern} ({standing})"))
    if not found.solutions:
        st.caption(say("None yet."))
    if found.example:
        st.subheader(say("An answer, as its document gives it"))
        st.code(response_text(found.example), language="json", wrap_lines=True)


def _row(found: Tool, place: int) -> dict[str, str]:
    one = found.parameters[place]
    example = next((value for value in (one.default, one.example) if value is not None), None)
    return {
        say("Name"): one.name,
        say("Type"): one.type if one.required else say("{name} (optional)", name=one.type),
        say("Where"): one.location,
        say("Example"): "" if example is None else shown(example)[:100],
        say("Description"): one.description[:400],
    }


def _answers(client: Client, found: Tool) -> None:
    calls = recorded(client, found.id)
    if not calls.calls:
        st.info(say("No call of it was imported with its answer."))
        return
    st.caption(say("The last {count:,} of {total:,} imported calls.", count=len(calls.calls), total=calls.total))
    for number, one in enumerate(calls.calls):
        with st.expander(unmarked(f"{number + 1}. {one.outcome}: {one.arguments[:100]}")):
            st.code(response_text(one.arguments), language="json", wrap_lines=True)
            st.text(say("Answer, {whole:,} characters", whole=one.whole))
            st.code(response_text(one.response), language="json", wrap_lines=True)
