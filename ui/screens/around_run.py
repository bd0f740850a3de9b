"""What the server knows of a run beside its events, asked for where it is shown, and no more often than it changes."""

from collections.abc import Sequence

import streamlit as st

from ui.client import Client
from ui.replies import Asked
from ui.run_calls import RunCalls, run_calls
from ui.run_state import RunState
from ui.run_view import Around
from ui.screens.why_not import ask_why_not

_Known = tuple[int, int]
"""How many texts and tools of a run there were."""


def around(client: Client, run: str, story: RunState, asked: Sequence[Asked] | None = None) -> Around:
    """``asked``: what it asks and has asked; None: nothing is open, and the rest is asked for where it is shown."""
    return Around(
        run,
        lambda: _calls(client, run, story),
        frozenset(one.id for one in asked or () if one.decision is None),
        lambda: {one.id: one.answered for one in (client.asked(run) if asked is None else asked)},
        lambda: ask_why_not(client, run),
    )


def _calls(client: Client, run: str, story: RunState) -> RunCalls:
    """Asked for anew where there is another text, or another tool is called."""
    now: _Known = len(story.programs.texts), len({call.tool for call in story.calls})
    kept: dict[str, tuple[_Known, RunCalls]] = st.session_state.setdefault("run_calls", {})
    if run not in kept or kept[run][0] != now:
        kept[run] = now, run_calls(client, run)
    return kept[run][1]
