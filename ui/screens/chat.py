"""The conversation: what was asked and answered, a run that is under way, the next question."""

from html import escape

import streamlit as st

from ui import places
from ui.client import Client
from ui.examples import examples
from ui.following import Following, follower
from ui.language import listing, say
from ui.library import tools
from ui.problems import ServerError
from ui.replies import Chosen, Run
from ui.run_state import RunState, given_values
from ui.run_view import draw
from ui.screens.around_run import around
from ui.screens.asking import asking
from ui.screens.did_you_mean import did_you_mean
from ui.screens.files import asked_with, beside, line, took, unread, waiting
from ui.screens.finished_run import after
from ui.screens.plan import plan
from ui.screens.questions import question, told
from ui.screens.sidebar import sidebar
from ui.screens.views import VIEWS
from ui.sight import arrived, in_sight
from ui.texts import unmarked

_TICK = 0.8
_PAST = 5.0
_SHOWN = 20
_HEADING = 80
_LONGEST = 4000
"""Characters of a question that the server takes."""


def chat(client: Client) -> None:
    """Side bar, history, the live run, and the line to ask in."""
    conversation = sidebar(client)
    if seen := VIEWS.get(places.view()):
        arrived(places.view())
        seen.draw(client, conversation)
        return
    runs = _runs(client, conversation)
    if runs:
        _heading(runs[0].request)
    request = "" if runs else _welcome(client)
    sought = arrived("", conversation, runs[-1].id if runs else "")
    for run in runs:
        with st.container(key=f"asked-{run.id}"), st.chat_message("user"):
            st.text(run.request)
            beside(client, conversation, run.id, _story(client, run).files)
        if run is runs[-1]:
            in_sight(sought, f"asked-{run.id}", "start")
        newest = len(runs) > 1 and run is runs[-1]
        with st.container(key=f"{'newest' if newest else 'said'}-{run.id}"), st.chat_message("assistant"):
            meant = _run(client, run, sought, last=run is runs[-1])
            request = meant or request
    text, uploads = line(client, conversation)
    if text or uploads:
        st.session_state.update(refused_files=[], unsent="")
    if uploads:
        conversation = conversation or client.begin().id
        st.query_params["conversation"] = conversation
        whole = took(client, conversation, uploads)
        if not (whole and text):
            st.session_state.unsent = "" if whole else text
            st.rerun()
    request = text or request
    if request and unread(conversation):
        st.session_state.unsent = request
        st.rerun()
    if request:
        _ask(client, conversation, request)


def _ask(client: Client, conversation: str, request: str) -> None:
    """What the server will not run is told beside what was asked: nothing that was typed is lost."""
    chosen: Chosen = st.session_state.chosen
    if len(request) > _LONGEST:
        st.error(
            say(
                "Your question has {count:,} characters, and {most:,} can be asked. It was not sent; here it is, to be copied and made shorter.",
                count=len(request),
                most=_LONGEST,
            )
        )
        st.code(request, language=None, wrap_lines=True, height=300)
        return
    try:
        conversation = conversation or client.begin(request[:80]).id
        run = client.ask(conversation, request, chosen, [one.id for one in waiting(conversation)])
    except ServerError as error:
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        st.code(request, language=None, wrap_lines=True)
        return
    asked_with(conversation, run.id)
    st.query_params["conversation"] = conversation
    st.rerun()


def _welcome(client: Client) -> str:
    """Nothing was asked yet: what one may ask, and the one of them that was taken."""
    st.title(say("What would you like to know?"))
    if not _any_tools(client):
        st.info(
            say(
                "There are no tools here yet, so nothing can be answered. Add an API under *Sources*; where you cannot, ask an administrator of this server."
            )
        )
        return ""
    if "examples" not in st.session_state:
        st.session_state.examples = examples(client)
    offered: list[str] = st.session_state.examples
    about = say("Ask in plain words. The tools that may help are weighed and called, and you see which, and why.")
    st.caption(f"{about} {say('For example:')}" if offered else about)
    taken = [example for example in offered if st.button(unmarked(example), key=f"example-{example}")]
    return taken[0] if taken else ""


