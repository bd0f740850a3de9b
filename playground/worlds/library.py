"""Novels and other books, their authors and what readers say of them. Ratings are the means of the reviews."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.geography import City, cities

AUTHORS = 48
BOOKS = 160
_GIVEN = words("Ottoline Barnaby Celeste Dunstan Evangeline Fergus Ginevra Horatio Imogen Jasper Leocadia Mortimer")
_FAMILY = words("Marsh Penhallow Quill Ravenscroft Sable Thistlewood Umber Vane Winterbourne Yale Zephyrin Larkspur")
_ADJECTIVES = ("Glass", "Silent", "Crimson", "Hollow", "Winter", "Paper", "Drowned", "Copper", "Last", "Wandering",
               "Salt", "Midnight", "Amber", "Forgotten", "Ninth", "Velvet")  # fmt: skip
_NOUNS = ("Harbour", "Orchard", "Lantern", "Cartographer", "Meridian", "Garden", "Archive", "Tide", "Clockmaker",
          "Kingdom", "Sparrow", "Labyrinth", "Observatory", "Bridge", "Cathedral")  # fmt: skip
SUBJECTS = ("historical fiction", "science fiction", "mystery", "romance", "travel", "biography", "fantasy", "poetry")
_PUBLISHERS = ("Larkmoor Press", "Blue Heron Books", "Saltmarsh & Sons", "Tern House", "Quayside Editions")
_VERDICTS = {
    1: "I gave up after fifty pages.",
    2: "A fine idea, poorly told.",
    3: "Pleasant enough for a rainy day.",
    4: "Hard to put down, with an ending that stays.",
    5: "The best book I have read this year.",
}


@dataclass(frozen=True, slots=True)
class Author:
    author_id: str
    name: str
    birth_year: int
    birth_city: City


@dataclass(frozen=True, slots=True)
class Review:
    reviewer: str
    rating: int
    text: str


@dataclass(frozen=True, slots=True)
class Book:
    book_id: str
    title: str
    author: Author
    year: int
    pages: int
    isbn: str
    publisher: str
    subjects: tuple[str, ...]
    reviews: tuple[Review, ...]

    @property
    def average_rating(self) -> float:
        """The mean of the reviews, to two places."""
        return round(sum(review.rating for review in self.reviews) / len(self.reviews), 2)


@cache
def authors() -> tuple[Author, ...]:
    """All authors; names are unique."""
    return tuple(_author(position) for position in range(AUTHORS))


@cache
def books() -> tuple[Book, ...]:
    """All books; titles are unique."""
    return tuple(_book(position) for position in range(BOOKS))


def author_by_id(author_id: str) -> Author | None:
    """The author of that identifier."""
    return next((author for author in authors() if author.author_id == author_id), None)


def book_by_id(book_id: str) -> Book | None:
    """The book of that identifier."""
    return next((book for book in books() if book.book_id == book_id), None)


def books_by(author: Author) -> list[Book]:
    """The books of an author, oldest first."""
    return sorted((book for book in books() if book.author is author), key=lambda book: (book.year, book.title))


def isbn13(first_twelve: str) -> str:
    """Twelve digits with their check digit."""
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(first_twelve))
    return first_twelve + str(-weighted % 10)


def _author(position: int) -> Author:
    name = f"{_GIVEN[position % 12]} {_FAMILY[(position * 5 + position // 12) % 12]}"
    return Author(
        author_id=f"aut_{chance.identifier(8, 'author', name)}",
        name=name,
        birth_year=chance.between(1921, 1984, "born", name),
        birth_city=chance.pick(cities(), "birthplace", name),
    )


def _book(position: int) -> Book:
    title = f"The {_ADJECTIVES[position % 16]} {_NOUNS[(position + position // 16) % 15]}"
    author = authors()[chance.number("writer", position) % AUTHORS]
    return Book(
        book_id=f"bk_{chance.identifier(8, 'book', title)}",
        title=title,
        author=author,
        year=author.birth_year + chance.between(22, 40, "published", title),
        pages=chance.between(120, 840, "pages", title),
        isbn=isbn13(f"9790{chance.between(10**7, 10**8 - 1, 'isbn', title)}"),
        publisher=chance.pick(_PUBLISHERS, "publisher", title),
        subjects=tuple(chance.several(SUBJECTS, 2, "subjects", title)),
        reviews=tuple(_review(title, place) for place in range(chance.between(2, 5, "reviews", title))),
    )


def _review(title: str, place: int) -> Review:
    rating = chance.between(1, 5, "rating", title, place)
    return Review(f"reader{chance.between(100, 999, 'reader', title, place)}", rating, _VERDICTS[rating])
