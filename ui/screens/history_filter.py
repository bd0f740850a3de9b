"""What is looked for in the history: words and how it ended in one line, all else folded up beside them. It holds for the visit."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import streamlit as st

from domain.tool import ToolId
from ui.client import Client
from ui.language import message, say, say_count
from ui.past_runs import ENDS, Wanted, called_tools
from ui.replies import PLANNERS, Choices
from ui.run_summary import OUTCOMES
from ui.screens.run_choices import POLICIES
from ui.walk_graph import tool_name

_KEY = "history-by-"
_VERDICTS = {
    "right": message("You said it is right"),
    "wrong": message("You said it is wrong"),
    "none": message("You said nothing"),
}
_MORE = ("conversation", "planner", "policy", "model", "tool", "verdict", "since", "until")


def wanted_runs(client: Client, conversation: str) -> Wanted:
    """As it was chosen. ``conversation``: which one is looked at until another is chosen; empty: all."""
    if st.session_state.get(f"{_KEY}of") != conversation:
        st.session_state[f"{_KEY}of"] = st.session_state[f"{_KEY}conversation"] = conversation
    words, end, more = st.columns([5, 3, 2], vertical_alignment="bottom")
    label = say("Words in what was asked or answered")
    search = words.text_input(
        label,
        max_chars=200,
        key=f"{_KEY}search",
        placeholder=label,
        label_visibility="collapsed",
        persist_state="session",
    )
    with end:
        ended = _one("end", say("How it ended"), _said(OUTCOMES | ENDS), say("However it ended"))
    chosen = sum(bool(st.session_state.get(_KEY + name)) for name in _MORE)
    title = say_count("More (1)", "More ({count})", chosen) if chosen else say("More")
    with more.popover(title, icon=":material/tune:", width="stretch", key="history-filters"):
        found = _more(client)
    return replace(found, search=search.strip(), end=ended)


def clear() -> None:
    """Look for all runs, of all conversations."""
    for name in ("search", "end", *_MORE):
        st.session_state[_KEY + name] = None if name in ("since", "until") else ""


def _more(client: Client) -> Wanted:
    titles = {one.id: one.shown_title for one in client.conversations()}
    held: str = st.session_state.get(f"{_KEY}conversation", "")
    if held and held not in titles:
        titles[held] = say("The open conversation")
    choices: Choices | None = st.session_state.get("choices")
    models = {one: one for one in choices.models} if choices else {}
    conversation = _one("conversation", say("Conversation"), titles)
    tool = _one("tool", say("Called"), {one.tool: tool_name(ToolId(one.tool)) for one in called_tools(client)})
    verdict = _one("verdict", say("Right or wrong"), _said(_VERDICTS))
    planner = _one("planner", say("Planner"), _said(PLANNERS))
    policy = _one("policy", say("Decided by"), _said(POLICIES))
    model = _one("model", say("Model"), models) if models else ""
    first, last = st.columns(2)
    with first:
        since = _day("since", say("From (UTC)"))
    with last:
        until = _day("until", say("To (UTC)"))
    return Wanted(
        conversation=conversation, tool=tool, verdict=verdict, planner=planner, policy=policy, model=model,
        since=since, until=until,
    )  # fmt: skip


def _said(names: Mapping[str, str]) -> dict[str, str]:
    return {name: say(text) for name, text in names.items()}


def _one(name: str, label: str, options: Mapping[str, str], anything: str = "") -> str:
    """Nothing where nothing was chosen, or what was is not there any more. ``anything``: what stands there then, in place of the label."""
    key = _KEY + name
    if st.session_state.get(key) not in options:
        st.session_state[key] = ""
    nothing = anything or say("Anything")
    return st.selectbox(
        label,
        ["", *options],
        format_func=lambda one: options.get(one, nothing),
        key=key,
        label_visibility="collapsed" if anything else "visible",
        persist_state="session",
    )


def _day(name: str, label: str) -> date | None:
    chosen = st.date_input(label, value=None, key=_KEY + name, persist_state="session")
    return chosen if isinstance(chosen, date) else None
