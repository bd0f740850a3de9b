"""All runs of a user, found by what was asked and what became of them; one of them in full, or two beside each other."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, message, moment, say, say_count
from ui.past_runs import ENDS, ROUTE, PastRun, Wanted, past_runs
from ui.run_summary import calls_told, outcome_told, seconds_told
from ui.screens.comparison import comparison
from ui.screens.history_files import files
from ui.screens.history_filter import clear, wanted_runs
from ui.screens.history_places import go_history
from ui.screens.past_run import past_run
from ui.texts import labelled, unmarked

_PAGE = 50
_LOADED = "history-loaded"
_REQUEST = 160
_TITLE = 60
_VERDICTS = {"right": ("thumb_up", message("said to be right")), "wrong": ("thumb_down", message("said to be wrong"))}


def history(client: Client, conversation: str) -> None:
    """What the address says: the list, a run (``run``), or two (``with``). ``of``: ``all`` conversations, or the open one."""
    first, second = places.place("run"), places.place("with")
    if first and second:
        comparison(client, first, second)
    elif first and places.place("pick"):
        _picking(client, first)
    elif first:
        past_run(client, first)
    else:
        st.title(say("History"))
        _list(client, "" if places.place("of") == "all" else conversation)


def _picking(client: Client, first: str) -> None:
    """Which run another one is to be compared with."""
    st.title(say("Compare with which run?"))
    if st.button(say("Back to the run"), icon=":material/arrow_back:", type="tertiary", key="pick-back"):
        go_history(first)
    _list(client, "", beside=first)


def _list(client: Client, conversation: str, beside: str = "") -> None:
    """``conversation``: which one the address is about; ``beside``: the run for which another one is looked for."""
    if not client.can(ROUTE):
        st.info(say("This server does not tell what was asked before; it is of an earlier version than this page."))
        return
    wanted = wanted_runs(client, conversation)
    most: int = _loaded(wanted)
    runs, more = past_runs(client, wanted, most)
    if not runs:
        _nothing(wanted)
        return
    _told(runs, more=more)
    with st.container(key="past-runs", gap=None):
        for run in runs:
            if run.id != beside:
                _row(run, beside)
    with st.container(horizontal=True, gap="small"):
        if more and st.button(say("Load more"), icon=":material/expand_more:", key="history-more"):
            st.session_state[_LOADED] = wanted, most + _PAGE
            st.rerun()
        if not beside:
            files(client, wanted)


def _loaded(wanted: Wanted) -> int:
    """How many are shown; what is looked for anew begins at the newest."""
    of, most = st.session_state.get(_LOADED, (None, 0))
    return most if of == wanted else _PAGE


def _nothing(wanted: Wanted) -> None:
    if wanted == Wanted():
        st.info(say("Nothing was asked yet. What you ask is kept here, with how it was answered."))
        if st.button(say("Ask something"), icon=":material/chat:", key="history-ask"):
            places.go()
        return
    st.info(say("No run is like that."))
    st.button(say("Look for all runs"), key="history-clear", on_click=clear)


def _told(runs: list[PastRun], *, more: bool) -> None:
    used = [run.usage for run in runs if run.usage]
    seconds, tokens = sum(one.total_seconds for one in used), sum(one.tokens for one in used)
    count = say_count("1 run", "{count:,} runs", len(runs))
    if more:
        count = say("The newest {count:,} runs", count=len(runs))
    parts = [count, seconds_told(seconds)] + ([say_count("1 token", "{count:,} tokens", tokens)] if tokens else [])
    st.caption(listing(parts))


def _row(run: PastRun, beside: str) -> None:
    """What was asked leads to the run; below it is what became of it."""
    request = " ".join(run.request.split())
    short = request if len(request) <= _REQUEST else request[: _REQUEST - 1] + "…"
    with st.container(key=f"past-{run.id}", gap=None):
        if st.button(labelled(short) if short else "…", key=f"look-{run.id}", type="tertiary", width="stretch"):
            go_history(beside or run.id, run.id if beside else "")
        st.caption(" · ".join(part for part in _parts(run) if part))


def _parts(run: PastRun) -> list[str]:
    """As Markdown shows them."""
    usage = run.usage if run.outcome else None
    title, request = " ".join(run.conversation_title.split()), " ".join(run.request.split())
    about = [
        end_told(run),
        moment(run.created_at) if run.created_at else "",
        seconds_told(usage.total_seconds) if usage else "",
        calls_told(run.calls) if run.calls is not None else "",
        say_count("1 token", "{count:,} tokens", usage.tokens) if usage and usage.tokens else "",
    ]
    if request.startswith(title[:_TITLE]):
        title = ""
    elif len(title) > _TITLE:
        title = title[: _TITLE - 1] + "…"
    return [*(unmarked(one) for one in about), _said(run), unmarked(title)]


def _said(run: PastRun) -> str:
    """What was said of it, by a sign and in words."""
    if run.verdict not in _VERDICTS:
        return ""
    icon, words = _VERDICTS[run.verdict]
    return f":material/{icon}: {unmarked(say(words))}"


def end_told(run: PastRun) -> str:
    """How it ended, or how it stands."""
    return outcome_told(run.outcome, run.refused) if run.outcome else say(ENDS.get(run.status, run.status))
