"""A run of the history: in full, with what can be done with it, and step by step as it went."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.following import follower
from ui.language import moment, say
from ui.problems import ServerError
from ui.replies import Run
from ui.run_state import RunState
from ui.run_view import draw
from ui.screens.around_run import around
from ui.screens.finished_run import after
from ui.screens.history_places import go_history
from ui.screens.replay import replay
from ui.texts import unmarked
from ui.walk_graph import tool_name

_PAST = 5.0
_REPLAYED = "history-replayed"


def past_run(client: Client, run_id: str) -> None:
    """``run_id`` as the address has it: it may be nobody's, or another user's."""
    st.title(say("A run"))
    with st.container(horizontal=True, gap="small"):
        if st.button(say("All runs"), icon=":material/arrow_back:", type="tertiary", key="run-back"):
            go_history()
        run = own_run(client, run_id)
        if run is None:
            return
        if st.button(say("Open its conversation"), icon=":material/chat:", type="tertiary", key="run-talk"):
            places.go(conversation=run.conversation_id)
        if st.button(say("Compare with …"), icon=":material/compare:", type="tertiary", key="run-pick"):
            go_history(run.id, pick=True)
        if run.rerun_of and st.button(
            say("Compare with the run that it repeats"), icon=":material/history:", type="tertiary", key="run-repeats"
        ):
            go_history(run.rerun_of, run.id)
    st.text(run.request)
    story = story_of(client, run)
    made = run.made_as(by_program=story.by_program)
    st.caption(unmarked(f"{moment(run.created_at)} · {made}" if run.created_at else made))
    _story(client, run, story)


def own_run(client: Client, run_id: str) -> Run | None:
    """None, which is said, where this user has no such run."""
    try:
        return client.run(run_id)
    except ServerError as error:
        if error.status not in (404, 422):
            raise
        st.error(
            say("You have no such run. It may have been deleted with its conversation; look for it among all runs.")
        )
        return None


def story_of(client: Client, run: Run) -> RunState:
    """As far as it has come; of one that is long past, all of it."""
    following = follower(client, run.id)
    following.wait(_PAST)
    return following.look()


def _story(client: Client, run: Run, story: RunState) -> None:
    if story.finished is None:
        st.info(say("It has not ended. It is followed in its conversation, where it asks what it has to ask."))
    looks = st.segmented_control(
        say("Look at"), ["", "replay"], default="", required=True, key=f"{_REPLAYED}-{run.id}",
        format_func=lambda one: say("Step by step") if one else say("All of it"), label_visibility="collapsed",
    )  # fmt: skip
    if looks and story.finished is not None:
        st.fragment(lambda: replay(client, run, story), key=f"replay-{run.id}")()
        return
    _plan(story)
    st.fragment(lambda: draw(story, around(client, run.id, story), unfolded=True), key=f"history-{run.id}")()
    if story.finished is not None:
        after(client, run, story)


def _plan(story: RunState) -> None:
    """What the walk settled on, subtask by subtask."""
    for subtask, path in sorted(story.plans.items()):
        steps = " → ".join(unmarked(tool_name(tool)) for tool in path)
        number = str(subtask) if len(story.plans) > 1 else ""
        st.caption(
            say("Plan {number}: {steps}", number=number, steps=steps) if number else say("Plan: {steps}", steps=steps)
        )
