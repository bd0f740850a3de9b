"""A run step by step: a slider over its events, and the program and the walk as they stood after each."""

import streamlit as st

from ui.client import Client
from ui.event_words import event_told
from ui.language import say
from ui.replay import Replay
from ui.replies import Run
from ui.run_state import RunState
from ui.run_summary import seconds_told
from ui.run_view import draw
from ui.screens.around_run import around
from ui.texts import unmarked

_KEPT = "replay"


def replay(client: Client, run: Run, whole: RunState) -> None:
    """``whole``: the run at its end. Its events are asked for once; one run's are kept at a time."""
    known: tuple[str, Replay] | None = st.session_state.get(_KEPT)
    if known is None or known[0] != run.id:
        with st.spinner(say("Its events are fetched …")):
            known = run.id, Replay(client.events(run.id))
        st.session_state[_KEPT] = known
    told, key = known[1], f"replay-at-{run.id}"
    if not len(told):
        st.caption(say("What it did in detail is not kept any more."))
        return
    number = _place(key, len(told))
    what = say(
        "Event {number} of {count}, after {time}: {event}", number=number, count=len(told),
        time=seconds_told(told.seconds(number)), event=event_told(told.event(number)),
    )  # fmt: skip
    st.markdown(f"**{unmarked(what)}**")
    draw(told.at(number), around(client, run.id, whole), unfolded=True)


def _place(key: str, count: int) -> int:
    """Where one is, from 1. The arrow keys, Home and End move the slider too."""
    if st.session_state.get(key, 0) not in range(1, count + 1):
        st.session_state[key] = 1

    def to(number: int) -> None:
        st.session_state[key] = min(max(number, 1), count)

    now: int = st.session_state[key]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="replay-steps"):
        for name, icon, number in (
            (say("First event"), "skip_previous", 1),
            (say("Event before"), "chevron_left", now - 1),
            (say("Next event"), "chevron_right", now + 1),
            (say("Last event"), "skip_next", count),
        ):
            with st.container(key=f"icon-{icon}", width="content"):
                st.button(
                    name, icon=f":material/{icon}:", key=f"{key}-{icon}", help=name,
                    disabled=not 1 <= number <= count or number == now, on_click=to, args=(number,),
                )  # fmt: skip
    if count > 1:
        st.slider(say("Event"), 1, count, key=key)
    return int(st.session_state[key])
