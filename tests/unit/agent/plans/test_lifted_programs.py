"""The values of a request in a program, as inputs of it: the same values make the same calls, other values others."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from pydantic.types import JsonValue

from agent.plans.parameterization import find_input_candidates, parameterize_plan
from agent.plans.plan_text_check import check_plan
from agent.programs.program_types import ReturnedValue, SandboxCall, SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.tool import Parameter
from tests.support.program_events import INFO, TOOLS
from tests.support.scripted_host import driven
from tests.unit.agent.plans.test_compiling import DOCS

PEOPLE: JsonValue = {"people": [{"id": n, "name": f"P{n}", "year": 2005 + n, "city": "Oslo"} for n in range(9)]}


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1))
    yield made
    await made.close()


def plan(text: str) -> ProgramPlan:
    return ProgramPlan(program=Program(text=text, tools=TOOLS))


async def course(sandbox: MontySandbox, plan: ProgramPlan, **values: JsonValue) -> tuple[list[str], JsonValue]:
    """The calls that a plan makes, and what it says."""
    made: list[str] = []

    def answer(call: SandboxCall) -> JsonValue:
        made.append(f"{call.function} {json.dumps(call.arguments, sort_keys=True)}")
        return PEOPLE

    async with sandbox.open_session() as session:
        stop = await driven(session, plan.program.text, answer, {"today": "2026-11-23", **plan.values, **values})
    assert isinstance(stop, ReturnedValue), stop
    return made, stop.value


async def same(sandbox: MontySandbox, text: str, request: str) -> tuple[ProgramPlan, Mapping[str, JsonValue]]:
    """A text lifted; it passes the check, and with the same values it does the same."""
    whole = plan(text)
    made = parameterize_plan(whole, find_input_candidates(whole, request, DOCS))
    assert (await check_plan(made.program.text, made.inputs, TOOLS, DOCS, sandbox, values=made.values)).complaints == ()
    assert await course(sandbox, made) == await course(sandbox, whole)
    return made, made.values


LOOP = """found = await search(name="Grimaldo", limit=5)
late = []
for one in found["people"]:
    if one["year"] > 2010 and one.get("city") in ("Oslo", "Bergen"):
        late.append(await info(person_id=one["id"]))
{"answered": "yes", "answer": f"{len(late)} people of Oslo since 2010"}
"""


async def test_a_loop_with_a_comparison_is_a_template(sandbox: MontySandbox) -> None:
    made, values = await same(sandbox, LOOP, "Who of the first 5 Grimaldo people of Oslo since 2010 is there?")
    assert values == {"name": "Grimaldo", "limit": 5, "year": 2010, "city": "Oslo"}
    assert made.inputs["limit"] == {"type": "integer"}
    assert 'one["year"] > year' in made.program.text
    calls, said = await course(sandbox, made, year=2012, limit=7)
    assert calls == ['search {"limit": 7, "name": "Grimaldo"}', 'info {"person_id": 8}']
    assert said == {"answered": "yes", "answer": "1 people of Oslo since 2012"}


@pytest.mark.parametrize(
    ("text", "request_", "values"),
    [
        ("city = 'Oslo'\nawait search(name=city)\ncity", "Oslo", {"city": "Oslo"}),
        ("await search(name='Oslo')\nawait search(name='Oslo')\n1", "what is in Oslo?", {"name": "Oslo"}),
        ("x = await search(name='a')\nx['people'][:3]", "the first 3", {"number": 3}),
        ("x = await search(name='a')\nx['people'][3]['name']", "the name of people 3", {}),
        ("x = await search(name='a')\n{'answered': 'yes', 'answer': x.get('name')}", "yes, answered by name", {}),
        ("x = await search(name='a')\npick(x['people'], 'P3', field='name')", "P3 by name", {"value": "P3"}),
        ("x = await search(name='a')\ngetattr(x, 'name', 1)", "its name", {}),
        ("from datetime import date, timedelta\nday = date.fromisoformat(today) + timedelta(days=14)\nawait search(name=str(day))\n1", "in 14 days", {"days": 14}),
        ("name = 'b'\nfor name in ['x']:\n    await search(name=name + 'Oslo')\n1", "Oslo of b", {"value": "b", "value_2": "Oslo"}),
        ("def f(one, most=7):\n    return one[:most]\nx = await search(name='é Oslo')\nf(x['people'])", "7 é Oslo", {"most_2": 7, "name": "é Oslo"}),
        ("x = await search(name='a')\nlen(x['people']) + 1", "1 of them", {}),
        ("x = await search(name='a')\nmatch x['people'][0]['city']:\n    case 'Oslo':\n        y = 1\n    case _:\n        y = 2\ny", "Oslo", {}),
        ("x = await search(name='Oslo')\nf'{{Oslo}} {len(x)} in Oslo {\"Oslo\":>{len(x)}}'", "Oslo", {"name": "Oslo"}),
        ("x = await search(name='York')\ny = await search(name='New York')\n'New York and York, not Yorkers'", "York or New York", {"name": "York", "name_2": "New York"}),
        ("await search(name='Oslo')\n{'answer': 'in {Oslo}', 'note': r'Oslo', 'more': 'x\\nOslo', 'Oslo': 1}", "Oslo", {"name": "Oslo"}),
        ("x = {'Oslo': 7}\nawait search(name=str(x['Oslo']))\n1", "7 Oslo", {"value": 7}),
    ],
)  # fmt: skip
async def test_what_is_a_value_of_the_request_and_what_is_not(
    sandbox: MontySandbox, text: str, request_: str, values: dict[str, Any]
) -> None:
    _, found = await same(sandbox, text, request_)
    assert found == values


async def test_texts_say_the_value_that_is_given(sandbox: MontySandbox) -> None:
    text = "x = await search(name='New York')\ny = await search(name='York')\n'New York and York, {} people'.format(7)"
    other = parameterize_plan(plan(text), find_input_candidates(plan(text), "New York, York", DOCS))
    assert other.program.text.endswith("'New York and York, {} people'.format(7)")
    text = text.replace("'New York and York, {} people'.format(7)", "{'answer': 'New York and York'}")
    other = parameterize_plan(plan(text), find_input_candidates(plan(text), "New York, York", DOCS))
    _, said = await course(sandbox, other, name="Oslo", name_2="Bergen")
    assert said == {"answer": "Oslo and Bergen"}


async def test_equal_values_that_different_tools_take_must_fit_both(sandbox: MontySandbox) -> None:
    made, _ = await same(sandbox, "await search(name='7', limit=7)\nawait info(person_id=7)\n1", "7")
    kinds: dict[str, JsonObject] = made.inputs
    assert kinds == {"name": {"type": "string"}, "limit": {"type": "integer"}}
    docs = {**DOCS, INFO: DOCS[INFO].model_copy(update={"parameters": (Parameter(name="person_id", enum=("7", "8")),)})}
    [one] = find_input_candidates(plan("await search(name='7')\nawait info(person_id='7')"), "7", docs)
    assert one.schema == {"allOf": [{"type": "string"}, {"type": "string", "enum": ["7", "8"]}]}


def test_a_text_that_cannot_be_read_has_none() -> None:
    assert find_input_candidates(plan("await search("), "search", DOCS) == []
