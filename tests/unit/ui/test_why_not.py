"""Why a tool was not offered, in words."""

import pytest

from tests.unit.ui.served import Served
from ui.why_not import WhyNot, told, why_not

FOUND = {
    "tool": "Places/Atlas/find",
    "short": 0.834,
    "found": 34,
    "reasons": [{"told": "found for the request", "share": 0.4}],
}


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        (
            {},
            [
                "Atlas / find was not offered to this run.",
                "Asked now, it would not be offered: the search finds it in place 34, and it weighs 0.83 less than the last that is.",
                "+0.40  found for the request",
                "No answer that fills a parameter and no past call joins it to a tool that is offered.",
            ],
        ),
        (
            {"place_then": 3, "offered": True, "found": 0, "reasons": []},
            [
                "Atlas / find was offered, in place 3; the program did not call it.",
                "Asked now, it would be offered: the search does not find it.",
            ],
        ),
        (
            {
                "called": 2,
                "offered": True,
                "links": [{"told": "gives what another tool lacks", "by": "a/b/c", "detail": "id"}],
            },
            [
                "Atlas / find was offered and called.",
                "Asked now, it would be offered: the search finds it in place 34.",
                "+0.40  found for the request",
                "Joined to what is offered: gives what another tool lacks: b / c (id)",
            ],
        ),
    ],
)
def test_what_is_known_of_it_is_told_in_sentences(changed: dict[str, object], lines: list[str]) -> None:
    assert list(told(WhyNot.model_validate(FOUND | changed))) == lines


def test_a_tool_is_asked_about_by_its_id() -> None:
    served = Served({"GET /runs/r/offer/Places/Atlas/find": FOUND})
    assert why_not(served.client, "r", "Places/Atlas/find").found == 34
