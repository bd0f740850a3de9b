"""Items of lists in an executed plan: by their index, or as the item that the request names.

In another response, an item may have another index.
"""

from collections.abc import Iterator, Mapping, Sequence

from agent.plans.arguments import fixed
from agent.plans.json_place import INDEX, ITEM, any_item, named_item
from agent.policy.protocol import ArgumentsQuestion
from domain.plan import StepResult
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc, ToolId

_Lists = tuple[int, str]
"""Number of a step, and the path of the outermost list in its answer that is taken from."""


def found_again(
    document: PlanDocument, results: Sequence[StepResult], docs: Mapping[ToolId, ToolDoc], request: str
) -> PlanDocument:
    """Return the document with ``[]`` for indices of lists where the request leads to the same item again.

    ``results`` are those of its steps. An index stays if the document takes several items of a list, or if the
    request does not identify the item, so that equal answers lead to equal calls. All takes of one list change
    together.
    """
    left = {own for own, takes in _by_list(document).items() if _one_item(takes)}
    for at, step in enumerate(document.steps):
        # Steps are replayed in order: a list that fails in one step keeps its indices in all others.
        left -= _lost(_left(step, left), step, results[: at + 1], docs, request)
    return document.model_copy(update={"steps": tuple(_left(step, left) for step in document.steps)})


def _by_list(document: PlanDocument) -> dict[_Lists, list[Take]]:
    """Group the takes with an index by the list that they take from."""
    found: dict[_Lists, list[Take]] = {}
    for step in document.steps:
        for take in step.takes.values():
            if INDEX.search(take.field):
                found.setdefault(_list_of(take), []).append(take)
    return found


def _list_of(take: Take) -> _Lists:
    return take.step, take.field.partition("[")[0]


def _one_item(takes: Sequence[Take]) -> bool:
    """Return True if these take from a single item of each list, nested lists included."""
    items = {item for take in takes for item in _items(take.field)}
    return len(items) == len({any_item(item) for item in items})


def _items(field: str) -> Iterator[str]:
    """Yield the prefix of a path up to each of its indices."""
    return (field[: index.end()] for index in INDEX.finditer(field))


def _left(step: PlannedStep, lists: set[_Lists]) -> PlannedStep:
    """Return a step with ``[]`` for the indices of these lists."""
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
    """Return the lists of which a step would get another item. ``results`` end with the step's own."""
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
    """Return True if a step has side effects on an item that the request does not name.

    Then another item must never take its place.
    """
    if question.tool.safe:
        return False
    responses = [question.earlier[take.step - 1][1].response for take in left.takes.values()]
    open_ = [(text, take) for text, take in zip(responses, left.takes.values(), strict=True) if ITEM in take.field]
    return any(named_item(text, take.field, question.request, only_named=True) is None for text, take in open_)
