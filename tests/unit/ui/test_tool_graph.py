"""A tool among its neighbours, drawn and in words; names come from strangers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH, ToolId, make_tool_id
from ui.library import Feed, Neighbours, Walk
from ui.tool_graph import SHOWN, best_of_each, neighbours_dot, told_neighbours
from ui.walk_graph import quoted

HERE, ONE, OTHER = (make_tool_id("c", "s", name) for name in ("here", "one", "other"))
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def lines(found: Neighbours) -> list[str]:
    return neighbours_dot(HERE, found).splitlines()


def test_what_came_before_leads_to_it_and_it_leads_to_what_came_after() -> None:
    found = Neighbours(before=[Walk(tool=ONE, weight=0.5, imported=3)], after=[Walk(tool=OTHER, weight=0.25, live=2)])
    drawn = lines(found)
    assert any("-> here" in line and '"0.50 · 3 imported"' in line for line in drawn)
    assert any("here ->" in line and '"0.25 · 2 live"' in line for line in drawn)
    assert told_neighbours(found) == "before it s / one, 0.50 · 3 imported; after it s / other, 0.25 · 2 live"


def test_a_mark_is_said_in_a_word_beside_its_line() -> None:
    (edge,) = (line for line in lines(Neighbours(after=[Walk(tool=ONE, mark="ban")])) if "->" in line)
    assert '"banned · 0.00"' in edge
    assert "style=dotted" in edge


def test_a_tool_that_is_walked_to_and_fed_stands_once_on_a_side() -> None:
    feeds = [
        Feed(tool=ONE, field="id", parameter="a", score=0.4),
        Feed(tool=ONE, field="ids[]", parameter="b", score=0.9),
    ]
    found = Neighbours(after=[Walk(tool=ONE, weight=1.0)], before=[Walk(tool=ONE, weight=1.0)], feeds_out=feeds)
    drawn = [line for line in lines(found) if line.split(" ")[0][0] in "lr" and "[label=" in line and "->" not in line]
    assert len(drawn) == 2
    assert [one.parameter for one in best_of_each(feeds)] == ["b"]
    assert any("ids[] fills b" in line and "style=dashed" in line for line in lines(found))
    assert told_neighbours(found).endswith("it feeds b of s / one")


def test_the_end_of_a_request_is_named_and_only_so_many_are_drawn() -> None:
    assert told_neighbours(Neighbours(after=[Walk(tool=FINISH, weight=1.0)])) == "after it the end of a request, 1.00"
    many = [Walk(tool=make_tool_id("c", "s", f"t{number}")) for number in range(SHOWN + 5)]
    assert sum("here ->" in line for line in lines(Neighbours(after=many))) == SHOWN


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_name_or_field_leaves_its_string(name: str, field: str) -> None:
    found = Neighbours(
        after=[Walk(tool=ToolId(name))], feeds_in=[Feed(tool=ONE, field=field, parameter=name, score=0.5)]
    )
    rest = _STRINGS.sub("", neighbours_dot(HERE, found))
    assert '"' not in rest
    assert quoted(name, 30).count("\n") == 0
