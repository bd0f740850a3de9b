"""What the owner of a template changes of it: its name, and whether others may run it."""

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.reruns import WholeTemplate, change_template
from ui.screens.telling import told


def changing_template(client: Client, found: WholeTemplate) -> None:
    """What the server allows of it, it says itself."""
    with st.container(horizontal=True, gap="small"):
        with st.popover(say("Rename"), icon=":material/edit:"):
            name = st.text_input(say("Name of the template"), found.name, max_chars=120, key=f"name-{found.id}").strip()
            pressed = st.button(say("Rename it"), key=f"rename-{found.id}", disabled=not name or name == found.name)
            if pressed and told(lambda: change_template(client, found.id, name=name)):
                st.rerun()
        if found.shared:
            if st.button(say("Share it no more"), key=f"unshare-{found.id}", icon=":material/lock:"):
                _share(client, found, shared=False)
        elif client.account.user.role != "user" and st.button(
            say("Share with all users"), key=f"share-{found.id}", icon=":material/group:"
        ):
            _share(client, found, shared=True)


def _share(client: Client, found: WholeTemplate, *, shared: bool) -> None:
    if told(lambda: change_template(client, found.id, shared=shared)):
        st.rerun()
