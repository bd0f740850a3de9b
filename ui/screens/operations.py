"""Choosing which operations of its document a source takes: by tag, by path, one by one, and only those that read."""

import streamlit as st

from domain.tool_source import NO_TAG, Operation, OperationChoice
from ui.client import Client
from ui.language import number, say, say_count
from ui.problems import ServerError
from ui.screens.tables import table
from ui.screens.telling import told
from ui.source_words import operations_told
from ui.sources import Source, SourceOutline, choose_operations, outline_source
from ui.texts import labelled, unmarked, visible

_READING = ("GET", "HEAD")
_TICKED = 80
"""Tags that are all shown to be ticked; of more, they are searched for."""
_SINGLE = 5_000
"""Operations that can be chosen one by one: a browser holds them all."""
_LISTED = 200


def choosing(outline: SourceOutline, key: str, now: OperationChoice) -> OperationChoice:
    """Fields for a choice, and what it comes to. ``now``: what is chosen at first."""
    counts = {one.tag: one.count for one in outline.tags}
    chosen_tags = _tags(counts, [tag for tag in now.tags if tag in counts], f"{key}-tags")
    paths = st.text_input(
        say("By path: all that begin with"), " ".join(now.paths), max_chars=2000, key=f"{key}-paths", placeholder=say("/repos /users")
    ).split()  # fmt: skip
    single = {one.label: one for one in outline.operations[:_SINGLE]}
    names = st.multiselect(
        say("One by one: type a part of a name, path or summary"),
        list(single),
        default=[name for name in now.names if name in single],
        format_func=lambda name: _label(single[name]),
        key=f"{key}-names",
    )
    reads = st.toggle(
        say("Of these, only what reads (GET)"),
        bool(now.methods) and set(now.methods) <= {*_READING},
        key=f"{key}-reads",
    )
    choice = OperationChoice(
        tags=tuple(chosen_tags), paths=tuple(paths), names=tuple(names), methods=_READING if reads else ()
    )
    _come_to(outline, choice)
    return choice


def operations(client: Client, one: Source) -> None:
    """What a source takes of its document, to be changed: its document is read for it, once."""
    st.caption(unmarked(operations_told(one.operations)))
    kept = f"outline-{one.id}-{one.version}"
    if kept not in st.session_state:
        if not st.button(say("Choose its operations"), icon=":material/checklist:", key=f"outline-{one.id}"):
            return
        try:
            with st.spinner(say("Its document is being read …")):
                st.session_state[kept] = outline_source(client, one.id)
        except ServerError as error:
            if error.logged_out:
                raise
            st.error(unmarked(str(error)))
            return
    outline: SourceOutline = st.session_state[kept]
    choice = choosing(outline, f"choice-{one.id}-{one.version}", one.operations)
    st.caption(
        say(
            "Its document is read again. Tools that are not chosen any more are withdrawn; new ones wait to be checked."
        )
    )
    if st.button(say("Take these operations"), type="primary", key=f"take-{one.id}") and told(
        lambda: choose_operations(client, one.id, choice)
    ):
        st.session_state.pop(kept, None)
        st.toast(say("Read with these operations."))
        st.rerun()


def _tags(counts: dict[str, int], now: list[str], key: str) -> list[str]:
    def written(tag: str) -> str:
        return f"{visible(tag) if tag != NO_TAG else say('without a tag')} ({number(counts[tag])})"

    if len(counts) <= _TICKED:
        in_markdown = {tag: labelled(written(tag)) for tag in counts}
        return st.pills(
            say("By tag"),
            list(counts),
            selection_mode="multi",
            default=now,
            format_func=in_markdown.__getitem__,
            key=key,
        )
    return st.multiselect(say("By tag"), list(counts), default=now, format_func=written, key=key)


def _label(one: Operation) -> str:
    summary = f" · {one.summary}" if one.summary and one.summary != one.label else ""
    place = f" · {one.method} {one.path}" if one.name else ""
    return visible(f"{one.label}{place}{summary}"[:150])  # what is offered in a list is no Markdown


def _come_to(outline: SourceOutline, choice: OperationChoice) -> None:
    """How many operations are chosen against how many may be, and which."""
    chosen = outline.operations if choice.is_empty else choice.select(outline.operations)
    count = outline.total if choice.is_empty else len(chosen)
    text = say_count("1 operation is chosen", "{count:,} operations are chosen", count)
    if count > outline.most:
        st.error(say("{chosen}, and a source may have {most:,}. Choose fewer.", chosen=text, most=outline.most))
    elif not count:
        st.warning(say("No operation is chosen yet; a source may have {most:,}.", most=outline.most))
    else:
        st.success(say("{chosen} of at most {most:,}.", chosen=text, most=outline.most))
    if outline.total > len(outline.operations):
        st.caption(
            say(
                "Only the first {listed:,} of its operations can be listed here; those after them are taken by tag and path, too.",
                listed=len(outline.operations),
            )
        )
    if chosen and not choice.is_empty:
        with st.expander(say("What is chosen")):
            table(
                [
                    {
                        say("Method"): one.method,
                        say("Path"): one.path,
                        say("Name"): one.name,
                        say("Summary"): one.summary,
                    }
                    for one in chosen[:_LISTED]
                ]
            )
            if len(chosen) > _LISTED:
                st.caption(say("And {count:,} more.", count=len(chosen) - _LISTED))
