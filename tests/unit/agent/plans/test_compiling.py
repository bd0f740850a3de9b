"""Steps as programs and back: nothing is lost on the way, whatever values, names and fields a plan has."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.types import JsonValue

from agent.plans.plan_compilation import (
    choose_input_names,
    compile_plan,
    has_own_answer,
    to_expression,
    to_plan_document,
)
from agent.programs.analysis.constants import evaluate_constant
from domain.errors import NotLinearError
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep, Take
from domain.program import Program, ProgramPlan
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from tests.support.program_events import COLLEAGUES, INFO, SEARCH, TOOLS


def tool(api: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("scholars", "people", api),
        category="scholars",
        toolset="people",
        api=api,
        function=api,
        parameters=parameters,
    )


DOCS = {
    one.id: one
    for one in (
        tool("search", Parameter(name="name", required=True), Parameter(name="limit", type="integer")),
        tool("colleagues", Parameter(name="person_id", type="integer", required=True)),
        tool("info", Parameter(name="person_id", type="integer", required=True)),
    )
}
READABLE = """search_answer = await search(name="Henrik Grimaldo", limit=1)
colleagues_answer = await colleagues(person_id=search_answer["people"][0]["id"])
info_answer = await info(person_id=named(colleagues_answer["people"])["id"])
info_answer_2 = await info(person_id=fill())"""
STEPS = PlanDocument(
    steps=(
        PlannedStep(tool=SEARCH, arguments={"name": "Henrik Grimaldo", "limit": 1}),
        PlannedStep(tool=COLLEAGUES, takes={"person_id": Take(step=1, field="people[0].id")}),
        PlannedStep(tool=INFO, takes={"person_id": Take(step=2, field="people[].id")}),
        PlannedStep(tool=INFO),
    )
)


def test_steps_are_a_program_that_people_can_read() -> None:
    plan = compile_plan(STEPS, DOCS)
    assert plan.program.text == READABLE
    assert plan.program.tools == TOOLS
    assert "async def search(name: str, limit: int = ...)" in plan.program.stubs
    assert not has_own_answer(plan.program)
    assert to_plan_document(plan, DOCS) == STEPS


def test_steps_before_its_own_are_earlier_results() -> None:
    document = PlanDocument(
        steps=(
            PlannedStep(tool=INFO, takes={"person_id": Take(step=2, field="people[0].id")}),
            PlannedStep(tool=INFO, takes={"person_id": Take(step=3, field="")}),
        )
    )
    plan = compile_plan(document, DOCS, (SEARCH, COLLEAGUES))
    assert plan.program.text.splitlines()[0] == 'info_answer = await info(person_id=earlier[1]["people"][0]["id"])'
    assert to_plan_document(plan, DOCS, (SEARCH, COLLEAGUES)) == document
    with pytest.raises(NotLinearError, match=r"line 1 .* an earlier result that is not there"):
        to_plan_document(plan, DOCS)


def test_parameters_of_a_plan_are_inputs_by_names_that_a_text_can_have() -> None:
    parameters: dict[str, JsonObject] = {
        "name": {"type": "string"},
        "order-id": {"type": "integer", "default": 7},
        "search": {},
    }
    steps = (
        PlannedStep(tool=SEARCH, named={"name": "name", "limit": "order-id"}),
        PlannedStep(tool=INFO, named={"person_id": "search"}),
    )
    document = PlanDocument(steps=steps, parameters=parameters)
    plan = compile_plan(document, DOCS)
    assert plan.program.text.splitlines()[0] == "search_answer = await search(name=name, limit=order_id)"
    assert list(plan.inputs) == ["name", "order_id", "search_2"]
    assert choose_input_names(document, ["search"]) == {"name": "name", "order-id": "order_id", "search": "search_2"}
    assert to_plan_document(plan, DOCS) == document


def test_a_tool_that_nobody_knows_any_more_is_what_its_steps_say() -> None:
    gone = make_tool_id("old shop", "Orders!", "Get/order v2")
    document = PlanDocument(steps=(PlannedStep(tool=gone, arguments={"order.id": "7", "class": None}),))
    plan = compile_plan(document, {})
    assert plan.program.text == 'Get_order_v2_answer = await Get_order_v2(order_id="7", class_=None)'
    assert to_plan_document(plan, {}) == document


def test_long_calls_have_a_line_for_each_value() -> None:
    document = PlanDocument(steps=(PlannedStep(tool=SEARCH, arguments={"name": "x" * 100, "limit": 1}),))
    plan = compile_plan(document, DOCS)
    assert len(plan.program.text.splitlines()) == 4
    assert to_plan_document(plan, DOCS) == document


TEXT = st.text(st.characters(), max_size=12) | st.sampled_from(
    ["'\"", "a\nb\\", "\ud800", "½…ﬁ", "{x}", "\u2028", "\x00"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
NAMES = TEXT.filter(bool) | st.sampled_from(["name", "class", "filter[name]", "id", "X-Api-Version", "earlier", "ﬁ"])
PARTS = st.text(st.characters(exclude_characters=".[]"), min_size=1, max_size=8)
INDICES = st.lists(st.just("[]") | st.integers(0, 99).map(lambda index: f"[{index}]"), max_size=2).map("".join)
FIELDS = st.lists(st.tuples(PARTS, INDICES).map("".join), max_size=4).map(".".join) | st.tuples(
    INDICES, st.just("") | PARTS.map(lambda part: f".{part}")
).map(lambda both: "".join(both) if both[0] else both[1].lstrip("."))
SCHEMAS: st.SearchStrategy[JsonObject] = st.just({"type": "string"})
APIS = st.sampled_from(["search", "get order/2", "class", "Ünïcode 名", "first", "earlier"])


@st.composite
def documents(draw: st.DrawFn) -> tuple[PlanDocument, dict[ToolId, ToolDoc], tuple[ToolId, ...]]:
    """Any plan, with the documents of some of its tools and the steps before its own."""
    before = draw(st.integers(0, 2))
    parameters: dict[str, JsonObject] = draw(st.dictionaries(NAMES, SCHEMAS, max_size=3))
    docs: dict[ToolId, ToolDoc] = {}
    steps: list[PlannedStep] = []
    for number in range(draw(st.integers(0, 4))):
        names = draw(st.lists(NAMES, unique=True, max_size=6))
        kinds = [draw(st.sampled_from(["value", "take", "named", "open"])) for _ in names]
        own = tool(draw(APIS), *(Parameter(name=name, required=draw(st.booleans())) for name in names))
        docs.setdefault(own.id, own)
        told = dict(zip(names, kinds, strict=True))
        takes = {
            name: Take(step=draw(st.integers(1, before + number)), field=draw(FIELDS))
            for name, kind in told.items()
            if kind == "take" and before + number
        }
        named = {
            name: draw(st.sampled_from(list(parameters)))
            for name, kind in told.items()
            if kind == "named" and parameters
        }
        arguments = {name: draw(VALUES) for name, kind in told.items() if kind == "value"}
        steps.append(PlannedStep(tool=own.id, arguments=arguments, takes=takes, named=named))
    known = {one: doc for one, doc in docs.items() if draw(st.booleans())}
    return PlanDocument(steps=tuple(steps), parameters=parameters), known, (SEARCH,) * before


@settings(max_examples=100, deadline=None)
@given(documents())
def test_any_plan_comes_back_as_it_was(
    made: tuple[PlanDocument, dict[ToolId, ToolDoc], tuple[ToolId, ...]],
) -> None:
    document, docs, before = made
    plan = compile_plan(document, docs, before)
    plan.program.text.encode()
    assert to_plan_document(plan, docs, before) == document
    assert compile_plan(to_plan_document(plan, docs, before), docs, before) == plan


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_any_value_comes_back_as_it_was(value: JsonValue) -> None:
    written = to_expression(value)
    assert repr(evaluate_constant(ast.parse(written, mode="eval").body)) == repr(value)
    assert written.isprintable()


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), -0.0, 2**70, 1e300])
def test_numbers_that_python_writes_otherwise_come_back(value: JsonValue) -> None:
    assert repr(evaluate_constant(ast.parse(to_expression(value), mode="eval").body)) == repr(value)


def test_deep_and_large_values_stand_as_json() -> None:
    deep: JsonValue = "it"
    for _ in range(60):
        deep = [deep]
    large: JsonValue = [{"at": number} for number in range(900)]
    document = PlanDocument(steps=(PlannedStep(tool=SEARCH, arguments={"name": deep, "limit": large}),))
    plan = compile_plan(document, DOCS)
    assert plan.program.text.startswith("import json\n")
    assert to_plan_document(plan, DOCS) == document


def written(text: str, **inputs: str) -> ProgramPlan:
    """A program as a model or a person writes it."""
    return ProgramPlan(
        program=Program(text=text, tools=TOOLS), inputs={name: {"type": kind} for name, kind in inputs.items()}
    )


STRAIGHT = """# who is meant
found = await search(name=who)
person = first(found["people"])
ids = {"x": [7, -1]}
mine, theirs = await asyncio.gather(info(person_id=person.get("id")), colleagues(person_id=person["id"]))
both = await asyncio.gather(info(person_id=theirs["people"][1]["id"]), info(person_id=ids))
last = await info(person_id=(await info(person_id=both[0]["boss"]))["id"])
def named_by(one):
    return one["name"]
