"""Fifth check: one live call. Tools that change something are called only with permission, for a test account."""

import json
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from admission.findings import report_failure, report_pass, report_skip, report_warning
from admission.injection_signs import find_signs
from admission.probe_arguments import ProbeArguments, SeenAnswers, choose_arguments
from agent.execution.executor import CallResult, Executor
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.side_effect import READING_METHODS
from domain.tool import ToolDoc
from domain.tool_source import Finding
from graph.answer_shapes import collect_scalars, contradicts_document, infer_answer_shape, update_learnt_response
from graph.lenient_json import read_value

MAX_EXAMPLE = 4_000
"""Characters of an answer kept as the document's example."""
_MAX_SHOWN = 300
_FAILURE_TEXTS: dict[CallOutcome, tuple[str, str]] = {
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
class ProbeResult:
    """Outcome of a live call."""

    findings: tuple[Finding, ...]
    learnt_doc: ToolDoc
    """The document, with what the answer taught."""


@dataclass(slots=True)
class ToolProbe:
    """Makes the live calls of one examination."""

    executor: Executor
    allow_changes: bool = False
    """Tools that change something may be called."""
    account: str = ""
    """Names the test account whose data may change."""
    seen_answers: SeenAnswers = field(default_factory=SeenAnswers)

    async def call_tool(self, tool: ToolDoc, given_arguments: JsonObject | None) -> ProbeResult:
        """Call a tool once and return what is known from it."""
        if why := self._find_obstacle(tool):
            advice = "correct the side effect if it only reads; or give leave, and say which test account its changes are made to"
            return ProbeResult((report_skip("probe", f"it was not called: {why}", advice),), tool)
        chosen_arguments = choose_arguments(tool, given_arguments, self.seen_answers)
        if chosen_arguments.missing or chosen_arguments.wrong:
            return ProbeResult((_report_not_called(chosen_arguments),), tool)
        try:
            result = await self.executor.call(tool, chosen_arguments.arguments)
        except FootpathError as error:
            return ProbeResult(
                (
                    report_failure(
                        "probe", f"it could not be called: {error}", "correct the document, or the arguments"
                    ),
                ),
                tool,
            )
        if result.outcome == "ok" and tool.effect.reads:
            self.seen_answers.add(tool, result.body)
        return _judge_result(tool, chosen_arguments, result)

    def _find_obstacle(self, tool: ToolDoc) -> str:
        """Return why a tool is called only with permission; empty if it may be called. A document's own claim is not trusted."""
        if self.allow_changes and self.account.strip():
            return ""
        if not tool.effect.reads:
            return f"{tool.effect.why}, and it may change something"
        return (
            f"only its document says that {tool.method} reads"
            if tool.effect.by == "document" and tool.method not in READING_METHODS
            else ""
        )


def _report_not_called(chosen_arguments: ProbeArguments) -> Finding:
    if chosen_arguments.wrong:
        return report_failure(
            "probe",
            f"the values that its document gives do not fit its own parameters: {chosen_arguments.wrong}",
            "give arguments, or correct its examples",
            arguments=chosen_arguments.arguments,
        )
    names = ", ".join(chosen_arguments.missing[:10])
    return report_skip(
        "probe",
        f"it was not called: nothing gives a value for {names}",
        "give arguments, or examples for these parameters",
        missing=list(chosen_arguments.missing),
    )


def _judge_result(tool: ToolDoc, chosen_arguments: ProbeArguments, result: CallResult) -> ProbeResult:
    evidence: JsonObject = {
        "arguments": chosen_arguments.arguments,
        "from": dict(chosen_arguments.origins),
        "outcome": result.outcome,
        "status": result.http_status,
        "seconds": round(result.seconds, 2),
        "answer": result.body[:_MAX_SHOWN],
    }
    if result.http_status in (401, 403):
        message = f"HTTP {result.http_status}: it lets this call in only with another key, or none was sent"
        advice = f"{result.note}; give the key that it asks for, or correct the security of its document"
        return ProbeResult(
            (
                report_failure("auth", message, advice),
                report_failure("probe", f"the call was not let in (HTTP {result.http_status})", advice, **evidence),
            ),
            tool,
        )
    if result.outcome != "ok":
        problem, advice = _FAILURE_TEXTS[result.outcome]
        message = f"it {problem}: {result.note or result.outcome}"[:_MAX_SHOWN]
        report = (
            report_warning
            if result.outcome == "absent" and "given" not in chosen_arguments.origins.values()
            else report_failure
        )
        return ProbeResult((report("probe", message, advice, **evidence),), tool)
    return _learn_from_answer(tool, chosen_arguments, result, evidence)


def _learn_from_answer(
    tool: ToolDoc, chosen_arguments: ProbeArguments, result: CallResult, evidence: JsonObject
) -> ProbeResult:
    """Take example and shape from the answer as it came.

    An answer that a key gave access to may be private, so it is not kept as an example.
    """
    shape = infer_answer_shape(result.body, collect_scalars(chosen_arguments.arguments.values()))
    signs = [sign for sign in find_signs(result.body[:200_000]) if sign.grave]
    if shape is None:
        message = (
            "its answer has no structure (no JSON, or an empty one)" if result.body.strip() else "its answer is empty"
        )
        advice = "give arguments with which it finds something; what it answers cannot be used by its fields otherwise"
        return ProbeResult((report_warning("probe", message, advice, **evidence),), tool)
    learnt_doc = update_learnt_response(tool, [shape])
    if not result.secrets and not signs:
        learnt_doc = learnt_doc.model_copy(update={"example_response": _shorten_example(result.body)})
    if signs:
        message = f"its answer holds {signs[0].kind}: “{signs[0].excerpt}”"
        advice = "answers are only ever data to a run; still, look whether this service is one to be used"
        return ProbeResult((report_warning("probe", message, advice, **evidence),), learnt_doc)
    message = f"it answered in {result.seconds:.1f} s"
    if learnt_doc.learnt_response and learnt_doc.learnt_response != tool.learnt_response and tool.response_schema:
        if contradicts_document(tool, shape):
            message = "it answered, and with other fields than its document says; what it answered counts"
            return ProbeResult(
                (report_warning("probe", message, "have the document corrected", **evidence),), learnt_doc
            )
        message += "; its document names no field of its answers, so these are known from this one"
    return ProbeResult((report_pass("probe", message, **evidence),), learnt_doc)


def _shorten_example(body: str) -> str:
    """Return an answer short enough for an example. Lists keep their first items; what is still too long is cut, and is no JSON then."""
    value = read_value(body)
    for items, text in ((5, 500), (2, 200), (1, 60)):
        cut = json.dumps(_cut_value(value, items, text), ensure_ascii=False)
        if len(cut) <= MAX_EXAMPLE:
            return cut
    return json.dumps(_cut_value(value, 1, 20, depth=3), ensure_ascii=False)[:MAX_EXAMPLE]


def _cut_value(value: JsonValue, items: int, text: int, depth: int = 8) -> JsonValue:
    match value:
        case str():
            return value[:text]
        case list():
            return [_cut_value(item, items, text, depth - 1) for item in value[:items]] if depth else []
        case dict():
            return {key: _cut_value(item, items, text, depth - 1) for key, item in value.items()} if depth else {}
        case _:
            return value
