"""Write a program from the chosen solution by rules: its text, with this request's values as inputs."""

from agent.plans.inputs import with_inputs
from agent.programs.protocol import ProgramQuestion
from agent.solutions.protocol import FillQuestion
from domain.program import Program, ProgramPlan
from offline.solution_fill import fill


def after_solution(question: ProgramQuestion) -> str:
    """Return the chosen solution's program with the values that the request states.

    Empty if no solution was chosen, if its inputs cannot be read from the request, or if it was tried before.
    """
    if not question.known.chosen or question.attempts:
        return ""
    (one,) = question.known.programs
    filled = fill(FillQuestion(question.request, one.serves, one.inputs, question.today, {}))
    if not filled.fits:
        return ""
    plan = ProgramPlan(program=Program(text=one.text, tools={}), inputs=dict(one.inputs), values=filled.values)
    return with_inputs(plan, {}).program.text
