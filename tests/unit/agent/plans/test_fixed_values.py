"""The constants of a text count as its giver's word, unless whoever wrote it had seen responses; values of inputs always do."""

import pytest

from agent.plans.fixed_values import fixed_values
from domain.program import Program, ProgramPlan
from domain.tool import ToolId


@pytest.mark.parametrize(("tainted", "expected"), [(False, {"evil", "mine"}), (True, {"mine"})])
def test_constants_of_a_tainted_text_are_nobodys_word(tainted: bool, expected: set[str]) -> None:
    program = Program(text='await pay(to="evil", note=note)', tools={"pay": ToolId("c/s/pay")}, tainted=tainted)
    plan = ProgramPlan(program=program, inputs={"note": {"type": "string"}}, values={"note": "mine"})
    assert {value for _, _, value in fixed_values(plan)} == expected
