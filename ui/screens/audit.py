"""The audit log, for administrators: who changed what, and when."""

from datetime import date

import streamlit as st

from ui.audit import VIA, EntryPage, entries, operations
from ui.client import Client
from ui.language import message, moment, say
from ui.screens.tables import table

_PAGES = "audit-pages"
_CHOSEN = "audit-chosen"


def audit_log(client: Client) -> None:
    """The newest first, a page at a time; what is chosen begins at the newest again."""
    st.title(say("Audit log"))
    st.caption(
        say(
            "What administrators and authors changed, and what programs changed with a token. Nothing here can be altered; no key or password stands in it."
        )
    )
    chosen = _choosing(client)
    if st.session_state.get(_CHOSEN) != chosen:
        st.session_state[_CHOSEN], st.session_state[_PAGES] = chosen, []
    pages: list[str] = st.session_state[_PAGES]
    name, operation, via, day = chosen
    found = entries(client, name, operation, via, day, pages[-1] if pages else "")
    _shown(found, chosen=any(chosen))
    with st.container(horizontal=True, gap="small"):
        if pages and st.button(say("Newer"), icon=":material/arrow_back:", key="audit-newer"):
            pages.pop()
            st.rerun()
        if found.next and st.button(say("Older"), icon=":material/arrow_forward:", key="audit-older"):
            pages.append(found.next)
            st.rerun()


def _choosing(client: Client) -> tuple[str, str, str, date | None]:
    kinds = operations(client)
    who, what, how, when = st.columns([3, 4, 3, 3])
    name = who.text_input(say("Who: the beginning of a name"), max_chars=64, key="audit-name").strip()
    operation = what.selectbox(
        say("What"), ["", *kinds], format_func=lambda one: kinds.get(one, say("Anything")), key="audit-operation"
    )
    via = how.selectbox(
        say("By"), ["", *VIA], format_func=lambda one: say(VIA.get(one, message("Anything"))), key="audit-via"
    )
    day = when.date_input(say("On a day (UTC)"), value=None, key="audit-day")
    return name, operation, via, day if isinstance(day, date) else None


def _shown(found: EntryPage, *, chosen: bool) -> None:
    if not found.entries:
        st.info(say("Nothing that is like that was changed.") if chosen else say("Nothing was changed yet."))
        return
    table(
        [
            {
                say("When (UTC)"): moment(one.at, seconds=True),
                say("Who"): one.who or say("somebody on the machine"),
                say("What"): one.what,
                say("With"): one.details or "–",
                say("How it ended"): one.ended,
            }
            for one in found.entries
        ]
    )
