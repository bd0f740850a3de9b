"""Leafhaven's 22 templates."""

from collections.abc import Callable, Iterable, Iterator

from playground.soay import books_world as world
from playground.soay.books_world import Author, Book
from playground.soay.template import Gold, Template, Values, each_of, most, number, text

_BOOK = "books = await searchBooks(title=title)\n"
_PAGE = 'page = await getBook(book_id=books["docs"][0]["book_id"])\n'
_EDITIONS = 'editions = await getEditions(book_id=books["docs"][0]["book_id"])\n'
_AUTHOR = "authors = await searchAuthors(name=name)\n"
_LIFE = 'life = await getAuthor(author_id=authors["docs"][0]["author_id"])\n'
_WRITTEN = 'written = await getAuthorBooks(author_id=authors["docs"][0]["author_id"])\n'
_BEST = 'best = max(written["entries"], key=lambda one: one["rating"])\n'


def _book(values: Values) -> Book:
    return next(one for one in world.books() if one.title == values["title"])


def _author(values: Values) -> Author:
    return next(one for one in world.authors() if one.name == values["name"])


def _of_book(told: Callable[[Book], Gold | None]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_book(values))


def _of_author(told: Callable[[Author], Gold | None]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_author(values))


def _of_best(told: Callable[[Book], Gold]) -> Callable[[Values], Gold | None]:
    """Of the author's best liked book, where one is."""

    def direct(values: Values) -> Gold | None:
        books = sorted(world.books_by(_author(values)), key=lambda one: -one.rating)
        return told(books[0]) if len(books) > 1 and books[0].rating > books[1].rating else None

    return direct


def _titles(books: Iterable[Book], among: Iterable[Book] = ()) -> Gold:
    return each_of([one.title for one in books], [one.title for one in among])


def _presses(book: Book) -> Gold:
    return each_of([one.publisher for one in book.editions], world.PRESSES)


def _longest(book: Book) -> Gold:
    """Its pages, and not those of the other editions."""
    longest = max(one.pages for one in book.editions)
    others = {str(one.pages) for one in book.editions if one.pages != longest}
    return Gold(numbers=(longest,), others=tuple(sorted(others)))


def _plot(book: Book) -> Gold:
    """What it is about, and not what the author's other books are."""
    return each_of([book.description], [one.description for one in world.books_by(book.author)])


def _rated(author: Author) -> Gold:
    return most((one.rating, one.title) for one in world.books_by(author))


def _later(values: Values) -> Gold:
    books = world.books_by(_author(values))
    return _titles([one for one in books if one.year > int(values["year"])], books)


def _on(values: Values) -> Gold:
    books = world.books_by(_author(values))
    return _titles([one for one in books if values["subject"] in one.subjects], books)


def _books() -> Iterator[Values]:
    for one in world.books():
        yield {"title": one.title}


def _authors() -> Iterator[Values]:
    for one in world.authors():
        yield {"name": one.name}


