"""Where on the page one is. It stands in the address, so that a reload, the way back and a link lead there."""

import streamlit as st


def view() -> str:
    """Which view is seen; empty: the conversation. A link to a tool alone leads to the tools."""
    return st.query_params.get("view", "tools" if "tool" in st.query_params else "")


def place(name: str) -> str:
    """What the address says of ``name``, as of the source that is looked at; empty where it says nothing."""
    return st.query_params.get(name, "")


def go(view: str = "", **places: str) -> None:
    """Show another view, or another place of it; the conversation stays open, unless another one is named."""
    st.session_state.went = True
    conversation = place("conversation")
    kept = {"conversation": conversation, "view": view, **places}
    st.query_params.from_dict({name: value for name, value in kept.items() if value})
    st.rerun()
