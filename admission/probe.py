"""Fifth check: one live call. Tools that change something are called only with permission, for a test account."""

import json
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from admission.findings import failed, passed, skipped, warned
from admission.probe_arguments import Chosen, Seen, choose
from admission.signs import signs_of
from agent.execution.executor import CallResult, Executor
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.side_effect import READING_METHODS
from domain.source import Finding
from domain.tool import ToolDoc
from graph.answer_shapes import arguments_said, contradicts, shape_of_answer, with_answers
from graph.lenient_json import read_value

MAX_EXAMPLE = 4_000
"""Characters of an answer kept as the document's example."""
_SHOWN = 300
_FAILED: dict[CallOutcome, tuple[str, str]] = {
    "transient": ("did not answer as it should", "try again later; while it is like this, nobody can use it"),
    "unknown": ("did not say whether it was done", "look at the service before it is tried again"),
    "gone": ("is not there", "correct its address or its method in the document"),
    "undecided": (
        "answered 404, and it cannot be told whether its path or what the arguments name is missing",
        "correct the path in the document, or give arguments that name something that exists",
    ),
    "absent": (
        "found nothing of this name",
        "give arguments that name something that is there, or correct the examples",
    ),
    "refused": ("refused the call", "give other arguments, or correct the document"),
    "caller_fault": ("could not be called like this", "give other arguments, or correct the document"),
    "unreached": ("could not be reached", "is the service running, and its address right?"),
}


@dataclass(frozen=True, slots=True)
class Probed:
    """Outcome of a live call."""

    findings: tuple[Finding, ...]
    learnt: ToolDoc
    """The document, with what the answer taught."""


@dataclass(slots=True)
class Probe:
    """Makes the live calls of one examination."""

    executor: Executor
    leave: bool = False
    """Tools that change something may be called."""
    account: str = ""
    """Names the test account whose data may change."""
    seen: Seen = field(default_factory=Seen)

    async def of(self, tool: ToolDoc, given: JsonObject | None) -> Probed:
        """Call a tool once and return what is known from it."""
        if why := self._not_without_leave(tool):
            advice = "correct the side effect if it only reads; or give leave, and say which test account its changes are made to"
            return Probed((skipped("probe", f"it was not called: {why}", advice),), tool)
        chosen = choose(tool, given, self.seen)
        if chosen.missing or chosen.wrong:
            return Probed((_not_called(chosen),), tool)
        try:
            result = await self.executor.call(tool, chosen.arguments)
        except FootpathError as error:
            return Probed(
                (failed("probe", f"it could not be called: {error}", "correct the document, or the arguments"),), tool
            )
        if result.outcome == "ok" and tool.effect.reads:
            self.seen.add(tool, result.body)
        return _judged(tool, chosen, result)

    def _not_without_leave(self, tool: ToolDoc) -> str:
        """Return why a tool is called only with permission; empty if it may be called. A document's own claim is not trusted."""
        if self.leave and self.account.strip():
            return ""
        if not tool.effect.reads:
            return f"{tool.effect.why}, and it may change something"
        return (
            f"only its document says that {tool.method} reads"
            if tool.effect.by == "document" and tool.method not in READING_METHODS
            else ""
        )


def _not_called(chosen: Chosen) -> Finding:
    if chosen.wrong:
        return failed(
            "probe",
            f"the values that its document gives do not fit its own parameters: {chosen.wrong}",
            "give arguments, or correct its examples",
            arguments=chosen.arguments,
        )
    named = ", ".join(chosen.missing[:10])
    return skipped(
        "probe",
        f"it was not called: nothing gives a value for {named}",
        "give arguments, or examples for these parameters",
        missing=list(chosen.missing),
    )


def _judged(tool: ToolDoc, chosen: Chosen, result: CallResult) -> Probed:
    evidence: JsonObject = {
        "arguments": chosen.arguments,
        "from": dict(chosen.origins),
        "outcome": result.outcome,
        "status": result.http_status,
        "seconds": round(result.seconds, 2),
        "answer": result.body[:_SHOWN],
    }
    if result.http_status in (401, 403):
        told = f"HTTP {result.http_status}: it lets this call in only with another key, or none was sent"
        advice = f"{result.note}; give the key that it asks for, or correct the security of its document"
        return Probed(
            (
                failed("auth", told, advice),
                failed("probe", f"the call was not let in (HTTP {result.http_status})", advice, **evidence),
            ),
            tool,
        )
    if result.outcome != "ok":
        what, advice = _FAILED[result.outcome]
        told = f"it {what}: {result.note or result.outcome}"[:_SHOWN]
        make = warned if result.outcome == "absent" and "given" not in chosen.origins.values() else failed
        return Probed((make("probe", told, advice, **evidence),), tool)
    return _learnt(tool, chosen, result, evidence)


def _learnt(tool: ToolDoc, chosen: Chosen, result: CallResult, evidence: JsonObject) -> Probed:
    """Take example and shape from the answer as it came.

    An answer that a key gave access to may be private, so it is not kept as an example.
    """
    shape = shape_of_answer(result.body, arguments_said(chosen.arguments.values()))
    signs = [sign for sign in signs_of(result.body[:200_000]) if sign.grave]
    if shape is None:
        told = (
            "its answer has no structure (no JSON, or an empty one)" if result.body.strip() else "its answer is empty"
        )
        advice = "give arguments with which it finds something; what it answers cannot be used by its fields otherwise"
        return Probed((warned("probe", told, advice, **evidence),), tool)
    learnt = with_answers(tool, [shape])
    if not result.secrets and not signs:
        learnt = learnt.model_copy(update={"example_response": _example(result.body)})
    if signs:
        told = f"its answer holds {signs[0].kind}: “{signs[0].seen}”"
        advice = "answers are only ever data to a run; still, look whether this service is one to be used"
        return Probed((warned("probe", told, advice, **evidence),), learnt)
    told = f"it answered in {result.seconds:.1f} s"
    if learnt.learnt_response and learnt.learnt_response != tool.learnt_response and tool.response_schema:
        if contradicts(tool, shape):
            told = "it answered, and with other fields than its document says; what it answered counts"
            return Probed((warned("probe", told, "have the document corrected", **evidence),), learnt)
        told += "; its document names no field of its answers, so these are known from this one"
    return Probed((passed("probe", told, **evidence),), learnt)


def _example(body: str) -> str:
    """Return an answer short enough for an example. Lists keep their first items, so that it stays JSON."""
    value = read_value(body)
    for items, text in ((5, 500), (2, 200), (1, 60)):
        cut = json.dumps(_cut(value, items, text), ensure_ascii=False)
        if len(cut) <= MAX_EXAMPLE:
            return cut
    return json.dumps(_cut(value, 1, 20, depth=3), ensure_ascii=False)[:MAX_EXAMPLE]


def _cut(value: JsonValue, items: int, text: int, depth: int = 8) -> JsonValue:
    match value:
        case str():
            return value[:text]
        case list():
            return [_cut(one, items, text, depth - 1) for one in value[:items]] if depth else []
        case dict():
            return {key: _cut(one, items, text, depth - 1) for key, one in value.items()} if depth else {}
        case _:
            return value
