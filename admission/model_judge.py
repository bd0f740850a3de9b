"""Quality judgements by a language model: one prompt for a batch of documents, keep or drop for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from admission.quality import Judgement
from admission.shown_documents import shown
from agent.llm.client.chat import ChatModel
from agent.llm.prompts import Fence, instructions
from agent.llm.structured_output import Allowance, Asker
from agent.text import clean
from domain.errors import InvalidDecisionError
from domain.tool import ToolDoc

_REASON = 300
_ASKED = 2
"""Model calls for one batch: a complaint is sent back once."""


class NumberedJudgement(BaseModel):
    """Of one document, by its number in the message."""

    number: int
    keep: bool
    reason: str
    speaks_to_model: bool = False


class JudgementsAnswer(BaseModel):
    """``agent/prompts/judge.md``."""

    judgements: list[NumberedJudgement]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Judge that asks a language model. The judgement of a document may depend on the others of its batch."""

    model: ChatModel
    seconds: float = 60.0
    """Seconds that one answer may take."""

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return f"the model {self.model.name}"

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[Judgement]:
        """Return a judgement for each document, in order.

        Raises:
            ModelUnavailableError: the model gives no answer.
            InvalidDecisionError: its answer cannot be used.
        """
        fence = Fence()
        documents = "\n\n".join(f"{number}. {shown(tool)}" for number, tool in enumerate(tools, start=1))
        message = fence.message(fence.block("documents", documents), f"The {len(tools)} judgements?")

        def complaint(answer: JudgementsAnswer) -> str:
            numbers = sorted(one.number for one in answer.judgements)
            return (
                ""
                if numbers == list(range(1, len(tools) + 1))
                else f"a judgement for each of the numbers 1 to {len(tools)} is needed, once."
            )

        asker = Asker(self.model, Allowance(seconds=_ASKED * self.seconds, model_calls=_ASKED))
        answer, _ = await asker.decide("judge", [await instructions("judge"), message], JudgementsAnswer, complaint)
        if answer is None:
            raise InvalidDecisionError("the model gave no judgements that can be used")
        by_number = {one.number: one for one in answer.judgements}
        return [_judgement(by_number[number]) for number in range(1, len(tools) + 1)]


def _judgement(one: NumberedJudgement) -> Judgement:
    reason = clean(one.reason, _REASON)
    if one.speaks_to_model:
        return Judgement(keep=False, reasons=(f"it speaks to the model that reads it: {reason}",))
    return Judgement(one.keep, (reason,) if reason else ())
