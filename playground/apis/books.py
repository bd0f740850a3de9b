"""Open Shelf: books, their authors and reviews."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import library

router = APIRouter(prefix="/shelf", tags=["Books"])
_BOOK = refusals(e404="No book has this identifier.")
BookId = Annotated[str, Path(description="Identifier of the book, from a search.", examples=["bk_9c41d7e2"])]


class BookHit(BaseModel):
    """A book in a list."""

    book_id: str = Field(description="Identifier of the book.", examples=["bk_9c41d7e2"])
    title: str = Field(description="Title of the book.", examples=["The Glass Harbour"])
    year: int = Field(description="Year of publication.", examples=[1987])


class Books(BaseModel):
    """The books found."""

    count: int = Field(description="How many books were found.", examples=[1])
    books: list[BookHit]


class BookDetails(BookHit):
    """A book with all that the catalogue knows."""

    author_id: str = Field(description="Identifier of the author.", examples=["aut_5be07a10"])
    author_name: str = Field(description="Name of the author.", examples=["Ottoline Marsh"])
    publisher: str = Field(description="The publishing house.", examples=["Larkmoor Press"])
    pages: int = Field(description="Number of pages.", examples=[312])
    isbn: str = Field(description="The ISBN, 13 digits.", examples=["9790123456785"])
    subjects: list[str] = Field(description="What it is about.", examples=[["mystery", "travel"]])


class AuthorDetails(BaseModel):
    """An author's life and works."""

    author_id: str = Field(description="Identifier of the author.", examples=["aut_5be07a10"])
    name: str = Field(description="Name of the author.", examples=["Ottoline Marsh"])
    birth_year: int = Field(description="Year of birth.", examples=[1949])
    birth_city: str = Field(description="City where the author was born.", examples=["Velmora"])
    birth_country: str = Field(description="Country where the author was born.", examples=["Veldania"])
    books: list[BookHit]


class ReviewItem(BaseModel):
    """What a reader says."""

    reviewer: str = Field(description="Name of the reader.", examples=["reader417"])
    rating: int = Field(description="From 1 to 5 stars.", examples=[4])
    text: str = Field(description="The review.", examples=["Hard to put down, with an ending that stays."])


class Reviews(BaseModel):
    """All reviews of a book."""

    book_id: str = Field(description="Identifier of the book.", examples=["bk_9c41d7e2"])
    average_rating: float = Field(description="Mean of the ratings, from 1 to 5.", examples=[3.75])
    review_count: int = Field(description="How many reviews there are.", examples=[4])
    reviews: list[ReviewItem]


@router.get("/search", operation_id="search_books", summary="Search books by title")
async def search_books(
    title: Annotated[
        str, Query(min_length=2, description="Title of the book, or words of it.", examples=["The Glass Harbour"])
    ],
    limit: Annotated[int, Query(ge=1, le=20, description="How many books to return at most.")] = 5,
) -> Books:
    """Find books or novels by their title and get their identifiers."""
    wanted = title.casefold().split()
    found = [book for book in library.books() if set(wanted) <= set(book.title.casefold().split())]
    found.sort(key=lambda book: (book.title.casefold() != title.strip().casefold(), book.title))
    hits = [_hit(book) for book in found[:limit]]
    return Books(count=len(hits), books=hits)


@router.get("/books/{book_id}", operation_id="get_book_details", summary="Details of a book", responses=_BOOK)
async def get_book_details(book_id: BookId) -> BookDetails:
    """Details of a book: its author, publisher, number of pages, ISBN and subjects."""
    book = _book(book_id)
    return BookDetails(
        **_hit(book).model_dump(),
        author_id=book.author.author_id,
        author_name=book.author.name,
        publisher=book.publisher,
        pages=book.pages,
        isbn=book.isbn,
        subjects=list(book.subjects),
    )


@router.get("/books/{book_id}/reviews", operation_id="get_book_reviews", summary="Reviews of a book", responses=_BOOK)
async def get_book_reviews(book_id: BookId) -> Reviews:
    """Reviews and average rating that readers gave a book."""
    book = _book(book_id)
    items = [ReviewItem(reviewer=item.reviewer, rating=item.rating, text=item.text) for item in book.reviews]
    return Reviews(book_id=book_id, average_rating=book.average_rating, review_count=len(items), reviews=items)


@router.get(
    "/authors/{author_id}",
    operation_id="get_author_details",
    summary="Life and works of an author",
    responses=refusals(e404="No author has this identifier."),
)
async def get_author_details(
    author_id: Annotated[
        str, Path(description="Identifier of the author, from the details of a book.", examples=["aut_5be07a10"])
    ],
) -> AuthorDetails:
    """Details of an author: the year of birth, the city and country where the author was born, and all books
    written.
    """
    author = library.author_by_id(author_id)
    if author is None:
        refuse(404, f"No such author: {author_id}.")
    return AuthorDetails(
        author_id=author_id,
        name=author.name,
        birth_year=author.birth_year,
        birth_city=author.birth_city.name,
        birth_country=author.birth_city.country.name,
        books=[_hit(book) for book in library.books_by(author)],
    )


def _hit(book: library.Book) -> BookHit:
    return BookHit(book_id=book.book_id, title=book.title, year=book.year)


def _book(book_id: str) -> library.Book:
    found = library.book_by_id(book_id)
    if found is None:
        refuse(404, f"No such book: {book_id}.")
    return found


SERVICE = Service(router, "Open Shelf", "A library catalogue: books, authors and readers' reviews.")
