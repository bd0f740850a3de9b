"""An answer on the page: the figure or the sentences first, tables that scroll by themselves, then what is missing and what it rests on.

All of it may be a stranger's: it is shown as text, or escaped in HTML.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from ui.answer_evidence import evidence
from ui.answer_parts import (
    AnswerParts,
    Items,
    Note,
    NoteKind,
    Sentences,
    Source,
    Table,
    answer_parts,
    asked_first,
)
from ui.calls import Call
from ui.language import listing, message, say
from ui.people import is_number, sentence_told, spoken, value_told
from ui.texts import for_page, unmarked, visible
from ui.values import shown

_ASIDE = "No call was made for: "
_SIGNS: dict[NoteKind, str] = {"done": "✓", "not_done": "–", "unknown": "?"}
_SAID: dict[NoteKind, str] = {"done": message("Done"), "not_done": message("Not done"), "unknown": ""}


def draw_answer(text: str, calls: Sequence[Call], request: str = "") -> None:
    """``calls``: of its run, for what a figure is. ``request``: for which of a record's fields was asked."""
    parts = answer_parts(for_page(text))
    for one in parts.of("done", "not_done", "unknown"):
        st.text(_change(one))
    for part in parts.said:
        if isinstance(part, Table):
            _table(part, request, calls)
        else:
            _part(part, calls)
    for one in parts.of("failed"):
        told = say("This could not be answered: {text}", text=one.text)
        if parts.of("not_done"):
            st.caption(unmarked(told))
        else:
            st.text(visible(told))
    for one in parts.of("missing"):
        st.warning(say("**Not all of it is answered:** {text}", text=unmarked(one.text)), icon=":material/help:")
    rests_on(parts)


def rests_on(parts: AnswerParts) -> None:
    """The tools behind it, or what was weighed where there is none."""
    if parts.sources:
        st.caption(say("Based on {sources}", sources=listing([unmarked(_source(one)) for one in parts.sources])))
    for one in parts.of("aside"):
        st.caption(unmarked(say("No call was made for: {text}", text=one.text.removeprefix(_ASIDE))))
    for one in parts.of("considered"):
        st.caption(say("Considered to start with: {text}", text=unmarked(one.text)))


def table_html(table: Table, name: str = "") -> str:
    """For a screen of any width: it is scrolled by itself. ``name``: what it is, for who cannot see it."""
    heads = table.heads
    head = "".join(f'<th scope="col">{escape(visible(_named(one)))}</th>' for one in heads)
    body = "".join(f"<tr>{_row(one, heads)}</tr>" for one in table.rows)
    top = f"<thead><tr>{head}</tr></thead>" if heads else ""
    named = escape(name or say("The answer as a table"))
    return f'<div class="fp-table" tabindex="0" role="group" aria-label="{named}"><table>{top}<tbody>{body}</tbody></table></div>'


def _row(row: Sequence[str], heads: Sequence[str]) -> str:
    if not heads:
        return f'<th scope="row">{escape(visible(_named(row[0])))}</th>{_cell(row[1], row[0])}'
    return "".join(_cell(value, head) for value, head in zip(row, heads, strict=True))


def _named(name: str) -> str:
    """The name of a column or a row: one that a program wrote as words, any other as it is."""
    told = sentence_told(name)
    if told != name:
        return told
    return spoken(name) if name.isidentifier() and not name[:1].isupper() else name[:1].upper() + name[1:]


def _cell(value: str, name: str) -> str:
    number = ' class="fp-quantity"' if is_number(value) else ""
    return f"<td{number}>{escape(visible(value_told(value, name)))}</td>"


def _table(table: Table, request: str, calls: Sequence[Call]) -> None:
    """Of a record the one figure that was asked for stands above the rest."""
    sent = {shown(value) for call in calls for value in call.arguments.values()}
    table, asked = asked_first(table, request, sent)
    if asked == 1 and is_number(table.rows[0][1]):
        name, value = table.rows[0]
        st.metric(unmarked(spoken(name)), value_told(value, name))
        table = replace(table, rows=table.rows[1:])
    st.html(table_html(table))
    if table.reference:
        st.caption(unmarked(say("From {reference}", reference=table.reference)))


def _part(part: Items | Sentences, calls: Sequence[Call]) -> None:
    match part:
        case Items(items):
            st.html(
                '<ul class="fp-items">'
                + "".join(f"<li>{escape(visible(sentence_told(one)))}</li>" for one in items)
                + "</ul>"
            )
        case Sentences(text) if is_number(text):
            found = evidence(text.strip(), calls)
            name = found.field if found else ""
            st.metric(
                unmarked(spoken(name)) if name else say("Answer"),
                value_told(text, name),
                label_visibility="visible" if name else "collapsed",
            )
        case Sentences(text):
            st.text(visible(sentence_told(text)))


def _change(note: Note) -> str:
    told = sentence_told(note.text)
    if said := _SAID[note.kind]:
        told = say("{what}: {text}", what=say(said), text=told)
    return visible(f"{_SIGNS[note.kind]} {told}")


def _source(source: Source) -> str:
    toolset, _, api = source.tool.partition("/")
    return f"{source.calls} {toolset} / {api}" if api else f"{source.calls} {toolset}"
