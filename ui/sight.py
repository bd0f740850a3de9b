"""What is brought into sight when it comes: a new question, what a run waits for, the end of a conversation that is opened."""

import json
from typing import Literal
from uuid import uuid4

import streamlit as st

from ui.style import asset

_AT, _TOKEN = "sight-at", "sight-token"


def arrived(*place: str) -> str:
    """A token for what is looked at now; another one where that is something else than at the last drawing."""
    if st.session_state.get(_AT) != place:
        st.session_state.update({_AT: place, _TOKEN: uuid4().hex})
    return st.session_state[_TOKEN]


def in_sight(token: str, key: str, block: Literal["start", "nearest"]) -> None:
    """Scroll to the container of this key, once for the token, however often it is drawn."""
    said = ", ".join(json.dumps(one) for one in (token, key, block))
    st.html(f"<script>{asset('sight.js').rstrip()}({said});</script>", unsafe_allow_javascript=True)
