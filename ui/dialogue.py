"""What a run asked its user and what they answered, as a part of the conversation."""

import streamlit as st

from ui.run_state import RunState


def draw_dialogue(story: RunState) -> None:
    """Each question with its answer, or with why there is none. Both may be strangers' words: shown as text."""
    for one in story.dialogue:
        st.text(one.question)
        with st.chat_message("user"):
            st.text(one.answer or f"({one.unanswered})")
