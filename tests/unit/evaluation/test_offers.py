"""What is told of offers, by numbers worked by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from domain.tool import ToolId, make_tool_id
from evaluation.offer_figures import COLUMNS, compute_differences, compute_offer_figures, compute_values, group_requests
from evaluation.offer_requests import LabelledRequest, OfferRequest, read_offer_requests, write_offer_requests
from evaluation.offers import OfferMeasurement, ResolvedRequest, measure_all, resolve_requests


@dataclass(frozen=True)
class Hit:
    """A tool of an offer."""

    id: ToolId
    alike: tuple[ToolId, ...] = ()


TOOLS = [make_tool_id("c", "Set", f"tool {number}") for number in range(30)]
A, B, COPY_OF_B, LOST = TOOLS[0], TOOLS[9], make_tool_id("d", "set", "Tool_9"), make_tool_id("c", "Set", "lost")


def labelled(*relevant: ToolId | tuple[str, str], name: str = "r", group: str = "g") -> LabelledRequest:
    return LabelledRequest(name, name, group, 1, relevant)


def request(*relevant: ToolId | tuple[str, str], name: str = "r", group: str = "g") -> ResolvedRequest:
    return resolve_requests([labelled(*relevant, name=name, group=group)], {*TOOLS, COPY_OF_B}).requests[0]


async def measured(
    requests: Sequence[ResolvedRequest], offer: Sequence[Hit], second: Sequence[Hit] = ()
) -> list[list[OfferMeasurement]]:
    async def offered(request: str, limit: int) -> Sequence[Hit]:
        del request
        return offer[:limit]

    async def others(request: str, limit: int) -> Sequence[Hit]:
        del request
        return second[:limit]

    async def tokens(tools: Sequence[ToolId]) -> int:
        return 10 * len(tools)

    found: tuple[list[OfferMeasurement], list[OfferMeasurement]] = ([], [])
    asked: list[str] = []
    await measure_all(requests, [(offered, found[0]), (others, found[1])], tokens, asked.append)
    assert asked == [one.query for one in requests]
    return list(found)


IN_ORDER = [Hit(tool) for tool in TOOLS]


async def test_all_and_recall_count_the_first_8_16_and_24() -> None:
    """Places 1, 10 and 21 of a request, and 1 alone of another: worked by hand."""
    ours, none = await measured(
        [request(TOOLS[0], TOOLS[9], TOOLS[20], name="x"), request(TOOLS[0], name="y")], IN_ORDER
    )
    figures = compute_offer_figures(ours)
    assert compute_values(ours)["x"] == pytest.approx(dict(zip(COLUMNS, [0, 0, 1, 1 / 3, 2 / 3, 1, 160], strict=True)))
    assert figures["overall"] == pytest.approx(
        {"n": 2, **dict(zip(COLUMNS, [0.5, 0.5, 1, 2 / 3, 5 / 6, 1, 160], strict=True))}
    )
    assert figures["places"] == {"x": {TOOLS[0]: 1, TOOLS[9]: 10, TOOLS[20]: 21}, "y": {TOOLS[0]: 1}}
    nothing = compute_offer_figures(none)
    assert set(nothing["overall"].values()) == {2, 0.0}
    assert nothing["places"]["y"] == {TOOLS[0]: None}


async def test_a_copy_counts_as_found_but_not_by_its_id() -> None:
    """Another spelling in another category, a tool that the offer holds for alike, and one that is neither."""
    offer = [Hit(COPY_OF_B), Hit(TOOLS[1], alike=(TOOLS[2],))]
    (ours, _) = await measured([request(B, TOOLS[2], TOOLS[1], TOOLS[3])], offer)
    figures = compute_offer_figures(ours)
    assert figures["overall"]["recall@8"] == 0.75
    assert figures["exact"]["overall"]["recall@8"] == 0.25
    assert figures["overall"]["all@24"] == figures["exact"]["overall"]["all@24"] == 0


async def test_an_api_that_is_labelled_by_its_key_is_any_of_its_copies() -> None:
    offer = [Hit(COPY_OF_B)]
    (ours, _) = await measured([request(("set", "tool_9"))], offer)
    assert compute_offer_figures(ours)["exact"]["overall"]["all@8"] == 1


async def test_a_tool_without_a_document_is_told_and_missed() -> None:
    """Not even where something of its name is offered: the label means another tool than any that is there."""
    found = resolve_requests([labelled(A, LOST), labelled(LOST, ("no", "api"), name="s")], set(TOOLS))
    assert found.unknown == {LOST: 2, "no/api": 1}
    (ours, _) = await measured(found.requests, [*IN_ORDER[:1], Hit(LOST)])
    assert compute_offer_figures(ours)["overall"]["recall@8"] == 0.25


async def test_groups_and_intervals() -> None:
    requests = [request(A, name=f"hit {n}", group="b") for n in range(30)]
    requests += [request(TOOLS[25], name=f"miss {n}", group="a") for n in range(10)]
    (ours, _) = await measured(requests, IN_ORDER)
    figures = compute_offer_figures(ours)
    assert list(figures["groups"]) == ["a", "b"]
    assert [figures["groups"][name]["all@24"] for name in "ab"] == [0, 1]
    assert figures["overall"]["all@24"] == 0.75
    assert figures["intervals"]["groups"]["a"]["all@24"] == [0, 0]
    low, high = figures["intervals"]["overall"]["all@24"]
    assert 0.55 < low < 0.65 < 0.85 < high < 0.9  # binomial: 0.75 ± 1.96 · sqrt(0.75 · 0.25 / 40) is 0.616 to 0.884
    assert group_requests(ours)["a"] == [f"miss {n}" for n in range(10)]


async def test_the_difference_is_of_pairs() -> None:
    """Both find three of four, and differ in two requests, in opposite directions: no difference, and an interval around it."""
    requests = [request(TOOLS[n], name=str(n)) for n in (0, 1, 2, 3)]
    ours, theirs = await measured(requests, [Hit(TOOLS[n]) for n in (0, 1, 2)], [Hit(TOOLS[n]) for n in (1, 2, 3)])
    row = compute_differences(compute_values(ours), compute_values(theirs), group_requests(ours))["overall"]
    assert row["n"] == 4
    assert row["all@8"]["difference"] == 0
    low, high = row["all@8"]["interval"]
    assert low < 0 < high
    assert row["tokens@16"] == {"difference": 0, "interval": [0, 0]}


async def test_the_ways_take_turns_at_being_timed() -> None:
    ours, theirs = await measured([request(A, name=str(n)) for n in range(4)], IN_ORDER, IN_ORDER)
    assert [one.seconds is not None for one in ours] == [True, False, True, False]
    assert [one.seconds is not None for one in theirs] == [False, True, False, True]


def test_nothing_measured_has_figures_too() -> None:
    assert compute_offer_figures([])["overall"] == {"n": 0, **dict.fromkeys(COLUMNS, 0.0)}


def test_lines_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "q" / "requests.jsonl"
    write_offer_requests([OfferRequest(id="1", query="Which film?", relevant=(A, B, A), group="one")], path)
    assert orjson.loads(path.read_bytes()) == {"id": "1", "query": "Which film?", "relevant": [A, B, A], "group": "one"}
    assert read_offer_requests(path) == ([LabelledRequest("1", "Which film?", "one", 1, (A, B))], [])


def test_lines_of_queries_dev_stand_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    lines: list[object] = [
        {"split": "G3_instruction", "query": "q", "relevant": [{"category": "c", "tool": "Big Set", "api": "Get It"}]},
        {"id": 2, "query": "q", "relevant": [A], "group": "g", "more": 1},
        {"id": "3", "query": "q", "relevant": [], "group": "g"},
        {"id": "1", "query": "q", "relevant": [A], "group": "g"},
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    found, skipped = read_offer_requests(path)
    assert found == [
        LabelledRequest("1", "q", "I3", 1, (("big_set", "get_it"),)),
        LabelledRequest("2", "q", "g", 2, (A,)),
        LabelledRequest("1, line 4", "q", "g", 4, (A,)),
    ]
    assert [one.line for one in skipped] == [3]
