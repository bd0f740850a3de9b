"""The offline policy's judgement of a path: by its documents and by relevance, never by taste (thesis 4.3.2.3)."""

from agent.policy.path_questions import Reflection, ReflectionQuestion
from offline.change_words import may_call
from offline.slots.binding import fillable

FLOOR = 0.25
"""Relevance that some tool of a path must reach: the one below which the retriever adds no candidate. Paths of memories may fall below it."""


def reflected(question: ReflectionQuestion) -> Reflection:
    """``partial`` from the first step that cannot be called or must not be; ``total`` where no step has to do with the request.

    A walk without any path has tried what there is, by the same rules: nothing is gained by starting it again.
    """
    if not question.path:
        return Reflection("total", f"no path was found: {question.reason}")
    wrong = _first_wrong(question)
    if wrong is not None:
        step, why = wrong
        return Reflection("partial", why, first_wrong=step)
    best = max((max(values, default=0.0) for values in question.relevance), default=0.0)
    if best < FLOOR:
        first = question.path[0].id
        noisy = tuple(c.tool.id for c in question.starts if c.tool.id == first)
        return Reflection("total", f"no step has to do with the request (best relevance {best:.2f})", noisy=noisy)
    if question.how == "gave_up":
        return Reflection("total", f"the walk left every path: {question.reason}")
    return Reflection("success", "every step can be called with what the request and the steps before it give")


def _first_wrong(question: ReflectionQuestion) -> tuple[int, str] | None:
    """The first step that would change what nobody asked to change, or that lacks an argument, and why."""
    for step, tool in enumerate(question.path, start=1):
        if not may_call(tool, question.request):
            return step, f"{tool.api} would change something, which the request does not ask for"
        missing = fillable(tool, question.request, (*question.given, *question.path[: step - 1])).missing
        if missing:
            return step, f"nothing before {tool.api} gives its {', '.join(missing)}"
    return None
