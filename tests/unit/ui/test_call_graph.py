"""The calls of a program as a graph, and in words."""

import re

import pytest

from domain.tool import ToolId
from ui.call_graph import DrawnCall, DrawnFeed, call_dot, told_calls
from ui.calls import SAID, SIGNS, CallState

SEARCH, INFO = ToolId("scholars/people/search"), ToolId("scholars/people/info")
CALLS = [DrawnCall("a", SEARCH, 1, "done"), DrawnCall("b", INFO, 4, "running", changes=True, times=12)]
FEEDS = [DrawnFeed("a", "b", "id"), DrawnFeed("a", "b", "id"), DrawnFeed("a", "gone")]


def test_what_feeds_what_is_drawn_once_and_what_is_not_there_not_at_all() -> None:
    dot = call_dot(CALLS, FEEDS, {"b"})
    assert dot.count("c0 -> c1") == 1
    assert 'label="id"' in dot
    assert "c1 -> answer" in dot
    assert "c0 -> answer" not in dot
    assert "gone" not in dot


def test_a_call_tells_its_state_its_line_and_what_it_does_without_colours() -> None:
    dot = call_dot(CALLS, FEEDS)
    assert 'label="✓ search\\npeople · line 1"' in dot
    assert 'label="… info\\npeople · line 4 · ×12 · changes"' in dot
    assert "peripheries=2" in dot
    assert "answer" not in dot


@pytest.mark.parametrize("state", list(SAID))
def test_states_differ_in_more_than_their_colour(state: CallState) -> None:
    others = [SIGNS[one] for one in SIGNS if one != state]
    assert SIGNS[state] not in others


def test_names_of_strangers_end_no_string() -> None:
    nasty = DrawnCall('x"]; evil [label="', ToolId('a"]; evil [label="<b>\\'), 1)
    dot = call_dot([nasty], [DrawnFeed(nasty.key, nasty.key, '"]; evil -> c0 [')])
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert "evil" not in outside
    assert '"' not in outside
    assert "<b>" not in dot


def test_of_very_many_calls_the_first_are_drawn_and_the_others_counted() -> None:
    many = [DrawnCall(str(number), INFO, number) for number in range(1, 101)]
    dot = call_dot(many, [DrawnFeed("1", "100")])
    assert "and 40 more" in dot
    assert "c99" not in dot


def test_the_graph_is_told_in_words() -> None:
    assert told_calls(CALLS, FEEDS) == (
        "people / search on line 1 done; people / info on line 4 running; people / search on line 1 feeds people / info on line 4"
    )
