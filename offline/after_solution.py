"""A program after the solution that was chosen, by rules: its own, with the values that the request says in place of its inputs."""

from agent.plans.inputs import with_inputs
from agent.programs.protocol import ProgramQuestion
from agent.solutions.protocol import FillQuestion
from domain.program import Program, ProgramPlan
from offline.solution_fill import fill


def after_solution(question: ProgramQuestion) -> str:
    """The text; empty where none was chosen, its inputs cannot be read off the request, or it was tried before."""
    if not question.known.chosen or question.attempts:
        return ""
    (one,) = question.known.programs
    filled = fill(FillQuestion(question.request, one.serves, one.inputs, question.today, {}))
    if not filled.fits:
        return ""
    plan = ProgramPlan(program=Program(text=one.text, tools={}), inputs=dict(one.inputs), values=filled.values)
    return with_inputs(plan, {}).program.text
