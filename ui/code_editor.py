"""A field for a program's text: highlighted, with line numbers, marks at the lines that something is wrong with, and names to choose from.

It is a text area with a few hundred lines of script of our own, which need no network. What is wrong with a text is asked of the server.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from pydantic import BaseModel

from ui.components import registered
from ui.language import message, say

_HINT = message(
    "Python. Tab indents; Escape, then Tab leaves the field. Names of functions are proposed while you type: arrow keys choose, Enter takes one."
)


class Complaint(BaseModel):
    """What is wrong with a text, and what to do. ``line``, ``column`` from 1; 0: it is about the whole."""

    line: int = 0
    column: int = 0
    message: str


class Word(BaseModel):
    """A name that may be written. ``insert``: what is put in for it; ``about``: how it is shown."""

    name: str
    insert: str
    about: str


@dataclass(frozen=True)
class Insertion:
    """Something that is put in where the cursor is, once for each ``number``; ``line``: as a line of its own."""

    number: int = 0
    text: str = ""
    line: bool = False


@dataclass(frozen=True)
class EditedText:
    """What the field shows. ``revision``: changes where the text was put in place of what is typed. ``notes``: by line, beside the code of
    the text ``noted``.
    """

    text: str
    revision: int = 0
    complaints: Sequence[Complaint] = ()
    words: Sequence[Word] = ()
    insert: Insertion = field(default_factory=Insertion)
    notes: Mapping[int, str] = field(default_factory=dict[int, str])
    noted: str = ""


def code_field(label: str, shown: EditedText, key: str, changed: Callable[[str], None]) -> None:
    """The field; ``changed`` is told of another text after a pause in typing, and when the field is left."""

    def told() -> None:
        state = st.session_state.get(key)
        text = None if state is None else state.get("text")
        if isinstance(text, str):
            changed(text)

    data = {
        "label": label,
        "hint": say(_HINT),
        "at_line": say("Line {line}: {message}"),
        "text": shown.text,
        "revision": shown.revision,
        "complaints": [one.model_dump() for one in shown.complaints],
        "words": [one.model_dump() for one in shown.words],
        "insert": {"number": shown.insert.number, "text": shown.insert.text, "line": shown.insert.line},
        "notes": {str(line): note for line, note in shown.notes.items()},
        "noted": shown.noted,
    }
    registered("code_editor")(key=key, data=data, on_text_change=told)
