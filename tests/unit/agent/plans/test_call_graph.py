"""The calls of a program and what feeds them."""

from agent.plans.plan_compilation import compile_plan
from agent.plans.program_calls import ProgramCall, collect_plan_calls, collect_program_calls
from domain.program import Program, ProgramPlan
from domain.tool import ToolDoc, ToolId
from tests.support.program_events import COLLEAGUES, INFO, SEARCH, TOOLS
from tests.unit.agent.plans.test_compiling import DOCS, STEPS

CHANGING: dict[ToolId, ToolDoc] = {**DOCS, INFO: DOCS[INFO].model_copy(update={"method": "POST"})}
TEXT = """é = 1; found = await search(name=who, limit=é)
for one in found["people"]:
    if one["year"] > since:
        told = await info(person_id=one["id"])
more = await asyncio.gather(*[colleagues(person_id=earlier[1]["id"]) for one in found["people"]])
await colleagues(person_id=fill())
{"answered": "yes", "answer": told["name"]}
"""


def plan(text: str, *inputs: str) -> ProgramPlan:
    return ProgramPlan(program=Program(text=text, tools=TOOLS), inputs={name: {"type": "string"} for name in inputs})


def told(call: ProgramCall) -> tuple[str, int, int, bool, bool, bool]:
    return call.function, call.line, call.column, call.changes, call.repeated, call.chosen


def test_each_call_is_told_with_its_place_and_what_decides_about_it() -> None:
    calls = collect_plan_calls(plan(TEXT, "who", "since"), CHANGING)
    assert [told(one) for one in calls] == [
        ("search", 1, 22, False, False, False),
        ("info", 4, 22, True, True, True),
        ("colleagues", 5, 31, False, True, False),
        ("colleagues", 6, 7, False, False, False),
    ]
    assert calls[0].key == f"1:{TEXT.encode().index(b'search')}"
    assert [one.answers for one in calls] == [True, True, False, False]
    assert [one.tool for one in calls] == [SEARCH, INFO, COLLEAGUES, COLLEAGUES]


def test_each_parameter_is_told_with_what_feeds_it() -> None:
    search, info, gathered, last = collect_plan_calls(plan(TEXT, "who", "since"), CHANGING)
    name, limit = search.parameters
    assert (name.parameter, name.expression, name.inputs, name.fixed) == ("name", "who", ("who",), False)
    assert (limit.parameter, limit.expression, limit.inputs, limit.fixed) == ("limit", "é", (), True)
    assert info.parameters[0].calls == (search.key,)
    assert info.fed_by == (search.key,)
    assert gathered.parameters[0].earlier == (2,)
    assert gathered.fed_by == ()
    assert last.parameters[0].open


def test_steps_are_drawn_as_their_program() -> None:
    calls = collect_plan_calls(compile_plan(STEPS, DOCS), DOCS)
    assert [one.fed_by for one in calls] == [(), (calls[0].key,), (calls[1].key,), ()]
    assert [one.parameters[0].parameter for one in calls] == ["name", "person_id", "person_id", "person_id"]


def test_cells_of_a_run_are_told_by_their_numbers() -> None:
    cells = {
        2: Program(text="x = await search(name='a')\nlook(x)", tools=TOOLS),
        4: Program(text="y = await info(person_id=x['id'])\ny", tools=TOOLS),
    }
    calls = collect_program_calls(cells, {})
    assert [(one.key, one.changes, one.fed_by) for one in calls] == [("2:10", True, ()), ("4:10", True, ("2:10",))]


def test_a_name_that_the_text_gives_a_value_is_no_input_and_no_tool() -> None:
    calls = collect_plan_calls(plan("who = 'a'\ninfo = 7\nawait search(name=who, limit=info)", "who"), DOCS)
    assert [one.function for one in calls] == ["search"]
    assert calls[0].parameters[0].inputs == ()


def test_a_text_that_cannot_be_read_has_no_calls() -> None:
    assert collect_plan_calls(plan("await search("), DOCS) == ()
