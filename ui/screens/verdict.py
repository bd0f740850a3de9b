"""Two quiet buttons under an answer: it was right, or it was wrong. Pressed again, a button takes its word back."""

from functools import partial

import streamlit as st

from ui.client import Client
from ui.replies import Run
from ui.screens.telling import told

_SAYS = {
    "right": ("Right", "thumb_up", "You said that this answer is right."),
    "wrong": ("Wrong", "thumb_down", "You said that this answer is wrong. It is not given again to such a request."),
}


def verdict(client: Client, run: Run) -> None:
    """What the user says of an answer, and can say otherwise. The one that holds says so in words, for those who hear the page."""
    if run.outcome not in ("answered", "partly") or not client.can("/runs/{run_id}/verdict"):
        return
    for says, (label, icon, _) in _SAYS.items():
        holds = run.verdict == says
        st.button(
            f"{label} ✓" if holds else label,
            key=f"verdict-{says}-{run.id}",
            icon=f":material/{icon}:",
            type="tertiary",
            help=f"Take it back: this answer is {says}" if holds else f"Say that this answer is {says}",
            on_click=partial(_say, client, run, None if holds else says),
        )


def verdict_told(run: Run) -> None:
    """What was said of an answer, in a line."""
    if run.verdict in _SAYS:
        st.caption(_SAYS[run.verdict][2])


def _say(client: Client, run: Run, says: str | None) -> None:
    told(lambda: client.judge(run.id, says))
