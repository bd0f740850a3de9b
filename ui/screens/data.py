"""A server's data, for administrators, in parts: figures, imports, verifying, backups. Which is seen stands in the address."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import message, say
from ui.screens.backups import backups_of
from ui.screens.importing import importing
from ui.screens.statistics import figures
from ui.screens.verifying import verifying

_PARTS: dict[str, tuple[str, Callable[[Client], None]]] = {
    "statistics": (message("Statistics"), figures),
    "import": (message("Import"), importing),
    "verify": (message("Verify"), verifying),
    "backups": (message("Backups"), backups_of),
}


def data(client: Client) -> None:
    """One part at a time."""
    st.title(say("Data"))
    wanted = places.place("part")
    chosen = wanted if wanted in _PARTS else "statistics"
    with st.container(horizontal=True, gap="small", key="data-parts"):
        for name, (label, _) in _PARTS.items():
            kind = "primary" if name == chosen else "secondary"
            if st.button(say(label), key=f"data-part-{name}", type=kind):
                places.go("data", part=name)
    _PARTS[chosen][1](client)
