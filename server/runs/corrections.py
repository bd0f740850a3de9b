"""Corrections in answers to questions about calls: values that the user replaced, and calls that they left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import Field, ValidationError

from agent.execution.approval import IntendedCall
from agent.execution.provenance import Fixed, put_in
from agent.execution.validation import corrected
from domain.errors import LeftOutError, NotAllowedError, UsageError
from domain.model import JsonObject, Model
from domain.tool import Parameter, ToolDoc, ToolId, tool_id_parts
from server.storage.run_events import RunQuestion

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


class KeptCorrection(Correction):
    """A checked correction, as it is stored."""

    made: JsonObject = Field(default_factory=dict)
    """All arguments that the call is made with."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """The user's answer about one call."""

    allowed: bool
    left_out: bool = False
    corrected: JsonObject | None = None
    """Arguments that the call is made with in place of those that were asked about."""

    def refuse(self) -> None:
        """Raise ``NotAllowedError`` where the call is not to be made."""
        if self.left_out:
            raise LeftOutError("You left this call out, so it was not made.")
        if not self.allowed:
            raise NotAllowedError("You did not allow this call, so it was not made.")


def kept_of(tool: ToolDoc) -> JsonObject:
    """Return the part of a question about calls of a tool that is needed to check its answer."""
    return {_PARAMETERS: [one.model_dump(mode="json", exclude=_EVIDENCE) for one in tool.parameters]}


def asked_tool(asked: RunQuestion) -> ToolDoc | None:
    """Rebuild the tool of a question with its parameters as they were when it was asked.

    None where they were not stored, or cannot be read any more.
    """
    told = cast("dict[str, Any]", asked.question)
    if asked.kind != "call" or _PARAMETERS not in told:
        return None
    category, toolset, api = tool_id_parts(ToolId(told["tool"]))
    try:
        parameters = tuple(Parameter.model_validate(one) for one in told[_PARAMETERS])
    except ValidationError:
        return None
    return ToolDoc(
        id=ToolId(told["tool"]), category=category, toolset=toolset, api=api, function=api, parameters=parameters
    )


def calls_of(asked: RunQuestion) -> list[dict[str, Any]]:
    """Return all calls that a question is about.

    Each has its ``arguments``; where there are several, also ``tool`` and ``identity``.
    """
    told = cast("dict[str, Any]", asked.question)
    return told.get("calls") or [told]


def place_of(asked: RunQuestion, call: IntendedCall) -> int | None:
    """Return the index of a call among several that a question is about; None where it is not among them."""
    told = cast("dict[str, Any]", asked.question)
    calls = cast("list[dict[str, Any]]", told.get("calls", []) if asked.kind == "call" else [])
    wanted = (call.tool.id, call.identity, call.arguments)
    same = (at for at, one in enumerate(calls) if (one["tool"], one["identity"], one["arguments"]) == wanted)
    return next(same, None)


def said_of(answer: dict[str, Any], place: int) -> CallAnswer:
    """Return what an answer says of the call at this index."""
    allowed = answer["decision"] == "allow"
    mine = next((one for one in kept_in(answer) if one.call == place), None)
    if mine is None or not allowed:
        return CallAnswer(allowed)
    return CallAnswer(not mine.skip, mine.skip, mine.made if mine.arguments else None)


def kept_in(answer: dict[str, Any] | None) -> list[KeptCorrection]:
    """Parse the corrections of an answer."""
    return [KeptCorrection.model_validate(one) for one in (answer or {}).get("corrections", [])]


def fixed_by_corrections(answered: Sequence[RunQuestion]) -> list[Fixed]:
    """Collect the values that users entered in corrections: they count as the user's statements."""
    return [
        (ToolId(str(calls_of(asked)[one.call].get("tool", ""))), name, leaf)
        for asked in answered
        if asked.kind == "call" and asked.answer is not None
        for one in kept_in(cast("dict[str, Any]", asked.answer))
        for name, value in one.arguments.items()
        for leaf in put_in(value, calls_of(asked)[one.call]["arguments"].get(name))
    ]


def checked_corrections(asked: RunQuestion, given: Sequence[Correction]) -> list[KeptCorrection]:
    """Check corrections against the question, and return them as they are stored.

    ``UsageError`` lists all faults with their places.
    """
    calls, tool = calls_of(asked), asked_tool(asked)
    if tool is None:
        raise UsageError("this question cannot be answered with other values: allow the call or deny it")
    kept: list[KeptCorrection] = []
    faults: list[tuple[str, str]] = []
    for number, one in enumerate(given):
        place = f"body.corrections.{number}"
        if wrong := _misplaced(one, given[:number], len(calls)):
            faults.append((f"{place}.call", wrong))
            continue
        if one.skip and one.arguments:
            faults.append((f"{place}.skip", "a call that is left out takes no other values"))
            continue
        made, complaints = corrected(tool, calls[one.call]["arguments"], one.arguments)
        if not one.skip:
            faults += [(f"{place}.arguments.{name}".rstrip("."), said) for name, said in complaints]
        arguments = {name: made.get(name) for name in one.arguments}
        kept.append(KeptCorrection(call=one.call, arguments=arguments, skip=one.skip, made=made))
    if not faults and sum(one.skip for one in kept) == len(calls):
        faults.append(("body.corrections", "no call is left: deny them instead"))
    if faults:
        raise UsageError(f"the corrections do not fit. {' '.join(said for _, said in faults[:10])}", tuple(faults))
    return [one for one in kept if one.skip or one.arguments]


def _misplaced(one: Correction, before: Sequence[Correction], calls: int) -> str:
    if not 0 <= one.call < calls:
        return f"the question is about {calls} call{'s' * (calls != 1)}, counted from 0"
    return "two corrections are about the same call" if any(one.call == other.call for other in before) else ""
