"""What a source is called, who may use it, whose keys it uses, how often it is read again; and its end."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import say
from ui.screens.audience import audience, watched
from ui.screens.telling import told
from ui.sources import Source, change_source, remove_source


def settings(client: Client, one: Source) -> None:
    """They count at once, also for tools that are offered."""
    name = st.text_input(say("Name"), one.name, max_chars=100, key=f"name-{one.id}").strip()
    chosen = audience(client, f"set-{one.id}", one)
    again = watched(f"set-{one.id}", one.watch_minutes) if one.address or one.kind == "mcp" else 0
    base = ""
    if one.kind == "openapi":
        base = st.text_input(
            say("Base address of its calls"), one.base_url, max_chars=2000, key=f"base-{one.id}",
            placeholder=say("Only where the document names none, or a wrong one"),
            help=say("It counts when the source is read again, under *Changes*."),
        ).strip()  # fmt: skip
    if st.button(say("Keep these settings"), key=f"keep-{one.id}"):
        changed = {**chosen, "watch_minutes": again, **({"name": name} if name else {})}
        if base != one.base_url:
            changed["base_url"] = base
        if told(lambda: change_source(client, one.id, changed)):
            st.toast(say("Kept."))
            st.rerun()
    with st.popover(say("Remove this source")):
        st.caption(say("With its tools: nobody is offered them any more. Runs that called them stay."))
        if st.button(say("Remove it"), key=f"remove-{one.id}") and told(lambda: remove_source(client, one.id)):
            places.go("sources")
