"""The owner's side of shared answers: a link is made below an answer, and taken back in one's account."""

import streamlit as st

from ui.accounts import link
from ui.client import Client
from ui.language import say, say_count
from ui.replies import Run
from ui.screens.telling import told
from ui.shared_answers import DAYS, SharedAnswer, share, shared_answers, take_back
from ui.source_words import when
from ui.texts import unmarked

PATH = "/runs/{run_id}/shared"


def sharing(client: Client, run: Run) -> None:
    """What is made stays in sight until the next one is."""
    made: dict[str, SharedAnswer] = st.session_state.setdefault("shared", {})
    with st.popover(say("Share"), icon=":material/share:", type="tertiary"):
        st.caption(
            say(
                "Whoever is logged in here and has the link reads your question, the answer, its program and the names of its tools, until it expires or you take it back under Account."
            )
        )
        names = {days: say_count("1 day", "{count} days", days) for days in DAYS}
        days = st.selectbox(
            say("It counts for"), DAYS, DAYS.index(7), format_func=names.__getitem__, key=f"share-days-{run.id}"
        )
        whole = st.checkbox(say("With calls: what they sent and got is read, too"), key=f"share-calls-{run.id}")
        if st.button(say("Make a link"), key=f"share-{run.id}", type="primary"):
            told(lambda: made.update({run.id: share(client, run.id, days, with_calls=whole)}))
        if found := made.get(run.id):
            st.code(
                link(str(st.context.url), "answer", found.secret.get_secret_value()), language=None, wrap_lines=True
            )
            st.caption(say("It counts until {when}.", when=when(found.expires_at)))


def own_shared(client: Client) -> None:
    """All links that count, each with what it leads to."""
    st.caption(
        say(
            "Links by which other users of this server read answers of yours. A run or account that is deleted takes its links along."
        )
    )
    listed = shared_answers(client)
    for one in listed:
        _line(client, one)
    if not listed:
        st.info(say("You share nothing. Below an answer is *Share*."))


def _line(client: Client, one: SharedAnswer) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        calls = say(" · with calls") if one.with_calls else ""
        until = say("since {since}, until {until}", since=when(one.created_at), until=when(one.expires_at))
        st.markdown(f"**{unmarked(one.request[:160])}**  \n{unmarked(until + calls)}", width="stretch")
        if st.button(say("Take it back"), key=f"unshare-{one.id}") and told(lambda: take_back(client, one.id)):
            st.rerun()
