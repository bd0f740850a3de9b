"""Walks over tools: valid, simple, without echoes."""

import json
from collections.abc import Mapping, Sequence

from domain.tool import FeedMark, Parameter, ToolDoc, make_tool_id
from graph.walks import FeedWalk, find_walks


def tool(
    api: str,
    inputs: Sequence[Parameter | str] = (),
    answer: Mapping[str, object] | Sequence[object] = (),
    **more: object,
) -> ToolDoc:
    """A tool with an example of what it answers. ``inputs``: names are of required texts."""
    toolset = str(more.pop("toolset", "Library"))
    return ToolDoc.model_validate(
        {
            "id": make_tool_id("Books", toolset, api),
            "category": "Books",
            "toolset": toolset,
            "api": api,
            "function": api,
            "url": f"http://{toolset.lower()}.example/{api}",
            "parameters": [Parameter(name=one, required=True) if isinstance(one, str) else one for one in inputs],
            "example_response": json.dumps(answer),
            **more,
        }
    )


SEARCH = tool("searchBooks", ["title"], [{"book_id": "b7", "title": "Dune", "author_id": "a3"}])
BOOK = tool("getBook", ["book_id"], {"book_id": "b7", "pages": 412, "author_id": "a3", "shelf": "F 12"})
AUTHOR = tool("getAuthor", ["author_id"], {"author_id": "a3", "name": "Frank Herbert", "born": 1920})
REVIEWS = tool("getReviews", ["book_id"], [{"review_id": "r1", "text": "Long.", "reader_id": "u5"}])


def paths(*tools: ToolDoc) -> list[str]:
    """The walks by the names of their tools."""
    return [" ".join(one.api for one in walk.tools) for walk in find_walks(tools)]


def one(path: str, *tools: ToolDoc) -> FeedWalk:
    """The walk over these."""
    return next(walk for walk in find_walks(tools) if " ".join(tool.api for tool in walk.tools) == path)


def test_a_walk_begins_where_a_user_can_say_what_is_needed() -> None:
    assert paths(SEARCH, BOOK, REVIEWS) == ["searchBooks", "searchBooks getBook", "searchBooks getReviews"]
    assert paths(BOOK, REVIEWS) == []


def test_what_was_found_already_is_not_fetched_once_more() -> None:
    """The author's id stands beside the book's: no book is fetched for it, and the book's id in its own answer is an echo."""
    found = paths(SEARCH, BOOK, AUTHOR, REVIEWS)
    assert "searchBooks getAuthor" in found
    assert "searchBooks getBook getAuthor" not in found
    assert "searchBooks getBook getReviews" not in found


def test_a_walk_tells_which_field_fills_what() -> None:
    walk = one("searchBooks getBook", SEARCH, BOOK)
    assert [(feed.field, feed.parameter) for feed in walk.feeds] == [("[].book_id", "book_id")]
    assert walk.list_feeds_into(BOOK.id) == walk.feeds
    assert walk.path == (SEARCH.id, BOOK.id)


def test_what_a_later_tool_needs_besides_is_asked_of_the_user() -> None:
    lend = tool("getLoans", ["book_id", Parameter(name="year", type="integer", required=True)], [{"loans": 4}])
    assert [(tool, parameter.name) for tool, parameter in one("searchBooks getLoans", SEARCH, lend).user_inputs] == [
        (lend.id, "year")
    ]


def test_a_relation_leads_on_to_others_of_the_kind() -> None:
    similar = tool("getSimilarBooks", ["book_id"], [{"id": "b9", "title": "Hyperion"}])
    assert "searchBooks getSimilarBooks getReviews" in paths(SEARCH, similar, REVIEWS)


def test_a_tool_that_changes_something_ends_a_walk_and_is_marked() -> None:
    borrow = tool("borrowBook", ["book_id"], {"loan_id": "l1"}, method="POST")
    back = tool("getLoan", ["loan_id"], {"due": "2026-12-01"})
    assert paths(SEARCH, borrow, back) == ["searchBooks", "searchBooks borrowBook"]
    assert one("searchBooks borrowBook", SEARCH, borrow).changes
    assert not one("searchBooks", SEARCH, borrow).changes


def test_one_search_serves_two_inputs_by_two_calls() -> None:
    compare = tool("compareBooks", ["from_book_id", "to_book_id"], {"pages_more": 12})
    walk = one("searchBooks compareBooks", SEARCH, compare)
    assert walk.repeated_inputs == ("from_book_id", "to_book_id")


def test_sharing_a_year_joins_nothing() -> None:
    fairs = tool("getFair", [Parameter(name="year", type="integer", required=True)], {"town": "Leipzig"})
    shelves = tool("searchNovels", ["title"], [{"novel_id": "n1", "year": 1965}])
    assert paths(shelves, fairs) == ["getFair", "searchNovels"]


def test_no_walk_goes_to_one_coordinate_alone() -> None:
    library = tool("findLibrary", ["town"], [{"name": "Main", "latitude": 47.1}])
    whole = tool("findBranch", ["town"], [{"name": "Main", "latitude": 47.1, "longitude": 9.5}])
    buses = tool("getBuses", ["latitude", "longitude"], [{"line": "12"}])
    assert paths(library, whole, buses) == ["findBranch", "findLibrary", "findBranch getBuses"]


def test_what_leads_to_more_of_the_same_is_no_way() -> None:
    first = tool("listNews", ["topic"], {"news": [{"headline": "x"}], "next_cursor": "c2"})
    more = tool("moreNews", ["next_cursor"], {"news": [{"headline": "y"}]})
    assert paths(first, more) == ["listNews"]


def test_services_are_joined_by_what_means_the_same_to_both() -> None:
    place = tool("findFair", ["name"], [{"fair": "Book fair", "city": "Leipzig"}])
    weather = tool("getWeather", ["city"], {"city": "Leipzig", "celsius": 12}, toolset="Weather")
    assert "findFair getWeather" in paths(place, weather)


def test_what_an_administrator_said_decides() -> None:
    mark = FeedMark(source=SEARCH.id, field="[].title", parameter="code", fills=True)
    odd = tool("getLabel", ["code"], {"label": "L"})
    assert "searchBooks getLabel" not in paths(SEARCH, odd)
    assert "searchBooks getLabel" in paths(SEARCH, odd.model_copy(update={"feed_marks": (mark,)}))


def test_the_order_is_that_of_ids_whatever_order_tools_come_in() -> None:
    tools = [SEARCH, BOOK, AUTHOR, REVIEWS]
    assert paths(*tools) == paths(*reversed(tools))
