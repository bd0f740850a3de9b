"""Corrections in answers to questions about calls: values that the user replaced, and calls that they left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import Field, ValidationError

from agent.execution.approval import IntendedCall
from agent.execution.provenance import FixedArgument, find_added_values
from agent.execution.validation import apply_corrections
from domain.errors import ExcludedCallError, NotAllowedError, UsageError
from domain.model import JsonObject, Model
from domain.tool import Parameter, ToolDoc, ToolId, split_tool_id
from server.storage.run_records import RunQuestion

_PARAMETERS = "parameters"
"""Key in a question: the parameters of its tool when it was asked. Questions of earlier versions lack it."""
_EVIDENCE = {"flows", "filled"}


class Correction(Model):
    """Of the call at this place of a question, from 0: other values for some of its arguments (null leaves out what may be left out), or that it is
    left out.
    """

    call: int = 0
    arguments: JsonObject = Field(default_factory=dict)
    skip: bool = False


class StoredCorrection(Correction):
    """A checked correction, as it is stored."""

    made: JsonObject = Field(default_factory=dict)
    """All arguments that the call is made with."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """The user's answer about one call."""

    allowed: bool
    is_left_out: bool = False
    corrected: JsonObject | None = None
    """Arguments that the call is made with in place of those that were asked about."""

    def raise_refusal(self) -> None:
        """Raise ``NotAllowedError`` if the user denied the call or left it out."""
        if self.is_left_out:
            raise ExcludedCallError("You left this call out, so it was not made.")
        if not self.allowed:
            raise NotAllowedError("You did not allow this call, so it was not made.")


def dump_parameters(tool: ToolDoc) -> JsonObject:
    """Return the tool's parameters as they are stored with a question, to check its answer."""
    return {_PARAMETERS: [parameter.model_dump(mode="json", exclude=_EVIDENCE) for parameter in tool.parameters]}


def restore_tool(question: RunQuestion) -> ToolDoc | None:
    """Rebuild the tool of a question with its parameters as they were when it was asked.

    None where they were not stored, or cannot be read any more.
    """
    content = cast("dict[str, Any]", question.question)
    if question.kind != "call" or _PARAMETERS not in content:
        return None
    category, toolset, api = split_tool_id(ToolId(content["tool"]))
    try:
        parameters = tuple(Parameter.model_validate(parameter) for parameter in content[_PARAMETERS])
    except ValidationError:
        return None
    return ToolDoc(
        id=ToolId(content["tool"]), category=category, toolset=toolset, api=api, function=api, parameters=parameters
    )


def get_calls(question: RunQuestion) -> list[dict[str, Any]]:
    """Return all calls that a question is about.

    Each has its ``arguments``; where there are several, also ``tool`` and ``identity``.
    """
    content = cast("dict[str, Any]", question.question)
    return content.get("calls") or [content]


def find_call_index(question: RunQuestion, call: IntendedCall) -> int | None:
    """Return the index of a call among several that a question is about; None where it is not among them."""
    content = cast("dict[str, Any]", question.question)
    calls = cast("list[dict[str, Any]]", content.get("calls", []) if question.kind == "call" else [])
    wanted_call = (call.tool.id, call.identity, call.arguments)
    matches = (
        index
        for index, asked_call in enumerate(calls)
        if (asked_call["tool"], asked_call["identity"], asked_call["arguments"]) == wanted_call
    )
    return next(matches, None)


def get_call_answer(answer: dict[str, Any], index: int) -> CallAnswer:
    """Return what an answer says of the call at this index."""
    allowed = answer["decision"] == "allow"
    correction = next((candidate for candidate in parse_corrections(answer) if candidate.call == index), None)
    if correction is None or not allowed:
        return CallAnswer(allowed)
    return CallAnswer(not correction.skip, correction.skip, correction.made if correction.arguments else None)


def parse_corrections(answer: dict[str, Any] | None) -> list[StoredCorrection]:
    """Parse the corrections of an answer."""
    return [StoredCorrection.model_validate(correction) for correction in (answer or {}).get("corrections", [])]


def collect_corrected_values(answered: Sequence[RunQuestion]) -> list[FixedArgument]:
    """Collect the values that users entered in corrections: they count as the user's statements."""
    return [
        (ToolId(str(get_calls(question)[correction.call].get("tool", ""))), name, leaf)
        for question in answered
        if question.kind == "call" and question.answer is not None
        for correction in parse_corrections(cast("dict[str, Any]", question.answer))
        for name, value in correction.arguments.items()
        for leaf in find_added_values(value, get_calls(question)[correction.call]["arguments"].get(name))
    ]


def check_corrections(question: RunQuestion, corrections: Sequence[Correction]) -> list[StoredCorrection]:
    """Check corrections against the question, and return them as they are stored.

    ``UsageError`` lists all faults with their places.
    """
    calls, tool = get_calls(question), restore_tool(question)
    if tool is None:
        raise UsageError("this question cannot be answered with other values: allow the call or deny it")
    accepted: list[StoredCorrection] = []
    faults: list[tuple[str, str]] = []
    for number, correction in enumerate(corrections):
        place = f"body.corrections.{number}"
        if misplacement := _describe_misplacement(correction, corrections[:number], len(calls)):
            faults.append((f"{place}.call", misplacement))
            continue
        if correction.skip and correction.arguments:
            faults.append((f"{place}.skip", "a call that is left out takes no other values"))
            continue
        corrected_arguments, complaints = apply_corrections(
            tool, calls[correction.call]["arguments"], correction.arguments
        )
        if not correction.skip:
            faults += [(f"{place}.arguments.{name}".rstrip("."), message) for name, message in complaints]
        arguments = {name: corrected_arguments.get(name) for name in correction.arguments}
        accepted.append(
            StoredCorrection(call=correction.call, arguments=arguments, skip=correction.skip, made=corrected_arguments)
        )
    if not faults and sum(correction.skip for correction in accepted) == len(calls):
        faults.append(("body.corrections", "no call is left: deny them instead"))
    if faults:
        raise UsageError(
            f"the corrections do not fit. {' '.join(message for _, message in faults[:10])}", tuple(faults)
        )
    return [correction for correction in accepted if correction.skip or correction.arguments]


def _describe_misplacement(correction: Correction, before: Sequence[Correction], calls: int) -> str:
    if not 0 <= correction.call < calls:
        return f"the question is about {calls} call{'s' * (calls != 1)}, counted from 0"
    return "two corrections are about the same call" if any(correction.call == other.call for other in before) else ""
