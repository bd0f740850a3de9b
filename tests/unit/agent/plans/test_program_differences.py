"""What one program does otherwise than another: in words, and line by line."""

from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_differences import DiffLine, compare_plans, diff_lines
from domain.plan import PlanDocument, PlannedStep
from domain.program import Program, ProgramPlan
from tests.support.program_events import SEARCH, TOOLS
from tests.unit.agent.plans.test_compiling import DOCS, STEPS

LOOP = """found = await search(name=who)
for one in found["people"]:
    if one["year"] > 2010:
        await info(person_id=one["id"])
{"answered": "yes", "answer": len(found)}"""


def plan(text: str, **inputs: str) -> ProgramPlan:
    return ProgramPlan(
        program=Program(text=text, tools=TOOLS), inputs={name: {"type": kind} for name, kind in inputs.items()}
    )


def said(before: ProgramPlan, after: ProgramPlan) -> list[str]:
    return [one.said for one in compare_plans(before, after, DOCS)]


def test_steps_are_told_apart_as_steps() -> None:
    other = PlanDocument(steps=(PlannedStep(tool=SEARCH, arguments={"name": "Olga", "limit": 1}), *STEPS.steps[1:3]))
    assert said(compile_plan(STEPS, DOCS), compile_plan(other, DOCS)) == [
        'Step 1 (search): name is "Olga" instead of "Henrik Grimaldo".',
        "Step 4 is gone: it called scholars/people/info.",
    ]


def test_calls_of_programs_are_told_with_their_lines() -> None:
    after = LOOP.replace("2010", "2015").replace('one["id"]', 'one["boss"]')
    after = after.replace('{"answered"', 'more = await colleagues(person_id=7)\n{"answered"')
    told = compare_plans(plan(LOOP, who="string"), plan(after, who="string"), DOCS)
    assert [one.said for one in told] == [
        "Line 3: `if one['year'] > 2015:` instead of `if one['year'] > 2010:`.",
        "Line 4 (info): person_id is one['boss'] instead of one['id'].",
        "Line 5 (colleagues): is new: it calls scholars/people/colleagues with person_id = 7.",
    ]
    assert [one.line for one in told] == [3, 4, 5]


def test_what_it_says_and_asks_for_is_told() -> None:
    after = LOOP.replace("len(found)", "found").replace("who", "name")
    assert said(plan(LOOP, who="string"), plan(after, name="string")) == [
        "Line 1 (search): name is name instead of who.",
        "What it says at its end is {'answered': 'yes', 'answer': found} instead of {'answered': 'yes', 'answer': len(found)}.",
        "It asks for who no more.",
        "It asks for name as well.",
    ]


def test_a_call_that_is_gone_or_comes_into_a_loop_is_told() -> None:
    assert said(plan("await search(name='a')\nawait info(person_id=1)\n1"), plan("await info(person_id=1)\n1")) == [
        "Line 1 (search): is gone: it called scholars/people/search with name = 'a'."
    ]
    assert said(plan("await info(person_id=1)\n1"), plan("[await info(person_id=1) for one in [1, 2]]\n1")) == [
        "Line 1: `[await info() for one in [1, 2]]` is new."
    ]


def test_values_of_inputs_are_told() -> None:
    old = plan(LOOP, who="string").model_copy(update={"values": {"who": "Henrik"}})
    assert said(old, old.model_copy(update={"values": {"who": "Olga"}})) == [
        'The value of who is "Olga" instead of "Henrik".'
    ]


def test_what_is_only_written_otherwise_is_told_as_such() -> None:
    assert said(plan(LOOP), plan(f"# a comment\n{LOOP}")) == ["Its text is written otherwise, and does the same."]
    assert said(plan(LOOP), plan(LOOP)) == []
    assert said(plan("x = ("), plan("x = )")) == ["Its text is written otherwise, and does the same."]


def test_lines_that_differ_are_shown_with_those_around_them() -> None:
    before = "\n".join(f"line {n}" for n in range(1, 12))
    after = before.replace("line 6", "line six")
    assert diff_lines(before, after) == (
        DiffLine("skipped", ""),
        DiffLine("same", "line 4", 4, 4),
        DiffLine("same", "line 5", 5, 5),
        DiffLine("gone", "line 6", before=6),
        DiffLine("new", "line six", after=6),
        DiffLine("same", "line 7", 7, 7),
        DiffLine("same", "line 8", 8, 8),
        DiffLine("skipped", ""),
    )
    assert diff_lines(before, before) == ()


def test_what_is_computed_between_calls_is_told() -> None:
    text = """found = await search(name='a')
best = max(found, key=lambda one: one['n'])
for one in found:
    if one:
        total = 1
names = [await info(person_id=one) for one in found]
best['n']"""
    after = text.replace("max", "min").replace("    if one:", "    while one:").replace("[await", "[1 + await")
    assert said(plan(text), plan(after)) == [
        "Line 2: `best = min(found, key=lambda one: one['n'])` instead of `best = max(found, key=lambda one: one['n'])`.",
        "Line 4: `while one:` instead of `if one:`.",
        "Line 6: `names = [1 + await info() for one in found]` instead of `names = [await info() for one in found]`.",
    ]
