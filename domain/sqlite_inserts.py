"""Workaround for Python's SQLite module, which does not recognise ``INSERT`` in some locales."""

import locale
import re
from contextlib import suppress

_FALLBACK_LOCALES = ("C.UTF-8", "en_US.UTF-8", "C")
"""C locales in which ``I`` and ``i`` are one letter; the first available one is used."""


def ensure_inserts_recognised() -> None:
    """Change ``LC_CTYPE`` if it keeps Python from recognising ``INSERT``; call before opening a database.

    The module compares a statement's first word by the C library's rules. In Turkish and Azeri ``I`` is not the upper
    case of ``i``, so that an ``INSERT`` is taken for a statement that changes nothing: its row count is not reported,
    and ``executemany`` rejects it. Only ``LC_CTYPE`` changes; text stays UTF-8, and numbers, dates and sorting stay
    the user's.
    """
    if _are_inserts_recognised():
        return
    for name in _FALLBACK_LOCALES:
        with suppress(locale.Error):  # the machine lacks it
            locale.setlocale(locale.LC_CTYPE, name)
            return


def _are_inserts_recognised() -> bool:
    """Return whether the C library treats both spellings as one word.

    Asking SQLite itself would block the event loop of whoever opens a database.
    """
    return re.fullmatch(b"insert", b"INSERT", re.IGNORECASE | re.LOCALE) is not None
