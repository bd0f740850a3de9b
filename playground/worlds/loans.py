"""The copies of books that the lending libraries have, and when they come back."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import City, cities
from playground.worlds.library import Book, books


@dataclass(frozen=True, slots=True)
class Copy:
    """``due``: when a copy on loan comes back; None for one on the shelf."""

    copy_id: str
    book: Book
    branch: City
    shelf: str
    due: date | None


@cache
def copies() -> tuple[Copy, ...]:
    """One to three of every book."""
    return tuple(_copy(book, place) for book in books() for place in range(chance.between(1, 3, "copies", book.title)))


def copies_of(isbn: str) -> list[Copy]:
    """The copies of a book, by its ISBN with or without hyphens."""
    digits = isbn.replace("-", "").replace(" ", "")
    return [one for one in copies() if one.book.isbn == digits]


def copy_by_id(copy_id: str) -> Copy | None:
    """The copy of that identifier."""
    return next((one for one in copies() if one.copy_id == copy_id), None)


def _copy(book: Book, place: int) -> Copy:
    key = f"{book.title} {place}"
    out = chance.number("on loan", key) % 3 == 0
    return Copy(
        copy_id=f"cpy_{chance.identifier(8, 'copy', key)}",
        book=book,
        branch=chance.pick(cities(), "branch", key),
        shelf=f"{chance.pick('ABCDEFGH', 'shelf', key)}{chance.between(10, 99, 'place', key)}",
        due=TODAY + timedelta(days=chance.between(1, 28, "due", key)) if out else None,
    )
