"""What is wrong with a plan, sentence by sentence, and what is merely left open."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from agent.plans.plan_validation import PlanCheckContext, find_problems
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import Flow, Parameter, ToolDoc, ToolId, make_tool_id


def tool(api: str, *parameters: Parameter, method: str = "GET", example: str | None = None) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, method=method, parameters=parameters,
        example_response=example,
    )  # fmt: skip


SEARCH = tool(
    "search",
    Parameter(name="city", required=True),
    Parameter(name="limit", type="integer", maximum=5),
    example='{"found": [{"name": "Paris", "lat": 1.5, "open": true}], "total": 1}',
)
SILENT = tool("silent")
KNOWN = Parameter(name="code", flows=(Flow(source=SEARCH.id, field="meta.code", share=1.0, count=3),))
WEATHER = tool(
    "weather", Parameter(name="lat", type="number", required=True), Parameter(name="tags", type="array"), KNOWN
)
BOOK = tool("book", Parameter(name="city", required=True), method="POST")
DOCS = {one.id: one for one in (SEARCH, SILENT, WEATHER, BOOK)}
FIRST = PlannedStep(tool=SEARCH.id, arguments={"city": "Paris"})


def said(
    *steps: PlannedStep, given: tuple[ToolId, ...] = (), parameters: Mapping[str, dict[str, JsonValue]] | None = None
) -> list[tuple[int | None, str | None, str]]:
    """``parameters``: of a template; a plan for one run without them."""
    document = PlanDocument(steps=steps, parameters=dict(parameters or {}))
    around = PlanCheckContext(DOCS, given, 3, is_template=parameters is not None)
    return [(one.step, one.parameter, one.message) for one in find_problems(document, around)]


def taking(name: str, step: int, field: str) -> PlannedStep:
    return PlannedStep(tool=WEATHER.id, takes={name: Take(step=step, field=field)})


@pytest.mark.parametrize(
    "second",
    [
        taking("lat", 1, "found[0].lat"),
        taking("lat", 1, "found[].lat"),
        taking("lat", 1, "found[0].name"),  # a text may hold a number
        taking("tags", 1, "found"),
        taking("code", 1, "meta.code"),  # recorded calls have found it there
        PlannedStep(tool=WEATHER.id),  # what is open is found on the way
        PlannedStep(tool=WEATHER.id, arguments={"lat": "1.5"}),
        PlannedStep(tool=BOOK.id, arguments={"city": "Paris"}),
    ],
)
def test_what_can_be_carried_out_is_not_complained_of(second: PlannedStep) -> None:
    assert said(FIRST, second) == []


@pytest.mark.parametrize(
    ("steps", "place", "words"),
    [
        ([], (None, None), "at least one step"),
        ([FIRST] * 4, (None, None), "at most 3 steps; this one has 4"),
        ([PlannedStep(tool=ToolId("a/b/c"))], (1, None), "no tool a/b/c"),
        ([FIRST, PlannedStep(tool=SEARCH.id, arguments={"town": "x"})], (2, "town"), "has no parameter town; it has: city, limit"),
        ([PlannedStep(tool=SEARCH.id, arguments={"limit": 9})], (1, "limit"), "at most 5"),
        ([PlannedStep(tool=SEARCH.id, arguments={"city": [1]})], (1, "city"), "of type string"),
        ([PlannedStep(tool=SEARCH.id, named={"city": "where"})], (1, "city"), "The plan has no parameter where"),
        ([FIRST, taking("lat", 2, "found[0].lat")], (2, "lat"), "Step 2 is not made before"),
        ([FIRST, taking("lat", 3, "found[0].lat")], (2, "lat"), "Step 3 is not made before"),
        ([FIRST, taking("lat", 1, "found[0].latitude")], (2, "lat"), "has no found[].latitude; it has: found[].name"),
        ([FIRST, taking("lat", 1, "found[0]")], (2, "lat"), "is not a single value"),
        ([FIRST, taking("lat", 1, "found[0].open")], (2, "lat"), "is a boolean, but lat is a number"),
        ([PlannedStep(tool=BOOK.id, arguments={"city": "x"})] * 2, (2, None), "makes the same change"),
        (
            [FIRST, PlannedStep(tool=WEATHER.id, arguments={"lat": 1}, takes={"lat": Take(step=1, field="found[0].lat")})],
            (2, "lat"),
            "two values",
        ),
    ],
)  # fmt: skip
def test_each_fault_is_told_with_its_place(
    steps: list[PlannedStep], place: tuple[int | None, str | None], words: str
) -> None:
    found = said(*steps)
    assert [one[:2] for one in found] == [place]
    assert words in found[0][2]


def test_steps_that_were_given_come_first() -> None:
    assert said(taking("lat", 1, "found[0].lat"), given=(SEARCH.id,)) == []
    assert said(taking("lat", 2, "found[0].lat"), given=(SEARCH.id,))[0][:2] == (1, "lat")


def test_an_undocumented_answer_may_hold_anything() -> None:
    assert said(PlannedStep(tool=SILENT.id), taking("lat", 1, "what.ever")) == []


def test_a_template_names_its_parameters() -> None:
    step = PlannedStep(tool=SEARCH.id, named={"city": "where"})
    assert said(step, parameters={"where": {"type": "string"}}) == []


@pytest.mark.parametrize("docs", [DOCS, None])
def test_parameters_that_nothing_fills_or_uses_are_told(docs: Mapping[ToolId, ToolDoc] | None) -> None:
    step = PlannedStep(tool=SEARCH.id, named={"city": "where"})
    document = PlanDocument(steps=(step,), parameters={"where": {}, "when": {}})
    (unused,) = find_problems(document, PlanCheckContext(docs, is_template=True))
    assert (unused.step, unused.parameter, "No step uses" in unused.message) == (None, "when", True)
    of_a_run = find_problems(document, PlanCheckContext(docs))
    assert [(one.step, one.parameter) for one in of_a_run] == [(None, "where"), (None, "when")]
    assert all("gets no values" in one.message for one in of_a_run)
    (unknown,) = find_problems(PlanDocument(steps=(step,)), PlanCheckContext(docs, is_template=True))
    assert (unknown.step, unknown.parameter, unknown.message) == (1, "city", "The plan has no parameter where.")


def test_changes_that_differ_by_a_named_value_are_two() -> None:
    named = PlannedStep(tool=BOOK.id, named={"city": "one"})
    other = PlannedStep(tool=BOOK.id, named={"city": "two"})
    assert said(named, other, parameters={"one": {}, "two": {}}) == []


def test_where_nobody_knows_the_tools_only_the_order_is_looked_at() -> None:
    document = PlanDocument(
        steps=(FIRST, taking("lat", 2, "found[0].lat"), PlannedStep(tool=make_tool_id("no", "such", "tool")))
    )
    (found,) = find_problems(document, PlanCheckContext(None))
    assert (found.step, found.parameter) == (2, "lat")
