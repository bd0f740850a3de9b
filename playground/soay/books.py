"""Leafhaven, in the manner of OpenLibrary: six functions over books, editions and authors."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.soay import books_world as world

router = APIRouter()
MOST_DOCS = 20
_NO_BOOK = refusals(e404="No book has this identifier.")
_NO_AUTHOR = refusals(e404="No author has this identifier.")
BookId = Annotated[str, Path(description="Identifier of the book.", examples=["OL4519212W"])]
AuthorId = Annotated[str, Path(description="Identifier of the author.", examples=["OL730211A"])]


class BookDoc(BaseModel):
    """A book in a search."""

    book_id: str = Field(description="Identifier of the book.", examples=["OL4519212W"])
    title: str = Field(description="Title of the book.", examples=["Letters from Cold Harbour"])
    author_name: str = Field(description="Name of the author.", examples=["Greta Ashgrove"])
    first_publish_year: int = Field(description="Year of the first edition.", examples=[1951])
    edition_count: int = Field(description="How many editions there are.", examples=[3])


class BooksFound(BaseModel):
    """The books of a search."""

    num_found: int = Field(description="How many there are; at most 20 are given.", examples=[1])
    docs: list[BookDoc] = Field(description="The books.")


class WrittenBy(BaseModel):
    """Who wrote a book."""

    author_id: str = Field(description="Identifier of the author.", examples=["OL730211A"])
    name: str = Field(description="Name of the author.", examples=["Greta Ashgrove"])


class BookPage(BaseModel):
    """A book in detail."""

    title: str = Field(description="Title of the book.", examples=["Letters from Cold Harbour"])
    description: str = Field(description="What it is about.", examples=["A story of beekeeping, set in Velmora."])
    subjects: list[str] = Field(description="Its subjects.", examples=[["beekeeping", "gardens"]])
    setting: str = Field(description="The town where it is set.", examples=["Velmora"])
    author: WrittenBy = Field(description="Who wrote it.")


class EditionEntry(BaseModel):
    """One edition of a book."""

    isbn: str = Field(description="ISBN of the edition.", examples=["979-12-345678"])
    publisher: str = Field(description="Name of the publisher.", examples=["Hollow Oak"])
    year: int = Field(description="Year of the edition.", examples=[1962])
    pages: int = Field(description="Number of pages.", examples=[312])
    language: str = Field(description="Language of the edition.", examples=["German"])
    format: str = Field(description="Its form.", examples=["paperback"])


class EditionList(BaseModel):
    """The editions of a book."""

    size: int = Field(description="How many there are.", examples=[1])
    entries: list[EditionEntry] = Field(description="The editions, the earliest first.")


class AuthorDoc(BaseModel):
    """An author in a search."""

    author_id: str = Field(description="Identifier of the author.", examples=["OL730211A"])
    name: str = Field(description="Name of the author.", examples=["Greta Ashgrove"])
    birth_year: int = Field(description="Year of birth.", examples=[1921])
    work_count: int = Field(description="How many books the author has written.", examples=[4])
    top_work: str = Field(
        description="Title of the book that readers like best.", examples=["Letters from Cold Harbour"]
    )


class AuthorsFound(BaseModel):
    """The authors of a search."""

    num_found: int = Field(description="How many there are; at most 20 are given.", examples=[1])
    docs: list[AuthorDoc] = Field(description="The authors.")


class AuthorPage(BaseModel):
    """An author in detail."""

    name: str = Field(description="Name of the author.", examples=["Greta Ashgrove"])
    bio: str = Field(
        description="The life of the author in a sentence.", examples=["Greta Ashgrove, born in Velmora in 1921."]
    )
    birthplace: str = Field(description="The town where the author was born.", examples=["Velmora"])
    awards: list[str] = Field(description="Awards that the author has received.", examples=[["the Silver Quill"]])


class AuthorBook(BaseModel):
    """A book of an author."""

    book_id: str = Field(description="Identifier of the book.", examples=["OL4519212W"])
    title: str = Field(description="Title of the book.", examples=["Letters from Cold Harbour"])
    first_publish_year: int = Field(description="Year of the first edition.", examples=[1951])
    rating: float = Field(description="What readers give it, from 1 to 5.", examples=[4.12])


class AuthorBooks(BaseModel):
    """The books of an author."""

    size: int = Field(description="How many there are.", examples=[1])
    entries: list[AuthorBook] = Field(description="The books, the earliest first.")


@router.get(
    "/search.json", operation_id="searchBooks", summary="Search books", responses=refusals(e400="Nothing to search by.")
)
async def search_books(
    title: Annotated[
        str | None, Query(description="Title of the book.", examples=["Letters from Cold Harbour"])
    ] = None,
    author: Annotated[str | None, Query(description="Name of the author.", examples=["Greta Ashgrove"])] = None,
    subject: Annotated[str | None, Query(description="A subject of the book.", examples=["beekeeping"])] = None,
) -> BooksFound:
    """Find books by title, author or subject: who wrote them, the year of the first edition, how many editions there are."""
    if not (title or author or subject):
        refuse(400, "Give a title, an author or a subject.")
    found = [
        book
        for book in sorted(world.books(), key=lambda book: (book.year, book.title))
        if _words(title) <= _words(book.title)
        and _words(author) <= _words(book.author.name)
        and (not subject or subject.casefold() in book.subjects)
    ]
    docs = [
        BookDoc(
            book_id=book.book_id, title=book.title, author_name=book.author.name, first_publish_year=book.year,
            edition_count=len(book.editions),
        )
        for book in found[:MOST_DOCS]
    ]  # fmt: skip
    return BooksFound(num_found=len(found), docs=docs)


@router.get("/works/{book_id}.json", operation_id="getBook", summary="A book in detail", responses=_NO_BOOK)
async def get_book(book_id: BookId) -> BookPage:
    """Details of a book: what it is about, its subjects, the town where it is set, and who wrote it."""
    book = _book(book_id)
    return BookPage(
        title=book.title, description=book.description, subjects=list(book.subjects), setting=book.setting.name,
        author=WrittenBy(author_id=book.author.author_id, name=book.author.name),
    )  # fmt: skip


@router.get(
    "/works/{book_id}/editions.json", operation_id="getEditions", summary="Editions of a book", responses=_NO_BOOK
)
async def get_editions(book_id: BookId) -> EditionList:
    """The editions of a book: ISBN, publisher, year, number of pages, language and format of each."""
    entries = [
        EditionEntry(
            isbn=one.isbn,
            publisher=one.publisher,
            year=one.year,
            pages=one.pages,
            language=one.language,
            format=one.format,
        )
        for one in _book(book_id).editions
    ]
    return EditionList(size=len(entries), entries=entries)


@router.get("/search/authors.json", operation_id="searchAuthors", summary="Search authors")
async def search_authors(
    name: Annotated[str, Query(min_length=2, description="Name of the author.", examples=["Greta Ashgrove"])],
) -> AuthorsFound:
    """Find authors of books by name: year of birth, how many books they have written, the best liked of them."""
    found = [one for one in world.authors() if _words(name) <= _words(one.name)]
    docs = [
        AuthorDoc(
            author_id=one.author_id, name=one.name, birth_year=one.born, work_count=len(world.books_by(one)),
            top_work=world.best_of(one).title,
        )
        for one in found[:MOST_DOCS]
    ]  # fmt: skip
    return AuthorsFound(num_found=len(found), docs=docs)


@router.get("/authors/{author_id}.json", operation_id="getAuthor", summary="An author in detail", responses=_NO_AUTHOR)
async def get_author(author_id: AuthorId) -> AuthorPage:
    """Details of an author: a short biography, the town of birth, awards."""
    one = _author(author_id)
    return AuthorPage(name=one.name, bio=one.bio, birthplace=one.birthplace.name, awards=list(one.awards))


@router.get(
    "/authors/{author_id}/works.json", operation_id="getAuthorBooks", summary="Books of an author", responses=_NO_AUTHOR
)
async def get_author_books(author_id: AuthorId) -> AuthorBooks:
    """The books that an author has written: title, year of the first edition, and what readers give each."""
    entries = [
        AuthorBook(book_id=book.book_id, title=book.title, first_publish_year=book.year, rating=book.rating)
        for book in world.books_by(_author(author_id))
    ]
    return AuthorBooks(size=len(entries), entries=entries)


def _book(book_id: str) -> world.Book:
    found = next((book for book in world.books() if book.book_id == book_id), None)
    if found is None:
        refuse(404, f"No book has the identifier {book_id}.")
    return found


def _author(author_id: str) -> world.Author:
    found = next((author for author in world.authors() if author.author_id == author_id), None)
    if found is None:
        refuse(404, f"No author has the identifier {author_id}.")
    return found


def _words(text: str | None) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in (text or "").casefold()).split())


SERVICE = Service(router, "Leafhaven", "Books, their editions and their authors.")
