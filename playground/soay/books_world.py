"""Books, the editions that they came out in, and who wrote them."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import City, cities
from playground.worlds.people import FAMILY, FEMALE, MALE

AUTHORS, BOOKS = 60, 190
SUBJECTS = ("sea voyages", "mountain villages", "clockwork", "family secrets", "lost letters", "beekeeping", "night trains",
            "lighthouses", "travelling theatre", "border towns", "gardens", "map making")  # fmt: skip
PRESSES = ("Fennimore Press", "Hollow Oak", "Kestrel & Daughters", "Nine Wells", "Pallas Street", "Sundial Books")
LANGUAGES = ("English", "German", "Spanish", "Polish", "Chinese", "Arabic")
FORMATS = ("hardcover", "paperback", "audiobook", "e-book")
AWARDS = ("the Alder Medal", "the Corvane Prize", "the Silver Quill", "the Tidewater Award")
_FIRST = ("A Ledger of", "Beyond the", "Letters from", "Notes on", "The Keeper of", "The Last of", "Winter in", "Under the",
          "Songs for", "Return to")  # fmt: skip
_SECOND = ("Ash Ferry", "Black Orchard", "Cold Harbour", "Copper Hill", "Empty Quay", "Far Meadow", "Glass Tower", "Grey Pass",
           "High Garden", "Iron Bell", "Lantern House", "Long Shore", "North Gate", "Pale River", "Quiet Mill", "Red Station",
           "Salt Road", "Stone Bridge", "Wild Acre")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Author:
    author_id: str
    name: str
    born: int
    birthplace: City
    awards: tuple[str, ...]

    @property
    def bio(self) -> str:
        return f"{self.name}, born in {self.birthplace.name} in {self.born}, worked as {chance.pick(_JOBS, 'job', self.name)} before writing."


@dataclass(frozen=True, slots=True)
class Edition:
    isbn: str
    publisher: str
    year: int
    pages: int
    language: str
    format: str


@dataclass(frozen=True, slots=True)
class Book:
    book_id: str
    title: str
    author: Author
    year: int
    rating: float
    subjects: tuple[str, ...]
    setting: City
    editions: tuple[Edition, ...]

    @property
    def description(self) -> str:
        return (
            f"A story of {' and '.join(self.subjects)}, set in {self.setting.name}, in {len(self.title) + 9} chapters."
        )


_JOBS = ("a ship's cook", "a surveyor", "a piano tuner", "a school inspector", "a glazier", "a postmaster")


@cache
def authors() -> tuple[Author, ...]:
    """All authors; names are unique."""
    return tuple(_author(place) for place in range(AUTHORS))


@cache
def books() -> tuple[Book, ...]:
    """All books; titles are unique."""
    return tuple(_book(place) for place in range(BOOKS))


def books_by(author: Author) -> list[Book]:
    """The books of an author in the order in which the service lists them: the earliest first."""
    return sorted((book for book in books() if book.author is author), key=lambda book: (book.year, book.title))


def best_of(author: Author) -> Book:
    """The book that readers like best; of several as good the earliest."""
    return max(books_by(author), key=lambda book: book.rating)


def _author(place: int) -> Author:
    given = (FEMALE, MALE)[place % 2]
    name = f"{given[(place * 5) % len(given)]} {FAMILY[(place * 13 + place // 30) % len(FAMILY)]}"
    return Author(
        author_id=f"OL{chance.between(1000, 9999, 'author', name)}{place}A",
        name=name,
        born=chance.between(1880, 1975, "born", name),
        birthplace=chance.pick(cities(), "birthplace", name),
        awards=tuple(chance.several(AWARDS, chance.between(0, 2, "honours", name), "awards", name)),
    )


def _book(place: int) -> Book:
    title = f"{_FIRST[place % 10]} {_SECOND[place // 10 % 19]}"
    author = authors()[(place * 17) % AUTHORS if place < AUTHORS else chance.number("writer", place) % AUTHORS]
    year = author.born + chance.between(24, 48, "year", title)
    editions = tuple(_edition(title, number, year) for number in range(chance.between(1, 5, "editions", title)))
    return Book(
        book_id=f"OL{chance.between(10000, 99999, 'book', title)}{place}W",
        title=title,
        author=author,
        year=year,
        rating=round(2.5 + 2.5 * chance.unit("rating", title), 2),
        subjects=tuple(chance.several(SUBJECTS, chance.between(1, 3, "breadth", title), "subjects", title)),
        setting=chance.pick(cities(), "setting", title),
        editions=editions,
    )


def _edition(title: str, number: int, year: int) -> Edition:
    return Edition(
        isbn=f"979-{chance.between(10, 99, 'isbn', title, number)}-{chance.between(100000, 999999, 'isbn end', title, number)}",
        publisher=chance.pick(PRESSES, "press", title, number),
        year=year + 4 * number,
        pages=chance.between(120, 760, "pages", title, number),
        language="English" if number == 0 else chance.pick(LANGUAGES, "language", title, number),
        format=chance.pick(FORMATS, "format", title, number),
    )
