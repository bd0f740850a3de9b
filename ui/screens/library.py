"""The tool library: browse by category and tool set, or search as runs search."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import say
from ui.library import LibraryTool, ToolPage, categories, tools
from ui.screens.tool import tool_page
from ui.source_words import tools_told
from ui.texts import unmarked
from ui.tool_words import EFFECTS, facts_told, scores_told

_ALL = ""
_AFTER = "library-after"
"""Where the page begins, after each page that was turned."""


def library(client: Client, _conversation: str) -> None:
    """All tools; or one of them, which the address names."""
    if named := places.place("tool"):
        tool_page(client, named)
        return
    st.title(say("Tools"))
    st.caption(say("What requests can be served with. A search finds what a run would find, with its own scores."))
    query = st.text_input(
        say("What should a tool do?"), max_chars=4000, key="library-query", on_change=_from_the_first
    ).strip()
    category, toolset, effect = _filters(client)
    page = tools(client, query, category, toolset, effect, _pages()[-1] if _pages() else "")
    if not page.tools and not _pages():
        _nothing(page, chosen=bool(query or category or toolset or effect))
        return
    st.caption(_counted(page, searched=bool(query)))
    for one in page.tools:
        _listed(one)
    _turning(page)


def _filters(client: Client) -> tuple[str, str, str]:
    """Category, tool set and effect; empty: any."""
    found = {one.category: one.tools for one in categories(client)}
    by_category, by_set, by_effect = st.columns(3)
    with by_category:
        category = st.selectbox(
            say("Category"),
            [_ALL, *found],
            format_func=lambda one: (
                f"{one} ({found[one]:,})" if one else say("All ({count:,})", count=sum(found.values()))
            ),
            key="library-category",
            on_change=_from_the_first,
        )
    with by_set:
        listed = [each for one in categories(client, category) for each in one.sets] if category else []
        sizes = {one.toolset: one.tools for one in listed}
        toolset = st.selectbox(
            say("Tool set"),
            [_ALL, *sizes],
            format_func=lambda one: f"{one} ({sizes[one]:,})" if one else say("All"),
            key=f"library-set-{category}",
            on_change=_from_the_first,
            disabled=not sizes,
        )
    with by_effect:
        effect = st.selectbox(
            say("What a call does"),
            [_ALL, *EFFECTS],
            format_func=lambda one: say(EFFECTS[one]) if one else say("Anything"),
            key="library-effect",
            on_change=_from_the_first,
        )
    return category or "", toolset or "", effect or ""


def _nothing(page: ToolPage, *, chosen: bool) -> None:
    if chosen:
        st.info(say("No tool is found: search in other words, or choose fewer things."))
    elif not page.total:
        st.info(say("There are no tools here yet: an author adds some under Sources, or an operator imports them."))


def _counted(page: ToolPage, *, searched: bool) -> str:
    return say("The best {total:,}, the best first", total=page.total) if searched else tools_told(page.total)


def _listed(one: LibraryTool) -> None:
    with st.container(border=True):
        if st.button(unmarked(one.api), key=f"open-{one.id}", type="tertiary"):
            places.go("tools", tool=one.id)
        st.text(one.description or say("It says nothing of itself."))
        st.caption(unmarked(facts_told(one)))
        if said := scores_told(one):
            st.caption(unmarked(said))


def _turning(page: ToolPage) -> None:
    with st.container(horizontal=True, gap="small"):
        if _pages() and st.button(say("Back"), icon=":material/arrow_back:", key="library-back"):
            _pages().pop()
            st.rerun()
        if page.next is not None and st.button(say("More"), icon=":material/arrow_forward:", key="library-more"):
            _pages().append(page.next)
            st.rerun()


def _pages() -> list[str]:
    return st.session_state.setdefault(_AFTER, [])


def _from_the_first() -> None:
    st.session_state[_AFTER] = []
