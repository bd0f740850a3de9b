"""The walk in Graphviz' language; names and reasons come from strangers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from domain.event import CandidatesConsidered, Event, StepBacktracked, StepChosen
from domain.tool import ToolId, make_tool_id
from tests.unit.ui.telling import told
from tests.unit.ui.test_run_state import considered
from ui.run_state import RunState, run_state
from ui.texts import unmarked
from ui.walk_graph import quoted, reasons, walk_dot

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def walked(*tools: ToolId, reason: str = "why not") -> RunState:
    candidates = tuple(considered(tool, 1 - number / 10) for number, tool in enumerate(tools))
    return run_state(
        [
            told(1, CandidatesConsidered(path=(), candidates=candidates, finish_weight=0)),
            told(2, StepChosen(tool=tools[0], path=tools[:1], reason=reason)),
            told(3, StepBacktracked(dropped=tools[0], path=(), reason=reason)),
            told(4, StepChosen(tool=tools[-1], path=tools[-1:], reason=reason)),
        ]
    )


def test_all_that_the_walk_went_to_is_drawn_and_the_rest_counted() -> None:
    tools = [make_tool_id("c", "s", f"tool{number}") for number in range(9)]
    dot = walk_dot(walked(*tools))
    assert r'label="tool0\ns" tooltip="left again' in dot
    assert r'label="tool8\ns" tooltip="chosen' in dot
    assert [number for number in range(9) if f"tool{number}" in dot] == [0, 1, 2, 8]
    assert 'label="5 more"' in dot
    assert "why not" in dot


def test_what_weighs_more_and_was_not_taken_is_told_with_why() -> None:
    tools = [make_tool_id("c", "s", f"tool{number}") for number in range(3)]
    assert (
        reasons(walked(*tools), 9)[-1]
        == "s / tool1 weighs more on the way there (0.90 against 0.80); s / tool2 fits the request no more (0.50 against 0.50)."
    )
    assert reasons(walked(*tools), 9)[:2] == ["s / tool0 left again: why not", "s / tool2 chosen: why not"]
    assert len(reasons(walked(tools[0]), 9)) == 1


def test_of_a_long_walk_what_it_went_to_is_drawn_as_far_as_there_is_room() -> None:
    """So far as each place is near the request; what was only considered gives way first."""
    tools = [make_tool_id("c", "s", f"tool{number}") for number in range(400)]
    events: list[Event] = []
    for number in range(0, 400, 4):
        candidates = tuple(considered(tool, 0.5) for tool in tools[number : number + 4])
        events.append(CandidatesConsidered(path=(tools[0],) * (number > 0), candidates=candidates, finish_weight=0))
        chosen = tools[number]
        events.append(StepChosen(tool=chosen, path=(tools[0], chosen) if number else (chosen,), reason="it fits"))
    story = run_state(told(seq, event) for seq, event in enumerate(events, 1))
    dot = walk_dot(story)
    assert len(re.findall("tooltip=", dot)) == 89
    assert all(rf'"{name}' in dot for name in ("tool0", "tool4", "tool200"))
    assert 'label="311 more"' in dot
    assert [line.partition(" ")[0] for line in reasons(story, 2)] == ["s", "s"]


def test_an_empty_story_is_an_empty_graph() -> None:
    assert walk_dot(RunState()).endswith("}")


@given(st.text(max_size=60))
def test_no_text_ends_its_string(text: str) -> None:
    written = quoted(text)
    assert _STRINGS.fullmatch(written)
    assert not re.search(r"[<\n\r\x00]", written)


@given(st.text(max_size=40))
def test_hostile_reasons_add_nothing_to_the_graph(reason: str) -> None:
    tool = make_tool_id("c", "s", "a")
    tame = _STRINGS.sub("", walk_dot(walked(tool, reason="tame")))
    assert _STRINGS.sub("", walk_dot(walked(tool, reason=reason))) == tame


def test_markup_in_names_is_text() -> None:
    assert unmarked("**a** <b> [c](http://d) :red[e]") == (
        "\\*\\*a\\*\\* \\<b\\> \\[c\\]\\(http\\:\u2060//d\\) \\:red\\[e\\]"
    )


def test_addresses_do_not_become_links() -> None:
    for address in ("http://evil.example", "HTTPS://evil.example", "www.evil.example", "eve@evil.example"):
        shown = unmarked(address).replace("\\", "")
        assert shown.replace("\u2060", "") == address
        assert not re.search(r"https?://|www\.|@\w", shown, re.IGNORECASE)
