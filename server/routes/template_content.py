"""Workflow templates as runs make them and are made from them: which values are parameters, and the plan with values put in."""

import asyncio
from collections.abc import Mapping, Sequence

from orjson import dumps
from pydantic.types import JsonValue

from agent.plans.executed_plan import ExecutedPlan
from agent.plans.parameterization import infer_value_schema, parameterize_plan
from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_inputs import build_shown_schemas, map_shown_names, select_inputs, set_input_values
from agent.plans.request_words import RequestWords, fill_placeholders, find_placeholders, insert_placeholders
from agent.plans.request_words import find_request_words as words_in
from agent.plans.steps_from_run import ParameterCandidate
from agent.plans.stored_plan import dump_plan
from domain.errors import UsageError
from domain.model import JsonObject, Model
from domain.plan import PlanDocument, PlannedStep
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId
from server.routes.drawn_documents import check_document, drawn_from
from server.routes.given_documents import MOST_CHARACTERS
from server.routes.tools import tools, tools_of
from server.services import Services
from server.storage.runs import Run
from server.storage.templates import TemplateContent


class Place(Model):
    """A value that may differ: of an ``input`` of what a run has done, or of a ``parameter`` of a ``step`` of a document, counted from 1."""

    input: str = ""
    step: int = 0
    parameter: str = ""


At = tuple[int, str]
"""A step and a parameter, to look up by."""


async def content(
    source: Run | PlanDocument | ProgramPlan, places: Mapping[str, Place], request: str, services: Services
) -> TemplateContent:
    """A template's version. ``request``: what its runs ask, with ``{name}`` where a value stands; by default that of the run.

    ``UsageError`` where the plan cannot be carried out, or a parameter is none of its values.
    """
    match source:
        case ProgramPlan():
            if places:
                raise UsageError("the inputs of a program are its parameters: give it those that it is to have")
            return _content(source.model_copy(update={"values": {}}), _known_names(request, source))
        case PlanDocument():
            plan = (await _of_steps(source, places, services, None, []))[0]
            return _content(plan, _known_names(request, plan))
        case Run() as run:
            made = await drawn_from(run, services)
            made.refuse_files("a template")
            by_steps = any(one.step for one in places.values()) or not (made.plan.inputs or made.document is None)
            if by_steps and made.document is not None:
                plan, words = await _of_steps(made.document, places, services, made.document, made.parameter_candidates)
            else:
                plan, words = await _of_program(made, run, places, services)
            return _content(plan, _known_names(request, plan) or insert_placeholders(run.request, words), run.id)


def _known_names(request: str, plan: ProgramPlan) -> str:
    """The request. ``UsageError`` where it names what no value would be put in for."""
    known = build_shown_schemas(plan)
    unknown = [name for name in find_placeholders(request) if name not in known]
    if unknown:
        said = f"{', '.join(f'{{{name[:80]}}}' for name in unknown[:10])}: there is no such parameter; there are {', '.join(known) or 'none'}"
        raise UsageError(f"the request names what the template does not have. {said}", (("request", said),))
    return request


def _content(plan: ProgramPlan, request: str, run_id: str | None = None) -> TemplateContent:
    return TemplateContent(parameters={**build_shown_schemas(plan)}, plan=dump_plan(plan), note=request, run_id=run_id)


async def _of_program(
    made: ExecutedPlan, run: Run, places: Mapping[str, Place], services: Services
) -> tuple[ProgramPlan, list[RequestWords]]:
    """What a program did, with inputs for what may differ; where it only reads, with the values as they were as defaults."""
    chosen = {place.input: name for name, place in places.items()}
    unknown = [name for name, place in places.items() if place.input not in made.plan.inputs]
    if unknown:
        raise UsageError(f"this run has no value that {unknown[0][:80]} could stand for: name one of its inputs")
    plan = parameterize_plan(made.executed_program, [one for one in made.input_candidates if one.name in chosen])
    plan = await asyncio.to_thread(select_inputs, plan, chosen)
    docs = await tools(plan.program.tools.values(), services) or {}
    reads = all(tool in docs and docs[tool].safe for tool in plan.program.tools.values())
    inputs: dict[str, JsonObject] = {}
    for name, schema in plan.inputs.items():
        bare: JsonObject = {key: value for key, value in schema.items() if key != "default"}
        inputs[name] = {**bare, "default": plan.values[name]} if reads and name in plan.values else bare
    values = made.plan.values.items()
    words = [RequestWords(words_in(value, run.request), chosen.get(own, "")) for own, value in values]
    return plan.model_copy(update={"inputs": inputs, "values": {}}), words


