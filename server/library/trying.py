"""A call that a user tries by hand: checked, guarded and keyed as those of runs are, and written down before it is made."""

import asyncio

from agent.compression.field_selection import FieldChoices
from agent.compression.response_compression import compress_response
from agent.execution.call_wording import summarize_call
from agent.execution.step_execution import execute_call
from agent.execution.validation import check_arguments
from agent.policy.protocol import CallArguments
from domain.errors import FootpathError, NotAllowedError, UsageError
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.tool import ToolDoc
from server.runs.agent_runtime import AgentRuntime
from server.storage.database import run_to_completion
from server.storage.tool_library import ToolTries, TryOutcome

LONGEST = 20_000
"""Characters of an answer that are kept and told."""


async def sound(doc: ToolDoc, arguments: JsonObject, *, leave: bool) -> JsonObject:
    """The arguments as they are sent.

    Raises:
        UsageError: some do not fit the tool's parameters; each is told. NotAllowedError: it may change something, and there is no leave for that.
    """
    values, wrong = await asyncio.to_thread(check_arguments, doc, arguments)
    if wrong:
        faults = tuple((f"arguments.{name}" if name else "arguments", said) for name, said in wrong)
        raise UsageError(" ".join(said for _, said in wrong), faults)
    if not doc.safe and not leave:
        said = summarize_call(doc, values)
        raise NotAllowedError(
            f"it may change something ({doc.effect.why}), so give leave for it first. It will: {said}"
        )
    return values


async def tried(
    doc: ToolDoc, values: JsonObject, user_id: str, agents: AgentRuntime, tries: ToolTries, key: str | None = None
) -> str:
    """Make the call in the name of a user; the id that it is kept under. What the call itself comes to is kept, not raised.

    What was begun under this ``key`` is not made again.
    """
    kept, to_make = await run_to_completion(tries.begin(user_id, doc.id, values, changes=not doc.safe, key=key))
    if not to_make:
        return kept
    given = CallArguments(values, tuple(Binding(parameter=name, origin="user") for name in values))
    try:
        async with agents.borrow_executor(user_id) as executor:
            result = await execute_call(doc, given, executor)
    except FootpathError as error:  # nothing was sent
        await run_to_completion(tries.finish(kept, TryOutcome(note=error.public_message)))
        raise
    await run_to_completion(tries.finish(kept, _end(result)))
    return kept


async def short_form(doc: ToolDoc, response: str) -> str:
    """What a model would be shown in place of a long answer; empty where it is short."""
    found = await compress_response(doc, response, None, FieldChoices())
    return found.text if found else ""


def _end(result: StepResult) -> TryOutcome:
    return TryOutcome(
        outcome=result.outcome,
        http_status=result.http_status,
        response=result.response[:LONGEST],
        whole=len(result.response),
        note=result.note,
        milliseconds=round(1000 * result.seconds),
    )
