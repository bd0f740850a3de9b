"""The page's own words in its user's language. English stands in the code; ``ui/locales`` holds the others, as gettext catalogues."""

import logging
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, reduce
from pathlib import Path
from string import Formatter
from threading import local

import streamlit as st
from babel.dates import format_date, format_datetime
from babel.messages.pofile import PoFileError, read_po
from babel.numbers import format_decimal
from streamlit.runtime.scriptrunner import get_script_run_ctx

LANGUAGES = {"en": "English", "zh": "中文"}
"""What there is, each by its own name."""
COOKIE = "footpath_language"
"""Where a browser keeps what was chosen, for who has not logged in."""
HERE = "language_here"
"""Where the visit keeps what was chosen before logging in; what the account says counts more."""
_log = logging.getLogger(__name__)
_CATALOGUES = Path(__file__).with_name("locales")
_SEPARATED, _ROUNDED = "#,##0.###", {".0f": "0", ".1f": "0.0", ".2f": "0.00"}
"""How numbers are written whose place in a text says ``:,`` or how many decimals."""


def say(text: str, /, **values: object) -> str:
    """``text`` in the language of this visit, with ``values`` in place of their names in braces; English where a catalogue lacks it."""
    said = _catalogue(language()).get(text) or text
    return _WORDS.format(said, **values) if values else said


def say_count(one: str, more: str, count: int, /, **values: object) -> str:
    """``one`` or ``more``, as ``count`` wants it; ``{count}`` stands for it. A language with one form for both has it under ``one``."""
    said = _catalogue(language()).get(one) or (one if count == 1 else more)
    return _WORDS.format(said, count=count, **values)


def message(text: str) -> str:
    """Mark a text that is kept before anybody's language is known, and said later: it comes back as it is."""
    return text


def day(of: date, *, weekday: bool = False) -> str:
    """``15 Jul 2026``, ``Wed 15 Jul 2026``, in the form that the visit's language has for it."""
    return format_date(of, say("EEE d MMM y") if weekday else say("d MMM y"), locale=language())


def short_day(of: date) -> str:
    """Without its year, as at an axis."""
    return format_date(of, say("d MMM"), locale=language())


def moment(at: datetime, *, seconds: bool = False) -> str:
    """A day with its time; the zone is named where it is another than UTC."""
    return format_datetime(
        at, say("d MMM y HH:mm:ss") if seconds else say("d MMM y HH:mm"), tzinfo=at.tzinfo, locale=language()
    )


def number(value: float) -> str:
    """In groups of three, as the visit's language writes them."""
    return format_decimal(value, _SEPARATED, locale=language())


def listing(parts: list[str]) -> str:
    """One after the other."""
    return say(", ").join(parts)


def sentences(parts: list[str]) -> str:
    """One after the other, with what stands between sentences."""
    return reduce(lambda one, other: say("{one} {other}", one=one, other=other), parts)


def begin() -> None:
    """The page is drawn anew: what was chosen until now counts for all of it."""
    _DRAWING.__dict__.clear()


def language() -> str:
    """What this visit reads: what was chosen, else the browser's, where there is a catalogue for it, else English. It is looked up once for a
    drawing: a page says hundreds of texts.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return "en"
    known: tuple[object, str] | None = getattr(_DRAWING, "known", None)
    if known is None or known[0] is not context:
        known = _DRAWING.known = context, _language()
    return known[1]


def _language() -> str:
    chosen = chosen_language() or st.context.cookies.get(COOKIE, "")
    told = chosen if chosen in LANGUAGES else str(st.context.locale or "").partition("-")[0].lower()
    return told if told in LANGUAGES else "en"


def chosen_language() -> str:
    """What the user chose for the account, else what somebody chose in this browser; empty: nothing."""
    return st.session_state.get("language") or st.session_state.get(HERE, "")


class _Words(Formatter):
    """Numbers in groups or with decimals are written as the visit's language writes them."""

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if format_spec == ",":
                return number(value)
            if format_spec in _ROUNDED:
                return format_decimal(value, _ROUNDED[format_spec], locale=language())
        return format(value, format_spec)


_WORDS = _Words()
_DRAWING = local()
"""Each drawing has a thread to itself, and a context."""


@cache
def _catalogue(code: str) -> Mapping[str, str]:
    """By the English text; nothing in it, so that all is said in English, where its file is broken, which the log tells."""
    if code == "en":
        return {}
    try:
        with (_CATALOGUES / f"{code}.po").open("rb") as file:
            read = read_po(file, locale=code, abort_invalid=True)
    except (OSError, ValueError, PoFileError):
        _log.exception("the page's texts in %s cannot be read; they are said in English", code)
        return {}
    texts = {one.id: one.string for one in read if one.id}
    return {
        (key if isinstance(key, str) else key[0]): (text if isinstance(text, str) else text[0])
        for key, text in texts.items()
        if text
    }
