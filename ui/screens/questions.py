"""What a run waits for its user to say: whether a call may be made, or what became of one."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import streamlit as st

from ui.client import Client
from ui.problems import ServerError
from ui.run_state import AskedCall, Question
from ui.texts import readable, unmarked
from ui.walk_graph import tool_name


class Answer(NamedTuple):
    """A button. ``always``: the tool need not ask again."""

    label: str
    decision: str
    always: bool = False


_LEAVE = (Answer("Allow once", "allow"), Answer("Always allow", "allow", always=True), Answer("Do not allow", "deny"))
_ALL = (
    Answer("Allow all of them", "allow"),
    Answer("Always allow", "allow", always=True),
    Answer("Do not allow", "deny"),
)
_FLOW = (Answer("Allow from now on", "allow"), Answer("Do not allow", "deny"))
_OUTCOME = (
    Answer("It happened", "happened"),
    Answer("It did not: call again", "did_not_happen"),
    Answer("Leave it open", "leave"),
)


def answers_to(asks: str, *, several: bool = False) -> tuple[Answer, ...]:
    """What can be said to a question of this kind; to one of a kind that is not known here, yes or no. ``several``: it is about several calls."""
    if asks == "unknown_outcome":
        return _OUTCOME
    if asks == "flow":
        return _FLOW
    if asks == "call":
        return _ALL if several else _LEAVE
    return (_LEAVE[0], _LEAVE[2])


def whence(asked: Question, call: AskedCall) -> list[str]:
    """Where a call goes, and where each of its values comes from, a line each."""
    goes = [f"goes to {asked.host}"] if asked.host else []
    return [*goes, *(f"{one.parameter}: {one.words}" for one in call.origins)]


def question(client: Client, run: str, asked: Question) -> None:
    """In a fragment, which is drawn again when it is answered."""
    with st.container(border=True):
        needs = "may have taken effect, or not" if asked.asks == "unknown_outcome" else "needs your leave"
        st.markdown(f"**{unmarked(tool_name(asked.tool))}** {needs}")
        st.text(asked.reason)
        for number, call in enumerate(asked.together, start=1):
            if asked.calls:
                st.caption(f"Call {number} of {len(asked.calls)}")
            st.code(readable(call.arguments), language="json", wrap_lines=True)
            if lines := whence(asked, call):
                st.code("\n".join(lines), language=None, wrap_lines=True)
        answers = answers_to(asked.asks, several=bool(asked.calls))
        for column, one in zip(st.columns(len(answers)), answers, strict=True):
            answer = partial(client.answer, run, asked.input, one.decision, always=one.always)
            if column.button(one.label, key=f"{one.label}-{asked.input}", width="stretch") and told(answer):
                st.rerun(scope="fragment")


def told(what: Callable[[], object]) -> bool:
    """Whether the server did it; what it says against it is shown."""
    try:
        what()
    except ServerError as error:
        st.error(unmarked(str(error)))
        return False
    return True
