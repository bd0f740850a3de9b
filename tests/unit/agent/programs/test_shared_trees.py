"""Texts that are equal share one tree (``domain/source_text.py``): no analysis may change it."""

import ast

import pytest

from agent.plans.compiling import as_document, speaks
from agent.plans.inputs import with_inputs
from agent.plans.lifting import liftable
from agent.plans.program_differences import plan_differences
from agent.programs.analysis.faults import faults_of_end, faults_of_plan, find_faults
from agent.programs.analysis.flow import Flow, feeds
from agent.programs.analysis.forms import called_as, form_of, written_for_all
from agent.programs.analysis.reading import read
from agent.programs.analysis.repairs import repair
from agent.programs.analysis.slices import Setting, SlicedProgram, answer_rests_on_calls
from agent.programs.analysis.watched_text import watched
from agent.solutions.own_values import own_values
from domain.errors import NotLinearError
from domain.program import Program, ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolId

TEXT = """found = await search(name=who, org="MIT")
best: dict = max(found, key=lambda one: one["cited"])
async def short(text, most=3):
    return text[:most]
for one in found:
    if one["id"] == best["id"]:
        paper = search(name=one.get("name"))
look(best)
{"answered": "yes", "answer": f"The best, {math.floor(best['cited'])}, is {best['name']}"}"""
PROGRAM = Program(text=TEXT, tools={"search": ToolId("a/b/search")}, arguments={"search": {"name": "name"}})
PLAN = ProgramPlan(program=PROGRAM, inputs={"who": {}}, values={"who": "Bo"})


def test_no_analysis_changes_a_tree_that_is_shared() -> None:
    source = parse_source(TEXT)
    before = ast.dump(source.tree, include_attributes=True)
    assert read(TEXT) == TEXT
    assert [*find_faults(source, {}, {"look"}, {}), *faults_of_end(source), *faults_of_plan(source, {"search"}, 0)]
    assert repair(TEXT, {}, set())[0] != TEXT
    assert feeds({1: PROGRAM}).pairs
    assert Flow({1: PROGRAM}).calls
    assert called_as(TEXT, {"search": "seek"}) != TEXT
    assert written_for_all(TEXT, {"best": "value_1"}, lambda _: "", {"search"}) != TEXT
    assert form_of(PLAN, wording=False).inputs == ("who",)
    assert list(SlicedProgram([TEXT], Setting(PROGRAM.tools)).sources())
    assert answer_rests_on_calls(PROGRAM)
    assert watched(TEXT).text != TEXT
    assert own_values(PROGRAM, "", {}) == ["MIT"]
    assert liftable(PLAN, "Who at MIT?")
    assert with_inputs(PLAN, {"who": "person"}).program.text != TEXT
    assert plan_differences(PLAN, PLAN.model_copy(update={"program": PROGRAM.model_copy(update={"text": "1"})}), {})
    assert speaks(PROGRAM)
    with pytest.raises(NotLinearError):
        as_document(PLAN, {})
    assert parse_source(TEXT) is source
    assert ast.dump(source.tree, include_attributes=True) == before
