"""Which of several things a request means, and what is said where its calls did not go by that."""

import json

import pytest

from domain.model import JsonObject
from domain.plan import Binding, CallOutcome, StepResult
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.reader import EnglishReader

PLOTS: list[JsonObject] = [
    {"plot_id": 1, "name": "Willow Corner", "area": 42.0, "rent": 60.0, "free": True},
    {"plot_id": 2, "name": "Sunny Bank", "area": 120.0, "rent": 150.0, "free": True},
    {"plot_id": 3, "name": "North Wall", "area": 25.0, "rent": 30.0, "free": False},
]


def tool(api: str, *needs: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("garden", "plots", api),
        category="garden",
        toolset="plots",
        api=api,
        function=api,
        method="GET",
        parameters=needs,
    )


ALL = tool("list_plots")
ONE = tool("get_plot", Parameter(name="plot_id", type="integer", required=True))


def called(doc: ToolDoc, response: object, outcome: CallOutcome = "ok", **arguments: int) -> tuple[ToolDoc, StepResult]:
    took = tuple(Binding(parameter=name, origin="request", reference=str(value)) for name, value in arguments.items())
    return doc, StepResult(
        tool=doc.id,
        arguments=dict(arguments),
        provenance=took,
        status="ok" if outcome == "ok" and response != [] else "failed",
        outcome=outcome,
        response=json.dumps(response),
    )


LISTED = called(ALL, PLOTS)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("Which plot is the cheapest?", ("the least by rent",)),
        ("What is the largest plot?", ("the most by area",)),
        ("Which plots have a rent above 40?", ("the bound that the request sets",)),
        ("Which plots are free?", ("only what is free",)),
        ("Which plots are there?", ()),
        ("Show me the plots with their rent.", ()),
        ("Which plots have a rent above 10?", ()),
    ],
)
def test_a_list_that_nothing_was_chosen_from_is_told_as_such(request_: str, said: tuple[str, ...]) -> None:
    assert EnglishReader().review(request_, [LISTED]).unapplied_filters == said


def test_going_on_with_the_first_is_no_choice_and_with_the_one_that_is_meant_is_one() -> None:
    def review(plot: int) -> tuple[str, ...]:
        return (
            EnglishReader()
            .review("Which is the cheapest plot?", [LISTED, called(ONE, PLOTS[plot - 1], plot_id=plot)])
            .unapplied_filters
        )

    assert review(1) == ("the least by rent",)
    assert review(3) == ()


def test_one_that_is_not_there_is_not_answered_by_others() -> None:
    absent = called(ONE, {"detail": "no such plot"}, "absent", plot_id=99)
    review = EnglishReader().review("What is the rent of plot 99?", [LISTED, absent])
    assert review.mismatches == ("plots/get_plot knows no plot 99",)
    elsewhere = called(tool("find_plot", *ONE.parameters), {"rent": 5}, plot_id=99)
    assert EnglishReader().review("What is the rent of plot 99?", [absent, elsewhere]).mismatches == ()


def test_an_empty_list_of_what_was_asked_for_says_that_there_is_none() -> None:
    empty = called(ALL, [])
    assert EnglishReader().review("Which plots are there?", [empty]).empty_tool == "plots/list_plots"
    assert EnglishReader().review("Which bookings are there?", [empty]).empty_tool == ""
    assert EnglishReader().review("Which plots are there?", [called(ALL, [], only=1)]).empty_tool == ""
