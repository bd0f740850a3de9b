"""A model that writes no code gives sentences of the grammar: it is shown sentences, and what runs is code."""

import json

from agent.llm.policy import LlmPolicy
from agent.programs.program_types import ProgramAttempt, ProgramQuestion
from agent.programs.signatures import render_offer
from tests.support.people_tools import TOOLS
from tests.unit.agent.llm.test_policy import Told

REQUEST = "Wie oft wird Ada Brandt zitiert?"
OFFER = render_offer(TOOLS)
GET = {"do": "call", "name": "class", "function": "getPerson", "arguments": [{"parameter": "id", "value": "p3"}]}
GOOD = {"steps": [GET], "answered": "yes", "answer": "{class.name}: {class.born}", "missing": ""}
WRONG = {**GOOD, "answer": "{class.naem}"}


def question(*attempts: ProgramAttempt) -> ProgramQuestion:
    return ProgramQuestion(REQUEST, OFFER, "2026-11-23", attempts=attempts)


async def test_a_sentence_is_asked_for_under_its_schema_and_compiled() -> None:
    model = Told(f"Sure!\n```json\n{json.dumps(GOOD)}\n```")
    policy = LlmPolicy(model, form="grammar")
    written = await policy.decide(question())
    assert written.text.startswith("class_ = await getPerson(id='p3')\n")
    assert policy.cost.by_purpose == {"program_grammar": 1}
    (form,) = model.forms
    assert form is not None
    assert form.name == "program_grammar"
    assert REQUEST in model.heard[0][1].text


async def test_what_does_not_compile_is_told_back_once() -> None:
    model = Told(json.dumps(WRONG), json.dumps(GOOD))
    written = await LlmPolicy(model, form="grammar").decide(question())
    assert written.text
    assert "class has no field 'naem': it has id, name, cited" in model.heard[1][-1].text


async def test_twice_nothing_is_said_why() -> None:
    written = await LlmPolicy(Told(json.dumps(WRONG), json.dumps(WRONG)), form="grammar").decide(question())
    assert written.text == ""
    assert "no field 'naem'" in written.why
    assert (await LlmPolicy(Told("No.", "No."), form="grammar").decide(question())).text == ""


async def test_on_a_repair_it_sees_its_own_sentence_and_what_that_became() -> None:
    model = Told(json.dumps(GOOD), json.dumps(GOOD))
    policy = LlmPolicy(model, form="grammar")
    first = await policy.decide(question())
    await policy.decide(
        question(ProgramAttempt(first.text, "KeyError: 'born' (line 1)"), ProgramAttempt("x = 1", "of another author"))
    )
    said = [message.text for message in model.heard[1][2:]]
    assert json.loads(said[0]) == GOOD
    assert "getPerson(id='p3')" in said[1]
    assert "KeyError: 'born'" in said[1]
    assert said[2] == "```python\nx = 1\n```"


async def test_names_of_cells_that_stand_can_be_used() -> None:
    more = {**GOOD, "steps": [], "answer": "{found.total} of them"}
    model = Told(json.dumps(more))
    standing = ProgramAttempt("found = await papers(id='p1')\nlook(found)", "{'total': int}", names_valid=True)
    written = await LlmPolicy(model, form="grammar").decide(question(standing))
    assert "found['total']" in written.text
