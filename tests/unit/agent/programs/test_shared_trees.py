"""Texts that are equal share one tree (``domain/source_text.py``): no analysis may change it."""

import ast

import pytest

from agent.plans.parameterization import find_input_candidates
from agent.plans.plan_compilation import has_own_answer, to_plan_document
from agent.plans.plan_differences import compare_plans
from agent.plans.plan_inputs import select_inputs
from agent.programs.analysis.canonical_form import build_canonical_form, rename_functions, rewrite_for_sharing
from agent.programs.analysis.faults import find_end_faults, find_faults, find_plan_faults
from agent.programs.analysis.instrumented_text import instrument_text
from agent.programs.analysis.program_flow import ProgramFlow, find_call_dependencies
from agent.programs.analysis.repairs import read_program_text, repair_program_text
from agent.programs.analysis.slices import SliceContext, SlicedProgram, is_answer_from_calls
from agent.solutions.extraction import find_derived_values
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
    assert read_program_text(TEXT) == TEXT
    assert [*find_faults(source, {}, {"look"}, {}), *find_end_faults(source), *find_plan_faults(source, {"search"}, 0)]
    assert repair_program_text(TEXT, {}, set())[0] != TEXT
    assert find_call_dependencies({1: PROGRAM}).pairs
    assert ProgramFlow({1: PROGRAM}).calls
    assert rename_functions(TEXT, {"search": "seek"}) != TEXT
    assert rewrite_for_sharing(TEXT, {"best": "value_1"}, lambda _: "", {"search"}) != TEXT
    assert build_canonical_form(PLAN, wording=False).inputs == ("who",)
    assert list(SlicedProgram([TEXT], SliceContext(PROGRAM.tools)).find_argument_sources())
    assert is_answer_from_calls(PROGRAM)
    assert instrument_text(TEXT).text != TEXT
    assert find_derived_values(PROGRAM, "", {}) == ["MIT"]
    assert find_input_candidates(PLAN, "Who at MIT?")
    assert select_inputs(PLAN, {"who": "person"}).program.text != TEXT
    assert compare_plans(PLAN, PLAN.model_copy(update={"program": PROGRAM.model_copy(update={"text": "1"})}), {})
    assert has_own_answer(PROGRAM)
    with pytest.raises(NotLinearError):
        to_plan_document(PLAN, {})
    assert parse_source(TEXT) is source
    assert ast.dump(source.tree, include_attributes=True) == before