async def _of_steps(
    document: PlanDocument,
    places: Mapping[str, Place],
    services: Services,
    proven: PlanDocument | None,
    offered: Sequence[ParameterCandidate],
) -> tuple[ProgramPlan, list[RequestWords]]:
    docs, named = await tools_of(document, services), document
    at = names_at(places, offered)
    for (step, parameter), name in at.items():
        named = _with_parameter(named, name, Place(step=step, parameter=parameter), docs or {})
    await check_document(named, docs, services, proven, template=True)
    return await asyncio.to_thread(compile_plan, named, docs or {}), words_of(offered, at)


def names_at(places: Mapping[str, Place], offered: Sequence[ParameterCandidate]) -> dict[At, str]:
    """Where which parameter stands: also where else the same words of the request went, so that nobody is asked for them twice."""
    told = {(one.step, one.parameter): one.name for one in offered}
    found: dict[At, str] = {}
    for name, place in places.items():
        at = place.step, place.parameter
        same = [other for other, own in told.items() if own == told.get(at)]
        found |= {other: name for other in (same or [at]) if other not in found}
    return found


def words_of(offered: Sequence[ParameterCandidate], names: Mapping[At, str]) -> list[RequestWords]:
    """The words of a run's values, with the names that are to stand for them; none for a yes or no, which no words of a request are."""
    told = [(one, names.get((one.step, one.parameter), "")) for one in offered]
    words = [RequestWords(one.request_words, "" if isinstance(one.value, bool) else name) for one, name in told]
    return list(dict.fromkeys(words))


def _with_parameter(document: PlanDocument, name: str, place: Place, docs: Mapping[ToolId, ToolDoc]) -> PlanDocument:
    """The value at a place becomes a parameter; of a tool that only reads, with the value as it was as its default."""
    if not 1 <= place.step <= len(document.steps):
        raise UsageError(f"there is no step {place.step} for the parameter {name[:80]}")
    step = document.steps[place.step - 1]
    tool = docs.get(step.tool)
    told = document.parameters.get(name)
    schema: JsonObject = infer_value_schema(tool, place.parameter, step.arguments.get(place.parameter))
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


def put_in(plan: ProgramPlan, note: str, values: Mapping[str, JsonValue], name: str) -> tuple[ProgramPlan, str]:
    """A version's plan with these values, and what its run asks. ``UsageError`` with a sentence for each value that does not fit.

    Checking takes time with long values and schemas: it is a thread's work.
    """
    if _characters(plan, values) > MOST_CHARACTERS:
        raise UsageError(f"with these values the plan has more than {MOST_CHARACTERS:,} characters; shorten them")
    filled, wrong = set_input_values(plan, values)
    if wrong:
        faults = tuple((f"parameters.{parameter}".rstrip("."), said) for parameter, said in wrong)
        raise UsageError(" ".join(said for _, said in wrong), faults)
    schemas = build_shown_schemas(plan)
    defaults = {own: schema["default"] for own, schema in schemas.items() if "default" in schema}
    request = fill_placeholders(note, {**defaults, **values}, schemas) if note else name
    return filled, request[:4000]


def _characters(plan: ProgramPlan, values: Mapping[str, JsonValue]) -> int:
    """How many the values take, each as often as the text reads its name: the calls hold them."""
    names, places = map_shown_names(plan), parse_source(plan.program.text).read_counts
    return sum(max(1, places[names.get(shown, shown)]) * len(dumps(value)) for shown, value in values.items())
