"""The views that there are, under a few headings that are folded up and unfolded; which of them is open is marked, and stands in the address."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import message, say
from ui.screens.views import GROUPS, LIBRARY, VIEWS, View

_CONVERSATION = message("Conversation")
_FOLD = """<script>
if (innerWidth < 768) document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
</script>"""
"""On a narrow screen the side bar covers the page: once another place was chosen, it makes room."""


def navigation(client: Client) -> None:
    """The conversation, then what else this user can look at. The library is unfolded, of the other groups that of the open view."""
    seen = places.view()
    seen = VIEWS[seen].part_of or seen if seen in VIEWS else seen
    offered = {name: one for name, one in VIEWS.items() if one.offered(client)}
    with st.container(key="places", gap=None):
        if _view("conversation", _CONVERSATION, "chat", opened=not seen):
            places.go()
        _listed(offered, "", seen)
        for group in GROUPS:
            names = {name for name, one in offered.items() if one.group == group}
            if names:
                unfolded = group == LIBRARY or seen in names
                with st.expander(say(group), unfolded, type="compact", key=f"group-{group}"), st.container(gap=None):
                    _listed(offered, group, seen)
        if st.session_state.pop("went", False):
            st.html(_FOLD, unsafe_allow_javascript=True)


def _listed(offered: dict[str, View], group: str, seen: str) -> None:
    for name, one in offered.items():
        if one.group == group and _view(name, one.label, one.icon, opened=name == seen):
            places.go(name, **one.places)


def _view(name: str, label: str, icon: str, *, opened: bool) -> bool:
    kind = "primary" if opened else "tertiary"
    return st.button(say(label), icon=f":material/{icon}:", key=f"view-{name}", type=kind, width="stretch")
