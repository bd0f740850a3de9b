"""What a run waits for its user to say: whether a call may be made, or what became of one."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from ui.client import Client
from ui.language import message, say
from ui.run_state import Question
from ui.screens.asked_calls import asked_calls, kind_of_button, whence_of
from ui.screens.telling import told
from ui.texts import readable, unmarked
from ui.walk_graph import tool_name

__all__ = ["answers_to", "question", "told", "whence"]


class Answer(NamedTuple):
    """A button. ``always``: the tool, or what goes between two hosts, need not be asked about again."""

    label: str
    decision: str
    always: bool = False


_LEAVE = (
    Answer(message("Allow once"), "allow"),
    Answer(message("Do not allow"), "deny"),
    Answer(message("Always allow"), "allow", always=True),
)
_SEVERAL = (
    Answer(message("Allow what is ticked"), "allow"),
    Answer(message("Allow none of them"), "deny"),
    Answer(message("Always allow"), "allow", always=True),
)
_FLOW = (
    Answer(message("Allow once"), "allow"),
    Answer(message("Not this time"), "deny"),
    Answer(message("Always allow"), "allow", always=True),
    Answer(message("Never allow"), "deny", always=True),
)
_OUTCOME = (
    Answer(message("It happened"), "happened"),
    Answer(message("It did not: call again"), "did_not_happen"),
    Answer(message("Leave it open"), "leave"),
)


def answers_to(asks: str, *, several: bool = False) -> tuple[Answer, ...]:
    """What can be said to a question of this kind; to one of a kind that is not known here, yes or no. ``several``: it is about several calls."""
    if asks == "unknown_outcome":
        return _OUTCOME
    if asks == "flow":
        return _FLOW
    if asks == "call":
        return _SEVERAL if several else _LEAVE
    return _LEAVE[:2]


def whence(asked: Question) -> list[str]:
    """Where a call goes, whether it can be taken back, and, of one call, where each of its values comes from, a line each."""
    goes = [say("goes to {host}", host=asked.host)] if asked.host else []
    undo = [say(asked.undo)] if asked.undo else []
    values = whence_of(asked) if asked.calls else [f"{one.parameter}: {say(one.words)}" for one in asked.origins]
    return [*goes, *undo, *values]


def question(client: Client, run: str, asked: Question) -> None:
    """In a fragment, which is drawn again when it is answered."""
    answers = answers_to(asked.asks, several=bool(asked.calls))
    with st.container(border=True):
        what = unmarked(asked.summary or tool_name(asked.tool))
        unknown = asked.asks == "unknown_outcome"
        st.markdown(
            say("**{what}** may have taken effect, or not", what=what)
            if unknown
            else say("Allow this? **{what}**", what=what)
        )
        facts = [say("It goes to {host}.", host=asked.host) if asked.host else "", say(asked.undo)]
        if told_facts := " ".join(one for one in facts if one):
            st.caption(unmarked(told_facts))
        if asked.asks == "call":
            asked_calls(client, run, asked, answers)
            st.caption(unmarked(asked.reason))
            return
        st.text(asked.reason)
        st.code(readable(asked.arguments), language="json", wrap_lines=True)
        for one in asked.origins:
            st.caption(unmarked(f"{one.parameter}: {say(one.words)}"))
        with st.container(horizontal=True, gap="small"):
            for place, one in enumerate(answers):
                answer = partial(client.answer, run, asked.input, one.decision, always=one.always)
                kind = kind_of_button(place, always=one.always)
                if st.button(say(one.label), key=f"{one.label}-{asked.input}", type=kind) and told(answer):
                    st.rerun(scope="fragment")