def _authors_and_years() -> Iterator[Values]:
    for one in world.authors():
        books = world.books_by(one)
        yield {"name": one.name, "year": books[len(books) // 2].year - 1}


def _authors_and_subjects() -> Iterator[Values]:
    for one in world.books():
        yield {"name": one.author.name, "subject": one.subjects[0]}


TEMPLATES = (
    Template(1, 1, "When was the book {title} first published?", "《{title}》一书最早是哪一年出版的？", _BOOK + 'books["docs"][0]["first_publish_year"]', _of_book(lambda one: number(one.year)), _books),
    Template(2, 1, "How many editions of the book {title} are there?", "《{title}》一书有多少个版本？", _BOOK + 'books["docs"][0]["edition_count"]', _of_book(lambda one: number(len(one.editions))), _books),
    Template(3, 1, "Who wrote the book {title}?", "《{title}》一书的作者是谁？", _BOOK + 'books["docs"][0]["author_name"]', _of_book(lambda one: text(one.author.name)), _books),
    Template(4, 1, "How many books has {name} written?", "{name}写过多少本书？", _AUTHOR + 'authors["docs"][0]["work_count"]', _of_author(lambda one: number(len(world.books_by(one)))), _authors),
    Template(5, 1, "In which year was the author {name} born?", "作家{name}出生于哪一年？", _AUTHOR + 'authors["docs"][0]["birth_year"]', _of_author(lambda one: number(one.born)), _authors),
    Template(6, 1, "Which books by {name} are about {subject}?", "{name}的哪些书是关于{subject}的？", 'books = await searchBooks(author=name, subject=subject)\n[one["title"] for one in books["docs"]]', _on, _authors_and_subjects),
    Template(7, 2, "What is the book {title} about?", "《{title}》一书讲的是什么？", _BOOK + _PAGE + 'page["description"]', _of_book(lambda one: text(one.description)), _books),
    Template(8, 2, "Which subjects does the book {title} have?", "《{title}》一书涉及哪些主题？", _BOOK + _PAGE + 'page["subjects"]', _of_book(lambda one: each_of(one.subjects, world.SUBJECTS)), _books),
    Template(9, 2, "In which town is the book {title} set?", "《{title}》一书的故事发生在哪个城市？", _BOOK + _PAGE + 'page["setting"]', _of_book(lambda one: text(one.setting.name)), _books),
    Template(10, 2, "Which publishers have brought out the book {title}?", "哪些出版社出版过《{title}》一书？", _BOOK + _EDITIONS + '[one["publisher"] for one in editions["entries"]]', _of_book(_presses), _books),
    Template(11, 2, "In which languages has the book {title} appeared?", "《{title}》一书以哪些语言出版过？", _BOOK + _EDITIONS + '[one["language"] for one in editions["entries"]]', _of_book(lambda one: each_of([edition.language for edition in one.editions], world.LANGUAGES)), _books),
    Template(12, 2, "How many pages does the longest edition of the book {title} have?", "《{title}》一书最厚的版本有多少页？", _BOOK + _EDITIONS + 'max(one["pages"] for one in editions["entries"])', _of_book(_longest), _books),
    Template(13, 2, "In which town was the author {name} born?", "作家{name}出生在哪个城市？", _AUTHOR + _LIFE + 'life["birthplace"]', _of_author(lambda one: text(one.birthplace.name)), _authors),
    Template(14, 2, "Which awards has the author {name} received?", "作家{name}获得过哪些奖项？", _AUTHOR + _LIFE + 'life["awards"]', _of_author(lambda one: each_of(one.awards, world.AWARDS)), _authors),
    Template(15, 2, "What are the titles of the books by {name}?", "{name}写的书有哪些？", _AUTHOR + _WRITTEN + '[one["title"] for one in written["entries"]]', _of_author(lambda one: _titles(world.books_by(one))), _authors),
    Template(16, 2, "Which book by {name} do readers rate highest?", "读者评分最高的{name}的书是哪一本？", _AUTHOR + _WRITTEN + 'max(written["entries"], key=lambda one: one["rating"])["title"]', _of_author(_rated), _authors),
    Template(17, 2, "Which books did {name} publish after {year}?", "{year}年以后{name}出版了哪些书？", _AUTHOR + _WRITTEN + '[one["title"] for one in written["entries"] if one["first_publish_year"] > year]', _later, _authors_and_years),
    Template(18, 3, "Where was the author of the book {title} born?", "《{title}》一书的作者出生在哪个城市？", _BOOK + _PAGE + 'life = await getAuthor(author_id=page["author"]["author_id"])\nlife["birthplace"]', _of_book(lambda one: text(one.author.birthplace.name)), _books),
    Template(19, 3, "Which other books are by the author of {title}?", "《{title}》的作者还写过哪些书？", _BOOK + _PAGE + 'written = await getAuthorBooks(author_id=page["author"]["author_id"])\n[one["title"] for one in written["entries"] if one["title"] != title]', _of_book(lambda one: _titles(book for book in world.books_by(one.author) if book is not one)), _books),
    Template(20, 3, "What is the highest rated book by {name} about?", "{name}评分最高的书讲的是什么？", _AUTHOR + _WRITTEN + _BEST + 'page = await getBook(book_id=best["book_id"])\npage["description"]', _of_best(_plot), _authors),
    Template(21, 3, "Which publishers have brought out the highest rated book by {name}?", "哪些出版社出版过{name}评分最高的书？", _AUTHOR + _WRITTEN + _BEST + 'editions = await getEditions(book_id=best["book_id"])\n[one["publisher"] for one in editions["entries"]]', _of_best(_presses), _authors),
    Template(22, 3, "What is the first book by {name} about?", "{name}的第一本书讲的是什么？", _AUTHOR + _WRITTEN + 'page = await getBook(book_id=written["entries"][0]["book_id"])\npage["description"]', _of_author(lambda one: _plot(world.books_by(one)[0]) if len({book.year for book in world.books_by(one)[:2]}) == 2 else None), _authors),
)  # fmt: skip
