"""How the page looks beyond Streamlit's theme: room at the top, titles on the left, graphs that are scrolled and not shrunk."""

import streamlit as st

_CSS = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 2.75rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
[data-testid="stSidebar"] .stButton button[kind="tertiary"], [data-testid="stSidebar"] .stButton button[kind="primary"] {
  justify-content: flex-start; text-align: left; padding-left: .75rem; }
[data-testid="stGraphVizChart"] { overflow-x: auto; }
[data-testid="stGraphVizChart"] svg { max-width: none; height: auto; }
[class*="st-key-icon-"] button p { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding-left: .75rem; padding-right: .75rem; }
  [data-testid="stChatMessage"] { flex-direction: column; padding-left: .25rem; padding-right: .25rem; }
  [data-testid="stChatMessage"] > div:last-child { width: 100%; }
}
</style>"""


def style() -> None:
    """Once for each drawing of the page."""
    st.html(_CSS)
