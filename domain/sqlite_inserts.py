"""Python's SQLite module has to know an ``INSERT`` when it sees one, in every locale."""

import locale
import re
from contextlib import suppress

_SUBSTITUTES = ("C.UTF-8", "en_US.UTF-8", "C")
"""Locales of the C library in which ``I`` and ``i`` are one letter; the first that the machine has is taken."""


def recognise_inserts() -> None:
    """Choose other rules for letters where the process's make SQLite's ``INSERT`` unknown to Python; to be called before a database is opened.

    The module compares a statement's first word by the C library's rules. In Turkish and Azeri ``I`` is not the capital of ``i`` there, so that an
    ``INSERT`` passes for a statement that changes nothing: its number of rows is not told, and ``executemany`` refuses it. Only the rules for letters
    (``LC_CTYPE``) change; text stays UTF-8, and numbers, dates and the order of words stay the user's.
    """
    if _knows_inserts():
        return
    for name in _SUBSTITUTES:
        with suppress(locale.Error):  # the machine lacks it
            locale.setlocale(locale.LC_CTYPE, name)
            return


def _knows_inserts() -> bool:
    """Whether the C library takes both spellings for one word; asking SQLite itself would block the loop of who opens a database."""
    return re.fullmatch(b"insert", b"INSERT", re.IGNORECASE | re.LOCALE) is not None
