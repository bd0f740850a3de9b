"""Items of lists in a plan that was carried out: named by their place, or left to be found again, since another list has them elsewhere."""

from collections.abc import Iterator, Mapping, Sequence

from agent.plans.arguments import fixed
from agent.plans.json_place import INDEX, ITEM, any_item, named_item
from agent.policy.protocol import ArgumentsQuestion
from domain.plan import StepResult
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc, ToolId

_Lists = tuple[int, str]
"""A step, and the outermost list of its answer that is taken from."""


def found_again(
    document: PlanDocument, results: Sequence[StepResult], docs: Mapping[ToolId, ToolDoc], request: str
) -> PlanDocument:
    """The document with ``[]`` in place of the indices of its takes; ``results``: of its steps, as they were.

    An index stays where the document takes several items of a list, and where the request does not lead to the same item again: so the same answers make the same calls. All takes of one list change together.
    """
    left = {own for own, takes in _by_list(document).items() if _one_item(takes)}
    for at, step in enumerate(document.steps):
        left -= _lost(_left(step, left), step, results[: at + 1], docs, request)
    return document.model_copy(update={"steps": tuple(_left(step, left) for step in document.steps)})


def _by_list(document: PlanDocument) -> dict[_Lists, list[Take]]:
    found: dict[_Lists, list[Take]] = {}
    for step in document.steps:
        for take in step.takes.values():
            if INDEX.search(take.field):
                found.setdefault(_list_of(take), []).append(take)
    return found


def _list_of(take: Take) -> _Lists:
    return take.step, take.field.partition("[")[0]


def _one_item(takes: Sequence[Take]) -> bool:
    """Whether they take from one item of each list, lists in lists included."""
    items = {item for take in takes for item in _items(take.field)}
    return len(items) == len({any_item(item) for item in items})


def _items(field: str) -> Iterator[str]:
    return (field[: index.end()] for index in INDEX.finditer(field))


def _left(step: PlannedStep, lists: set[_Lists]) -> PlannedStep:
    takes = {
        name: take.model_copy(update={"field": any_item(take.field)}) if _list_of(take) in lists else take
        for name, take in step.takes.items()
    }
    return step.model_copy(update={"takes": takes})


def _lost(
    left: PlannedStep,
    step: PlannedStep,
    results: Sequence[StepResult],
    docs: Mapping[ToolId, ToolDoc],
    request: str,
) -> set[_Lists]:
    """The lists of which a step would not get the same item. ``results``: to the step's own."""
    open_ = {_list_of(take) for take in left.takes.values() if ITEM in take.field}
    *before, own = results
    if not open_ or any(one.tool not in docs for one in results):
        return open_
    question = ArgumentsQuestion(request, docs[step.tool], tuple((docs[one.tool], one) for one in before))
    answer = fixed(left, question)
    places = {binding.parameter: binding.reference for binding in answer.provenance}
    lost = {
        _list_of(take)
        for name, take in step.takes.items()
        if places.get(name) != f"{take.step}.{take.field}".rstrip(".")
        or str(answer.values[name]) != str(own.arguments.get(name))
    }
    return open_ if _changes_unnamed(left, question) else lost & open_


def _changes_unnamed(left: PlannedStep, question: ArgumentsQuestion) -> bool:
    """Whether a step changes something that the request does not name: then no other item may take its place."""
    if question.tool.safe:
        return False
    responses = [question.earlier[take.step - 1][1].response for take in left.takes.values()]
    open_ = [(text, take) for text, take in zip(responses, left.takes.values(), strict=True) if ITEM in take.field]
    return any(named_item(text, take.field, question.request, only_named=True) is None for text, take in open_)
