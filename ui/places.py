"""Where on the page one is. It stands in the address, so that a reload, the way back and a link lead there."""

from typing import Any

import streamlit as st

_LED = {"tool": "tools", "answer": "shared"}
"""Views to which a link leads that names one thing and no view."""

_KEPT = "kept-here"


def view() -> str:
    """Which view is seen; empty: the conversation."""
    return st.query_params.get("view") or next((view for name, view in _LED.items() if name in st.query_params), "")


def place(name: str) -> str:
    """What the address says of ``name``, as of the source that is looked at; empty where it says nothing."""
    return st.query_params.get(name, "")


def kept_here() -> dict[str, Any]:
    """What is kept until another view is shown, as secrets that are told once."""
    return st.session_state.setdefault(_KEPT, {})


def go(view: str = "", **places: str) -> None:
    """Show another view, or another place of it; the conversation stays open, unless another one is named."""
    st.session_state.went = True
    if view != place("view"):
        st.session_state.pop(_KEPT, None)
    conversation = place("conversation")
    kept = {"conversation": conversation, "view": view, **places}
    st.query_params.from_dict({name: value for name, value in kept.items() if value})
    st.rerun()
