"""Calls that may have had an effect and got no answer: the user says what became of them."""

from dataclasses import dataclass, replace

from agent.execution.call_cache import CUT_OFF_NOTE, VOUCHED_NOTE
from agent.execution.executor import CallResult, ExecutorLayer
from agent.execution.wording import summarize_call
from agent.text import clean
from domain.errors import FootpathError, NotAllowedError, TransientError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.tool import ToolDoc
from server.runs.ledger import LedgerExecutor, build_call_key
from server.runs.questions import DurableQuestions

_REPEATED = "An earlier attempt was cut off, so it is not known whether it took effect."


@dataclass(frozen=True, slots=True)
class _LedgerCall:
    """A call with all that identifies it in the ledger."""

    tool: ToolDoc
    arguments: JsonObject
    identity: str


class UnknownOutcomeExecutor(ExecutorLayer):
    """Executor of one run that asks its user about calls whose outcome is unknown, and repeats them if the user agrees.

    Each attempt has its own entry in the ledger and its own question, so that a resumed run takes the same decisions:
    an attempt that was cut off is asked about, and never repeated unasked. An attempt at another target than the first
    raises ``NotAllowedError``. The caller holds ``DurableQuestions.turn_lock``.
    """

    def __init__(self, ledger: LedgerExecutor, questions: DurableQuestions) -> None:
        super().__init__(ledger)
        self._ledger = ledger
        self._questions = questions

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; the outcome stays unknown where the user leaves it so."""
        if tool.safe:
            return await self._ledger.call(tool, arguments, identity)
        call = _LedgerCall(tool, arguments, identity)
        number, result = await self._call_until_answered(call, 1)
        while result.outcome == "unknown":
            match await self._ask_user(call, number, result):
                case "happened":
                    return CallResult("ok", "", note=VOUCHED_NOTE)
                case "did_not_happen":
                    number, result = await self._call_until_answered(call, number + 1)
                case _:
                    break
        return result

    async def _call_until_answered(self, call: _LedgerCall, first: int) -> tuple[int, CallResult]:
        """Make the attempt of this number and return it with its result.

        Where it was cut off and the call is harmless to repeat, further attempts follow until one gets an answer.
        """
        number = first
        while (result := await self._attempt(call, number, first)) is None and call.tool.harmless_again:
            number += 1
        if result is None:
            return number, CallResult("unknown", "", note=CUT_OFF_NOTE)
        if number == first or result.outcome == "ok":
            return number, result
        return number, replace(result, outcome="unknown", note=f"{result.note} {_REPEATED}".strip())

    async def _attempt(self, call: _LedgerCall, number: int, first: int) -> CallResult | None:
        """Make one attempt; the error of a repetition becomes its result, as an earlier one may have had an effect."""
        try:
            return await self._ledger.attempt(call.tool, call.arguments, number, call.identity)
        except FootpathError as error:
            if number == first or isinstance(error, NotAllowedError | TransientError):
                raise
            return CallResult("caller_fault", "", attempts=0, note=error.public_message)

    async def _ask_user(self, call: _LedgerCall, number: int, result: CallResult) -> str:
        """Ask the user whether the call took effect; return the decision."""
        question = InputNeeded(
            input=f"outcome-{number}:{build_call_key(call.tool.id, call.arguments, call.identity)}",
            asks="unknown_outcome",
            tool=call.tool.id,
            arguments=call.arguments,
            summary=self._questions.summaries.get((call.tool.id, call.identity))
            or summarize_call(call.tool, call.arguments),
            host=call.tool.host,
            reason=f"Did {clean(call.tool.api, 80)} take effect? {clean(result.note, 300)}",
        )
        return (await self._questions.ask(question))["decision"]
