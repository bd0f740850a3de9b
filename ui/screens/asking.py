"""A question about what the request leaves open: answered by one of its choices, or in one's own words."""

from functools import partial

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.run_state import Question
from ui.screens.questions import told
from ui.texts import unmarked

_LONGEST = 1000


def asking(client: Client, run: str, asked: Question) -> None:
    """In a fragment, which is drawn again when it is answered."""
    answer = partial(client.answer, run, asked.input, "answer")
    with st.container(border=True):
        st.markdown(say("**The run needs to know**"))
        st.text(asked.reason)
        for place, choice in enumerate(asked.choices):
            pressed = st.button(unmarked(choice), key=f"choice-{place}-{asked.input}", width="stretch")
            if pressed and told(partial(answer, said=place)):
                st.rerun(scope="fragment")
        with st.form(f"words-{asked.input}", border=False, clear_on_submit=True):
            label = say("Or in your own words") if asked.choices else say("Your answer")
            words = st.text_input(label, max_chars=_LONGEST).strip()
            answered = st.form_submit_button(say("Answer"))
        if answered and words and told(partial(answer, said=words)):
            st.rerun(scope="fragment")
        left = st.button(say("I do not want to say"), key=f"left-{asked.input}")
        if left and told(lambda: client.answer(run, asked.input, "deny")):
            st.rerun(scope="fragment")
