"""Solutions: programs that serve requests like those that they served before; looked at, run with values, taken up again, forgotten."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, message, say, say_count
from ui.screens.running import run_in, values_form
from ui.screens.telling import told
from ui.solutions import (
    Solution,
    WholeSolution,
    check_solution,
    forget_solution,
    promote_solution,
    run_solution,
    solution,
)
from ui.texts import unmarked, visible
from ui.walk_graph import tool_name

_FROM = {
    "run": message("from a run"),
    "template": message("from a template"),
    "person": message("written by a person"),
    "mined": message("made from the tools"),
}
_TITLE = 100


def solution_page(client: Client, conversation: str, chosen: str) -> None:
    """``conversation``: where it is run; empty: in a new one."""
    found = solution(client, chosen)
    st.title(unmarked(_name(found)))
    _about(found)
    if (values := values_form(found.id, found.parameters)) is not None:
        run_in(client, conversation, _name(found), lambda talk: run_solution(client, found, talk, values))
    _change(client, found)


def _name(one: Solution) -> str:
    return next(iter(one.patterns), say("A solution"))[:_TITLE]


def _about(found: WholeSolution) -> None:
    if found.suspended:
        st.warning(unmarked(say("It is not taken: {why}", why=found.suspended)))
    if found.drift:
        st.warning(
            unmarked(
                say(
                    "Changed since it was checked, or gone: {tools}",
                    tools=listing([tool_name(one) for one in found.drift]),
                )
            )
        )
    st.caption(
        say(
            "Served {good}, failed {bad}; {origin}.",
            good=_times(found.good),
            bad=_times(found.bad),
            origin=say(_FROM.get(found.origin, unmarked(found.origin))),
        )
    )
    st.caption(unmarked(say("Calls {tools}", tools=listing([tool_name(one) for one in found.path]))))
    st.markdown(say("**It serves**"))
    for pattern in found.patterns:
        st.text(visible(pattern))
    if found.wrong:
        st.markdown(say("**Not for these, whose answers you marked as wrong**"))
        for one in found.wrong:
            st.text(visible(one))
    st.markdown(say("**Its program**"))
    st.code(visible(found.program.program.text), language="python", wrap_lines=True)


def _times(count: int) -> str:
    return say_count("1 time", "{count:,} times", count)


def _change(client: Client, found: WholeSolution) -> None:
    """What the server allows of it, it says itself."""
    with st.container(horizontal=True, gap="small"):
        if (found.suspended or found.drift) and st.button(say("Check it, and take it again"), key=f"check-{found.id}"):
            _done(lambda: check_solution(client, found.id), say("Checked; it is taken from now on."))
        if found.own and client.account.user.role == "admin":
            with st.popover(say("Share with all")):
                st.caption(say("Its program and what it serves, without your runs."))
                if st.button(say("Share it"), key=f"promote-{found.id}"):
                    _done(lambda: promote_solution(client, found.id), say("All users share it now."))
        with st.popover(say("Forget this solution")):
            st.caption(
                say("For good. Runs stay; one that answers so again makes it anew.")
                if found.own
                else say(
                    "All users share it, so an administrator forgets it. An answer that you say is wrong is not given to you again."
                )
            )
            if st.button(say("Forget it"), key=f"forget-{found.id}"):
                _done(lambda: forget_solution(client, found.id), say("Forgotten."), gone=True)


def _done(what: Callable[[], object], said: str, *, gone: bool = False) -> None:
    if told(what):
        st.toast(said)
        if gone:
            places.go("kept")
        st.rerun()
