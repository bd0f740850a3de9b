"""What administrators correct of the tool graph: of a tool, or of what joins two; each with a reason that stays readable, and can be taken back."""

from collections.abc import Iterable

import streamlit as st

from domain.tool import FINISH
from ui.client import Client
from ui.explorer import GraphEdge, entities
from ui.explorer_words import said_told
from ui.language import message, say
from ui.library import Said, Tool, mark, marks, marks_to
from ui.screens.telling import told
from ui.texts import visible

_OF_TOOL = {
    "entity": message("What a parameter or field is of"),
    "mute": message("Mute it: all ways to it count a tenth"),
    "ban": message("Ban it: it is offered to no run"),
    "forget": message("Forget what runs have said of it"),
}
_OF_EDGE = {
    "pin": message("Pin the way: it comes first"),
    "mute": message("Mute the way: a tenth of its weight"),
    "ban": message("Ban the way: no run goes it"),
    "forbid": message("Forbid that a field fills a parameter"),
    "add": message("Add that a field fills a parameter"),
}
_SAID = 12


def correcting_tool(client: Client, found: Tool) -> None:
    """It counts from the next run on; the couplings are computed anew at once."""
    with st.expander(say("Correct it")):
        what = st.selectbox(say("What is corrected"), list(_OF_TOOL), format_func=lambda one: say(_OF_TOOL[one]), key="correct-tool")  # fmt: skip
        with st.form(f"correct-{found.id}-{what}", clear_on_submit=True, border=False):
            more: dict[str, str] = {}
            if what == "entity":
                more = _entity(client, found)
            reason = st.text_input(say("Why"), max_chars=400, key="correct-tool-why")
            sent = st.form_submit_button(say("Correct it"), type="primary")
        if sent:
            kind, word = {"entity": ("entity", "set"), "forget": ("runs", "forget")}.get(what, ("tool", what))
            if what == "entity" and not more["entity"]:
                st.error(say("Say what it is of, in a word: ship, city, …"))
            else:
                _sent(client, found.id, kind, word, reason, more)
        _history(client, marks(client, found.id).history, say("What was said of it"))


def _entity(client: Client, found: Tool) -> dict[str, str]:
    known = entities(client, found.id)
    words = {
        one.place: say("{place}, a parameter", place=one.place) if not one.field else one.place for one in known.places
    }
    now = {one.place: f"{one.entity} ({say('said by people')})" if one.said else one.entity for one in known.places}
    place = st.selectbox(
        say("Of which parameter or field"),
        list(words),
        format_func=lambda one: f"{words[one]}: {now[one] or say('nothing known')}",
        key=f"entity-place-{found.id}",
    )
    entity = st.text_input(say("What it is of"), max_chars=100, placeholder=say("ship, city, …"), key="entity-said")
    if known.of_source:
        st.caption(say("It is kept with the source that the tool is of."))
    return {"place": place or "", "entity": entity.strip()}


def correcting_edge(client: Client, found: GraphEdge) -> None:
    """Of the way from the one to the other, and of what the one feeds there."""
    offered = {
        one: text
        for one, text in _OF_EDGE.items()
        if not ((one == "forbid" and not found.couplings) or (one in ("forbid", "add") and found.target == FINISH))
    }
    with st.expander(say("Correct it")):
        what = st.selectbox(say("What is corrected"), list(offered), format_func=lambda one: say(offered[one]), key="correct-edge")  # fmt: skip
        with st.form(f"correct-edge-{what}", clear_on_submit=True, border=False):
            more = _feed(client, found, what) if what in ("forbid", "add") else {}
            reason = st.text_input(say("Why"), max_chars=400, key="correct-edge-why")
            sent = st.form_submit_button(say("Correct it"), type="primary")
        if sent and more:
            _sent(client, found.target, "feed", what, reason, more | {"target": found.source})
        elif sent:
            _sent(client, found.source, "edge", what, reason, {"target": found.target})
        _history(client, marks_to(client, found.source, found.target), say("What was said of it"))


def _feed(client: Client, found: GraphEdge, what: str) -> dict[str, str]:
    """The field and the parameter that are spoken of."""
    if what == "forbid":
        pairs = [(one.field, one.parameter) for one in found.couplings]
        pair = st.selectbox(
            say("Which"),
            pairs,
            format_func=lambda one: say("{field} fills {parameter}", field=one[0], parameter=one[1]),
            key="feed-pair",
        )
        return {"field": pair[0], "place": pair[1]} if pair else {}
    fields = [one.place for one in entities(client, found.source).places if one.field]
    takes = [one.place for one in entities(client, found.target).places if not one.field]
    if not fields or not takes:
        st.caption(say("The one answers with no field that is known, or the other takes no parameter."))
    field = st.selectbox(say("Field of its answer"), fields, key="feed-field")
    parameter = st.selectbox(say("Parameter"), takes, key="feed-parameter")
    return {"field": field or "", "place": parameter or ""}


def _sent(client: Client, tool: str, kind: str, word: str, reason: str, more: dict[str, str]) -> None:
    if len(reason.strip()) < 3:
        st.error(say("Say why, in a few words."))
    elif told(lambda: mark(client, tool, kind, word, reason.strip(), **more)):
        st.toast(say("It is said, and counts from now on."))
        st.rerun()


def _history(client: Client, said: list[Said], title: str) -> None:
    if not said:
        return
    st.markdown(f"**{title}**")
    holds = _holding(said)
    for number, one in enumerate(said[:_SAID]):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(visible(said_told(one)))
            if one in holds:
                _taking_back(client, one, number)


def _holding(said: Iterable[Said]) -> list[Said]:
    """Those that count: of each thing the newest, where it was not taken back."""
    newest: dict[tuple[str, str, str, str, str], Said] = {}
    for one in said:
        newest.setdefault(one.about, one)
    return [one for one in newest.values() if one.mark != "clear"]


def _taking_back(client: Client, one: Said, number: int) -> None:
    with st.popover(say("Take back")):
        reason = st.text_input(say("Why"), max_chars=400, key=f"back-why-{one.kind}-{number}")
        if st.button(say("Take it back"), key=f"back-{one.kind}-{number}"):
            more = {name: text for name, text in (("target", one.target), ("place", one.place), ("field", one.field)) if text}  # fmt: skip
            _sent(client, one.tool, one.kind, "clear", reason, more)
