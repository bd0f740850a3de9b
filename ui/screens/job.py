"""A job on the page: followed while it goes on, with its log, and cancelled."""

import streamlit as st

from ui.client import Client
from ui.jobs import Job, cancel, job
from ui.language import message, say
from ui.problems import ServerError
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked, visible

_TICK = 1.0
_STATES = {
    "queued": message("It waits for its turn."),
    "running": message("It goes on, whether anybody looks or not."),
    "done": message("Done."),
    "failed": message("It failed: {why}"),
    "cancelled": message("It was cancelled; what it had done until then stays."),
}
_STAGES = {
    "compare": message("comparing"),
    "check": message("checking"),
    "embed": message("indexing tools"),
    "memories": message("indexing memories"),
    "solutions": message("indexing solutions"),
    "links": message("linking tools"),
    "tools": message("reading tools"),
    "import": message("writing"),
    "unpack": message("unpacking"),
    "vectors": message("making vectors of the tools"),
    "comparison": message("comparing on the store's own requests"),
}


def followed(client: Client, one: Job) -> bool:
    """Show a job; one that goes on is drawn again each second, and all of the page when it has ended. Whether it goes on."""
    if one.open:
        st.fragment(lambda: _live(client, one), run_every=_TICK, key=f"job-{one.id}")()
    else:
        _shown(one)
    return one.open


def _live(client: Client, one: Job) -> None:
    try:
        now = job(client, one.id)
    except ServerError as error:
        st.warning(
            say("{why} The job goes on where it was as soon as the server is there again.", why=unmarked(str(error)))
        )
        return
    if not now.open:
        st.rerun()
    _shown(now)
    if st.button(say("Cancel"), icon=":material/stop:", key=f"cancel-{one.id}"):
        told(lambda: cancel(client, one.id))


def _shown(one: Job) -> None:
    begun = say("{who}, {when}", who=unmarked(one.by), when=when(one.created_at))
    words = say(_STATES.get(one.state, one.state), why=unmarked(one.trouble))
    match one.state:
        case "failed":
            st.error(words)
        case "running" | "queued":
            st.progress(_share(one), text=unmarked(_how_far(one)) or words)
        case _:
            st.caption(f"{words} {begun}")
    if one.lines:
        with st.expander(say("Log"), expanded=False):
            st.code(visible("\n".join(one.lines)), language=None, wrap_lines=True)


def _share(one: Job) -> float:
    return min(one.done / one.total, 1.0) if one.total else 0.0


def _how_far(one: Job) -> str:
    """In words and numbers; empty: nothing is known yet."""
    if not one.what:
        return ""
    what = say(_STAGES[one.what]) if one.what in _STAGES else one.what
    if one.total:
        return say("{what}: {done:,} of {total:,}", what=what, done=one.done, total=one.total)
    return say("{what}: {done:,}", what=what, done=one.done) if one.done else what
