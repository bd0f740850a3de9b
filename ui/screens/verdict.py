"""Two quiet buttons under an answer: it was right, or it was wrong. Pressed again, a button takes its word back."""

from functools import partial

import streamlit as st

from ui.client import Client
from ui.language import message, say
from ui.replies import Run
from ui.screens.telling import told

_SAYS = {
    "right": (
        message("Right"),
        "thumb_up",
        message("Say that this answer is right"),
        message("Take it back: this answer is right"),
        message("You said that this answer is right."),
    ),
    "wrong": (
        message("Wrong"),
        "thumb_down",
        message("Say that this answer is wrong"),
        message("Take it back: this answer is wrong"),
        message("You said that this answer is wrong. It is not given again to such a request."),
    ),
}


def verdict(client: Client, run: Run) -> None:
    """What the user says of an answer, and can say otherwise. The one that holds says so in words, for those who hear the page."""
    if run.outcome not in ("answered", "partly") or not client.can("/runs/{run_id}/verdict"):
        return
    for says, (label, icon, offer, back, _) in _SAYS.items():
        holds = run.verdict == says
        st.button(
            f"{say(label)} ✓" if holds else say(label),
            key=f"verdict-{says}-{run.id}",
            icon=f":material/{icon}:",
            type="tertiary",
            help=say(back if holds else offer),
            on_click=partial(_say, client, run, None if holds else says),
        )


def verdict_told(run: Run) -> None:
    """What was said of an answer, in a line."""
    if run.verdict in _SAYS:
        st.caption(say(_SAYS[run.verdict][-1]))


def _say(client: Client, run: Run, says: str | None) -> None:
    told(lambda: client.judge(run.id, says))
