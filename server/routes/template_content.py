"""Workflow templates as runs make them and are made from them: which values are parameters, and the document with values put in."""

from collections import Counter
from collections.abc import Mapping, Sequence

from orjson import dumps
from pydantic.types import JsonValue

from agent.plans.from_run import Offered
from agent.plans.parameters import filled, misfits
from agent.plans.request_template import Words, said, spoken
from domain.errors import UsageError
from domain.model import JsonObject, Model
from domain.plan_document import PlanDocument, PlannedStep
from domain.tool import ToolDoc, ToolId
from server.routes.drawn_documents import check_document, drawn_from, schema_for
from server.routes.given_documents import MOST_CHARACTERS
from server.routes.tools import tools_of
from server.services import Services
from server.storage.runs import Run
from server.storage.templates import TemplateContent, TemplateVersion


class Place(Model):
    """A value in a document: ``step`` counts from 1, ``parameter`` is its tool's."""

    step: int
    parameter: str


At = tuple[int, str]
"""The same, to look up by."""


async def content(
    source: Run | PlanDocument, places: Mapping[str, Place], request: str, services: Services
) -> TemplateContent:
    """A template's version. ``request``: what its runs ask, with ``{name}`` where a value stands; by default that of the run.

    ``UsageError`` where the document cannot be carried out, or a parameter is none of its values.
    """
    run = source if isinstance(source, Run) else None
    document, offered = await drawn_from(source, services) if isinstance(source, Run) else (source, [])
    docs, named = await tools_of(document, services), document
    at = names_at(places, offered)
    for (step, parameter), name in at.items():
        named = _with_parameter(named, name, Place(step=step, parameter=parameter), docs or {})
    await check_document(named, docs, services, document if run else None, template=True)
    if run is not None and not request:
        request = spoken(run.request, words_of(offered, at))
    return TemplateContent(
        parameters=dict(named.parameters),
        plan=named.model_dump(mode="json"),
        note=request,
        run_id=run.id if run else None,
    )


def names_at(places: Mapping[str, Place], offered: Sequence[Offered]) -> dict[At, str]:
    """Where which parameter stands: also where else the same words of the request went, so that nobody is asked for them twice."""
    told = {(one.step, one.parameter): one.name for one in offered}
    found: dict[At, str] = {}
    for name, place in places.items():
        at = place.step, place.parameter
        same = [other for other, own in told.items() if own == told.get(at)]
        found |= {other: name for other in (same or [at]) if other not in found}
    return found


def words_of(offered: Sequence[Offered], names: Mapping[At, str]) -> list[Words]:
    """The words of a run's values, with the names that are to stand for them; none for a yes or no, which no words of a request are."""
    told = [(one, names.get((one.step, one.parameter), "")) for one in offered]
    words = [Words(one.said, "" if isinstance(one.value, bool) else name) for one, name in told]
    return list(dict.fromkeys(words))


def _with_parameter(document: PlanDocument, name: str, place: Place, docs: Mapping[ToolId, ToolDoc]) -> PlanDocument:
    """The value at a place becomes a parameter; of a tool that only reads, with the value as it was as its default."""
    if not 1 <= place.step <= len(document.steps):
        raise UsageError(f"there is no step {place.step} for the parameter {name[:80]}")
    step = document.steps[place.step - 1]
    tool = docs.get(step.tool)
    told = document.parameters.get(name)
    schema: JsonObject = schema_for(tool, place.parameter, step.arguments.get(place.parameter))
    if tool is not None and all(one.name != place.parameter for one in tool.parameters):
        raise UsageError(f"{tool.api} has no parameter {place.parameter[:80]}")
    if tool is not None and tool.safe and place.parameter in step.arguments:
        schema = {**schema, "default": step.arguments[place.parameter]}
    if told is not None:
        both = "default" in told and "default" in schema
        schema = {key: value for key, value in told.items() if both or key != "default"}
    steps = list(document.steps)
    steps[place.step - 1] = _naming(step, name, place.parameter)
    return document.model_copy(update={"steps": tuple(steps), "parameters": {**document.parameters, name: schema}})


def _naming(step: PlannedStep, name: str, parameter: str) -> PlannedStep:
    arguments = {own: value for own, value in step.arguments.items() if own != parameter}
    takes = {own: take for own, take in step.takes.items() if own != parameter}
    return step.model_copy(update={"arguments": arguments, "takes": takes, "named": {**step.named, parameter: name}})


def put_in(version: TemplateVersion, values: Mapping[str, JsonValue], name: str) -> tuple[PlanDocument, str]:
    """The document with these values, and what its run asks. ``UsageError`` with a sentence for each value that does not fit.

    Checking takes time with long values and schemas: it is a thread's work.
    """
    document = PlanDocument.model_validate(version.plan)
    if _characters(document, values) > MOST_CHARACTERS:
        raise UsageError(f"with these values the plan has more than {MOST_CHARACTERS:,} characters; shorten them")
    wrong = misfits(document, values)
    if wrong:
        faults = tuple((f"parameters.{parameter}".rstrip("."), said) for parameter, said in wrong)
        raise UsageError(" ".join(said for _, said in wrong), faults)
    defaults = {own: schema["default"] for own, schema in document.parameters.items() if "default" in schema}
    request = said(version.note, {**defaults, **values}, document.parameters) if version.note else name
    return filled(document, values), request[:4000]


def _characters(document: PlanDocument, values: Mapping[str, JsonValue]) -> int:
    """How many the values take, each as often as steps name it."""
    places = Counter(name for step in document.steps for name in step.named.values())
    return sum(max(1, places[name]) * len(dumps(value)) for name, value in values.items())
