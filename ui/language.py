"""The page's own words in its user's language. English stands in the code; ``ui/locales`` holds the others, as gettext catalogues."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import streamlit as st
from babel.messages.pofile import read_po

LANGUAGES = {"en": "English", "zh": "中文"}
"""What there is, each by its own name."""
_CATALOGUES = Path(__file__).with_name("locales")


def say(text: str, **values: object) -> str:
    """``text`` in the language of this visit, with ``values`` in place of their names in braces; English where a catalogue lacks it."""
    said = _catalogue(language()).get(text) or text
    return said.format(**values) if values else said


def say_count(one: str, more: str, count: int, **values: object) -> str:
    """``one`` or ``more``, as ``count`` wants it; ``{count}`` stands for it. A language with one form for both has it under ``one``."""
    said = _catalogue(language()).get(one) or (one if count == 1 else more)
    return said.format(count=count, **values)


def message(text: str) -> str:
    """Mark a text that is kept before anybody's language is known, and said later: it comes back as it is."""
    return text


def language() -> str:
    """What this visit reads: what its user chose, else the browser's, where there is a catalogue for it, else English."""
    chosen = st.session_state.get("language") or str(st.context.locale or "").partition("-")[0].lower()
    return chosen if chosen in LANGUAGES else "en"


@cache
def _catalogue(code: str) -> Mapping[str, str]:
    """By the English text. Raises ``OSError`` and ``ValueError`` where a file of this package is broken."""
    if code == "en":
        return {}
    with (_CATALOGUES / f"{code}.po").open("rb") as file:
        read = read_po(file, locale=code)
    texts = {one.id: one.string for one in read if one.id}
    return {
        (key if isinstance(key, str) else key[0]): (text if isinstance(text, str) else text[0])
        for key, text in texts.items()
        if text
    }
