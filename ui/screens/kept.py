"""Templates and solutions in one list: found by words or by a request, then looked at and run on a page of its own."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.kept import Kept, chosen, kept_ones
from ui.language import listing, message, say
from ui.problems import ServerError
from ui.screens.solutions import solution_page
from ui.screens.templates import template_page
from ui.source_words import when
from ui.texts import unmarked
from ui.walk_graph import tool_name

_KINDS = {"": message("All"), "template": message("Templates"), "solution": message("Solutions")}
_WHOSE = {"": message("Anybody's"), "own": message("Mine"), "others": message("Shared with me")}
_PAGES = {"template": template_page, "solution": solution_page}
_LONGEST = 120


def kept(client: Client, conversation: str, kind: str = "") -> None:
    """``conversation``: where one is run. ``kind``: which are listed at first; empty: both."""
    for named, page in _PAGES.items():
        if found := places.place(named):
            if st.button(say("All templates and solutions"), icon=":material/arrow_back:", type="tertiary"):
                places.go("kept")
            _one(client, conversation, found, page)
            return
    st.title(say("Templates and solutions"))
    st.caption(
        say(
            "What can be run again with other values: templates, which you keep of a run, and solutions, which Footpath keeps of programs that answered."
        )
    )
    search = st.text_input(
        say("Search by words, or by a request that one should serve"), max_chars=4000, key="kept-search"
    ).strip()
    left, right = st.columns(2)
    with left:
        wanted = _choice(say("Kind"), _KINDS, kind, "kept-kind")
    with right:
        whose = _choice(say("Whose"), _WHOSE, "", "kept-whose")
    listed = kept_ones(client, search)
    shown = chosen(listed, wanted, whose)
    for one in shown:
        _line(one)
    if not shown:
        _nothing(searched=bool(search), some=bool(listed))


def _choice(label: str, names: dict[str, str], first: str, key: str) -> str:
    said = {name: say(text) for name, text in names.items()}
    return st.selectbox(label, list(said), list(said).index(first), format_func=said.__getitem__, key=f"{key}-{first}")


def _one(client: Client, conversation: str, found: str, page: Callable[[Client, str, str], None]) -> None:
    try:
        page(client, conversation, found)
    except ServerError as error:
        if error.status not in (404, 422):
            raise
        st.title(say("Templates and solutions"))
        st.error(say("It is not there any more, or is not shared with you."))


def _line(one: Kept) -> None:
    with st.container(border=True, gap="small"):
        name = one.name or say("A solution")
        if st.button(unmarked(name[:_LONGEST]), key=f"kept-{one.kind}-{one.id}", type="tertiary"):
            places.go("kept", **{one.kind: one.id})
        for pattern in one.serves[:2]:
            st.text(pattern[:_LONGEST])
        facts = [say("template") if one.kind == "template" else say("solution"), _whose(one), _done(one)]
        if one.last_used:
            facts.append(say("last used {when}", when=when(one.last_used)))
        if one.likeness is not None:
            facts.append(say("likeness {likeness}", likeness=f"{one.likeness:.2f}"))
        if one.calls:
            facts.append(say("calls {tools}", tools=listing([tool_name(tool) for tool in one.calls[:4]])))
        st.caption(unmarked(" · ".join(facts)))
        if one.suspended:
            st.caption(":orange-badge[" + say("not taken") + "] " + unmarked(one.suspended))


def _whose(one: Kept) -> str:
    if not one.own:
        return say("shared with you")
    return say("yours, shared with all") if one.shared else say("yours")


def _done(one: Kept) -> str:
    return (
        say("served {good} of {runs} times", good=f"{one.good:,}", runs=f"{one.runs:,}")
        if one.runs
        else say("not used yet")
    )


def _nothing(*, searched: bool, some: bool) -> None:
    if some:
        st.info(say("None is of that kind: choose another, or all of them."))
    elif searched:
        st.info(say("None says that, and none is near that request: search in other words."))
    else:
        st.info(
            say(
                "Nothing was kept yet. Below a run that was answered is *Save as template*; runs that answer by a program become solutions."
            )
        )
