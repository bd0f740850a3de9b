"""How the page looks and is reached beyond what Streamlit does: room at the top, titles on the left, graphs that are scrolled and not shrunk, tables that
keys can scroll.
"""

from functools import cache
from pathlib import Path

import streamlit as st

_ASSETS = Path(__file__).with_name("assets")


def style() -> None:
    """Once for each drawing of the page. What opens above it lies outside of what Streamlit makes light or dark."""
    scheme = st.context.theme.type or "normal"
    st.html(f"<style>{asset('style.css')}#stFloatingOverlayPortal {{ color-scheme: {scheme}; }}</style>")
    st.html(f"<script>{asset('scrollers.js')}</script>", unsafe_allow_javascript=True)


@cache
def asset(name: str) -> str:
    """The text of a file of styles or scripts."""
    return (_ASSETS / name).read_text(encoding="utf-8")
