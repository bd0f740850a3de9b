"""The values that stand in a plan, whose word they are, and what it takes to find them."""

import sys
from types import FrameType

import pytest

from agent.plans.planned_arguments import collect_fixed_values
from domain.program import Program, ProgramPlan
from domain.tool import ToolId

GET = ToolId("c/t/get")


def plan(text: str) -> ProgramPlan:
    return ProgramPlan(program=Program(text=text, tools={"get": GET}))


def test_a_constant_is_fixed_however_it_gets_to_a_call() -> None:
    text = "xs = ['a']\nxs.append('b')\nfor x in xs:\n    await get(q=x)\nxs.append('c')\nawait get(q='d', n=3)\n"
    assert set(collect_fixed_values(plan(text))) == {(GET, "q", "a"), (GET, "q", "b"), (GET, "q", "d"), (GET, "n", 3)}


@pytest.mark.parametrize(
    "round_",
    ["x = await get(q=1)\nxs.append(x)\n", "xs.append(x)\nx = await get(q=xs)\n", "xs = xs + [1]\nawait get(q=xs)\n"],
)
def test_a_text_twice_as_long_is_at_most_a_little_more_than_four_times_the_work(round_: str) -> None:
    def work(rounds: int) -> int:
        count = 0

        def called(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            collect_fixed_values(plan(f"xs = []\nx = 0\n{round_ * rounds}"))
        finally:
            sys.setprofile(before)
        return count

    assert work(80) < 4.5 * work(40)


@pytest.mark.parametrize(("tainted", "expected"), [(False, {"evil", "mine"}), (True, {"mine"})])
def test_constants_of_a_tainted_text_are_nobodys_word(tainted: bool, expected: set[str]) -> None:
    program = Program(text='await pay(to="evil", note=note)', tools={"pay": ToolId("c/s/pay")}, tainted=tainted)
    plan = ProgramPlan(program=program, inputs={"note": {"type": "string"}}, values={"note": "mine"})
    assert {str(value) for _, _, value in collect_fixed_values(plan)} == expected