def _heading(first: str) -> None:
    """What the conversation is about, for who goes through the page by its headings."""
    st.html(f'<h1 class="fp-said">{escape(first[:_HEADING])}</h1>')


def _any_tools(client: Client) -> bool:
    """Whether there is something to ask for; where the server cannot say, a run will."""
    try:
        return not client.can("/tools") or bool(tools(client).tools)
    except ServerError as error:
        if error.logged_out:
            raise
        return True


def _runs(client: Client, conversation: str) -> list[Run]:
    """The latest; all that are asked for. None where the address names no conversation of this user."""
    if not conversation:
        return []
    try:
        runs = client.runs(conversation)
    except ServerError as error:
        if error.status not in (404, 422):
            raise
        st.query_params.clear()
        st.rerun()
    shown = st.session_state.get("shown", _SHOWN)
    if len(runs) > shown and st.button(say("Show what was said before")):
        st.session_state.shown = shown + _SHOWN
        st.rerun()
    return runs[-shown:]


def _run(client: Client, run: Run, sought: str, *, last: bool) -> str:
    """The request that is to be asked instead; empty: none. ``sought``: what the page looks for, once for which what waits is brought into sight."""
    following, story = follower(client, run.id), _story(client, run)
    if waits := _open_plan(client, run, story):
        draw(story, around(client, run.id, story, client.asked(run.id)))
        plan(client, run.id, waits, story)
        _stop(client, run)
    elif story.finished:
        given = given_values(story) if run.rerun_of else []
        if given:
            st.caption(
                unmarked(say("The calls of an earlier run with these values: {given}", given=listing(given)[:400]))
            )
        st.fragment(lambda: draw(story, around(client, run.id, story)), key=f"story-{run.id}")()
        if story.lacks_a_key and st.button(say("To your keys"), key=f"keys-{run.id}", icon=":material/key:"):
            places.go("keys")
        if not given:
            st.caption(unmarked(run.made_as(by_program=story.by_program)))
        after(client, run, story)
        return did_you_mean(client, run.id, story) if last and run.outcome != "answered" else ""
    else:
        st.fragment(lambda: _live(client, run, following, sought), run_every=_TICK, key=run.id)()
    return ""


def _story(client: Client, run: Run) -> RunState:
    """As far as it is known here; of one that has ended, all of it."""
    following = follower(client, run.id)
    if run.finished_at:
        following.wait(_PAST)
    return following.look()


def _live(client: Client, run: Run, following: Following, sought: str) -> None:
    """A run as it grows; at its end the page is drawn once more, without what only a live run has."""
    try:
        story = following.look()
        asked = client.asked(run.id) if story.questions else []
    except ServerError as error:
        st.error(str(error))
        st.button(say("Follow again"), key=f"follow-{run.id}", on_click=lambda: _forget(run.id))
        return
    if story.finished:
        st.rerun(scope="app")
    open_questions = {one.id for one in asked if one.decision is None}
    if st.session_state.get(waiting := f"waits-{run.id}", False) != bool(open_questions):
        st.session_state[waiting] = bool(open_questions)
        st.rerun(scope="app")  # the side bar marks what waits
    if any(story.questions[key].asks == "plan" for key in open_questions & story.questions.keys()):
        st.rerun(scope="app")
    draw(story, around(client, run.id, story, asked))
    for key in open_questions & story.questions.keys():
        waits = story.questions[key]
        with st.container(key=f"waits-{key}"):
            (asking if waits.asks == "question" else question)(client, run.id, waits)
        in_sight(f"{sought}-{key}", f"waits-{key}", "nearest")
    _stop(client, run)


def _stop(client: Client, run: Run) -> None:
    if st.button(say("Stop"), key=f"stop-{run.id}", icon=":material/stop_circle:"):
        told(lambda: client.cancel(run.id))
        st.rerun()


def _open_plan(client: Client, run: Run, story: RunState) -> str:
    """The id of the question about the plan that the run waits with; empty where it waits with none."""
    asked = {key for key, one in story.questions.items() if one.asks == "plan"}
    return next(iter(asked & client.open_questions(run.id)), "") if asked else ""


def _forget(run: str) -> None:
    st.session_state.following.pop(run, None)
