"""Forgetting an answer: a button that says what goes and what stays, before anything does."""

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.replies import Run
from ui.screens.telling import told


def forget(client: Client, run: Run) -> None:
    """Below a run that has ended, where the server can."""
    if not client.can("/runs/{run_id}", "delete"):
        return
    with st.popover(say("Forget"), icon=":material/delete:", type="tertiary"):
        st.markdown(
            say(
                "Question, answer and what happened in between are removed, and with them what was kept to go by: the memory of this request, and the solution "
                "where no other run has borne it out."
            )
        )
        st.caption(
            say(
                "What was changed at a service stays changed. What tools have learnt of their success stays: it names no request."
            )
        )
        if st.button(say("Forget this answer"), key=f"forget-run-{run.id}") and told(lambda: client.forget(run.id)):
            st.session_state.get("following", {}).pop(run.id, None)
            st.rerun()
