"""Steps show what runs: a text that does anything beside its calls, other than to name answers and constants, is no list of steps."""

import pytest

from agent.plans.plan_compilation import to_plan_document
from domain.errors import NotLinearError
from domain.plan import Take
from domain.program import Program, ProgramPlan
from tests.support.program_events import COLLEAGUES, INFO, SEARCH, TOOLS

BODY = "p = {'a': {'b': 1}}\n"
SEND = "\nawait info(person_id=p)"
MORE = "does more than to call"


def plan(text: str) -> ProgramPlan:
    return ProgramPlan(program=Program(text=text, tools=TOOLS), inputs={"who": {"type": "string"}})


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("p = {'items': [1]}\np['items'].append(2)" + SEND, 2, MORE),
        (BODY + "p['a']['b'] = 2" + SEND, 2, MORE),
        (BODY + "q = p\nq['a'] = 2" + SEND, 3, MORE),
        (BODY + "def change(one):\n    one['a'] = 2\nchange(p)" + SEND, 2, MORE),
        ("p = [3, 1]\nfor one in [p]:\n    one.append(9)" + SEND, 2, MORE),
        (BODY + "if today:\n    del p" + SEND, 2, MORE),
        (BODY + "dict.update(p, a=2)" + SEND, 2, MORE),
        (BODY + "q: p['a'].clear() = 1" + SEND, 2, MORE),
        (BODY + "[p['a'].clear(), await info(person_id=p)]", 2, MORE),
        (BODY + "sent = info(person_id=p)\np['a']['b'] = 2\nawait sent", 2, MORE),
        (BODY + "sent = asyncio.gather(info(person_id=p))\np['a'].clear()\nawait sent", 2, MORE),
        ("await info(person_id=p)\np = 1", 1, MORE),
        ("await search(name=who)\nwho = 'b'", 1, MORE),
        ("await info(7)", 1, MORE),
        ("p = {'person_id': 1}\nawait info(**p)", 2, MORE),
        ("info = search\nawait info(person_id=1)", 1, "gives another meaning to info"),
        ("def info(person_id):\n    return 1\nawait info(person_id=1)", 1, "gives another meaning to info"),
        ("import os as info\nawait info(person_id=1)", 1, "gives another meaning to info"),
        ("class json:\n    loads = id\nawait info(person_id=json.loads('1'))", 1, "gives another meaning to json"),
        ("await search(name='a')\nother = info\nawait other(person_id=1)", 2, "gives info on without a call"),
    ],
)
def test_what_could_make_another_call_than_is_shown_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(NotLinearError, match=what) as told:
        to_plan_document(plan(text), {})
    assert told.value.line == line


def test_names_for_answers_and_constants_are_steps_still() -> None:
    text = """import json
p = {"a": [1]}
q = p
found: list = await search(name=who)
first = found["people"][0]
one, two = await asyncio.gather(info(person_id=first["id"]), colleagues(person_id=first.get("id")))
await info(person_id=q)
f"{first} of {len(two)}"
"""
    steps = to_plan_document(plan(text), {}).steps
    assert [step.tool for step in steps] == [SEARCH, INFO, COLLEAGUES, INFO]
    assert steps[3].arguments == {"person_id": {"a": [1]}}
    assert to_plan_document(plan("await info(person_id=(await search(name='a'))['id'])"), {}).steps[1].takes == {
        "person_id": Take(step=1, field="id")
    }


@pytest.mark.parametrize(("held", "taken"), [("1", ""), ("await search(name='a')", '["a"]')])
def test_names_that_name_each_other_too_often_are_no_steps(held: str, taken: str) -> None:
    names = "\n".join(f"x{number + 1} = x{number}{taken}" for number in range(1500))
    with pytest.raises(NotLinearError, match="cannot be read"):
        to_plan_document(plan(f"x0 = {held}\n{names}\nawait info(person_id=x1500)"), {})