names = [named_by(one) for one in theirs["people"]]
names.sort()
{"answered": "yes", "answer": ", ".join(names)}
"""


def test_a_straight_program_that_a_model_wrote_is_steps_and_what_it_says_is_lost() -> None:
    plan = written(STRAIGHT, who="string")
    document = to_plan_document(plan, DOCS)
    assert document.parameters == {"who": {"type": "string"}}
    assert [(step.tool, step.arguments, step.takes, step.named) for step in document.steps] == [
        (SEARCH, {}, {}, {"name": "who"}),
        (INFO, {}, {"person_id": Take(step=1, field="people[0].id")}, {}),
        (COLLEAGUES, {}, {"person_id": Take(step=1, field="people[0].id")}, {}),
        (INFO, {}, {"person_id": Take(step=3, field="people[1].id")}, {}),
        (INFO, {"person_id": {"x": [7, -1]}}, {}, {}),
        (INFO, {}, {"person_id": Take(step=4, field="boss")}, {}),
        (INFO, {}, {"person_id": Take(step=6, field="id")}, {}),
    ]
    assert has_own_answer(plan.program)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("await search(name='a')", False),
        ("a = await search(name='a')\na", False),
        ("await asyncio.gather(search(name='a'), info(person_id=1))", False),
        ("a = await search(name='a')", False),
        ("", False),
        ("a = await search(name='a')\na['people']", True),
        ("await search(name='a')\n'done'", True),
    ],
)
def test_what_its_last_calls_answer_is_no_answer_of_its_own(text: str, says: bool) -> None:
    assert has_own_answer(Program(text=text, tools=TOOLS)) is says


FOUND = "found = await search(name='a')\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (f"{FOUND}for one in found:\n    await info(person_id=one)", 3, "calls info in a loop"),
        (f"{FOUND}[await info(person_id=one) for one in found]", 2, "calls info in a loop"),
        (f"{FOUND}if found:\n    raise ValueError\nawait info(person_id=1)", 3, "may end the program"),
        (f"{FOUND}look(found)\nawait info(person_id=1)", 2, "calls look"),
        ("who = await ask('who?', choices=[])\nawait search(name=who)", 1, "calls ask"),
        (f"{FOUND}await info(person_id=found['a'] + 1)", 2, "computes or chooses the value of person_id"),
        (f"{FOUND}await info(person_id=found['a.b'])", 2, "computes or chooses"),
        (f"{FOUND}await info(person_id=found[-1])", 2, "computes or chooses"),
        (f"{FOUND}await info(person_id=found.get('id', 7))", 2, "computes or chooses"),
        (f"{FOUND}found['people'].sort()\nawait info(person_id=found['people'][0])", 3, "that the program changes"),
        (f"{FOUND}for one in found:\n    one['id'] = 1\nawait info(person_id=found[0])", 4, "that the program changes"),
        ("ids = []\nids.append(7)\nawait info(person_id=ids)", 3, "computes or chooses"),
        ("who = who['a']\nawait info(person_id=who)", 2, "computes or chooses"),
        ("a = b\nb = a\nawait info(person_id=b)", 3, "computes or chooses"),
        ("await info(person_id=today)", 1, "computes or chooses"),
        ("await search(name='a', limit=fill())", 1, "leaves limit open"),
        ("await search(name=", 1, "cannot be read"),
    ],
)
def test_what_steps_cannot_say_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(NotLinearError, match=what) as told:
        to_plan_document(written(text), DOCS)
    assert told.value.line == line
