"""The policy that asks a language model: prompts from files, typed answers, each checked before it counts."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from pydantic import BaseModel

from agent.llm import path_reflection, subtasks
from agent.llm.answer_stream import Spoken
from agent.llm.arguments import ArgumentsAnswer, arguments_of, complaint_of
from agent.llm.client.chat import ChatModel, Message, Reply
from agent.llm.path_judgements import AdoptionAnswer, ScoresAnswer, adoption_text, score_text, scores_complaint
from agent.llm.path_reflection import ReflectionAnswer, reflection_of, reflection_text
from agent.llm.phrasing import phrase_text, phrased
from agent.llm.program_reply import program_of
from agent.llm.program_sentences import SentenceAuthor
from agent.llm.program_text import program_messages
from agent.llm.prompts import Fence, instructions
from agent.llm.rendering import answer_text, arguments_text, fields_text, path_text, situation_text, split_text
from agent.llm.solution_choice import SolutionAnswer, chosen_of, solution_complaint, solutions_text
from agent.llm.solution_fill import FillAnswer, fill_complaint, fill_text, filled_of
from agent.llm.steps import ChoiceAnswer, PathAnswer, choice_of, offered, path_complaint, path_of
from agent.llm.steps import complaint_of as complaint_of_move
from agent.llm.structured_output import Account, Allowance, Asker, Prices
from agent.llm.subtasks import DecomposeAnswer
from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
from agent.policy.protocol import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    FieldsQuestion,
    Notice,
    PathQuestion,
    PhraseQuestion,
    Situation,
    UnservedQuestion,
    WholePath,
)
from agent.policy.question import Decider
from agent.policy.subtasks import DecomposeQuestion, Decomposition, whole
from agent.programs.protocol import ProgramForm, ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, Filled, FillQuestion, SolutionQuestion
from agent.text import clean, title
from domain.errors import InvalidDecisionError
from domain.plan import StepResult
from domain.tool import ToolDoc

_CITED = re.compile(r"\[(\d{1,3})\]")
_FIELDS = 60
"""Most fields of a response that are selected."""
_SHOWN_BACK = 2_000
_NO_PROGRAM = "There is no program in that. Answer with one short ```python block; where nothing can be done, its last line says so."


class FieldsAnswer(BaseModel):
    """The model's answer (``agent/prompts/fields_to_keep.md``)."""

    numbers: list[int]


class LlmPolicy(Decider):
    """Policy of one run that asks a language model.

    ``account`` may be shared with other policies of the run. ``ModelUnavailableError`` and ``BudgetExceededError`` are
    raised to the caller, which has another policy decide.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        allowance: Allowance | None = None,
        *,
        writes: bool = True,
        form: ProgramForm = "code",
        account: Account | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.writes = writes
        self._ask = Asker(model, allowance or Allowance(), account=account, prices=prices)
        self._fence = Fence()
        self._sentences = SentenceAuthor(self._ask, self._fence) if form == "grammar" else None
        self.cost = self._ask.cost
        self.notices: list[Notice] = []

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """Return the model's subtasks; the request is not split if it gives no valid ones."""
        prompt = self._fence.message(*split_text(question, self._fence))
        parts = ("decompose", "decompose_categories") if question.categories else ("decompose",)
        messages = [await instructions(*parts), prompt]
        answer, _ = await self._ask.decide(
            "decompose", messages, DecomposeAnswer, lambda a: subtasks.complaint_of(a, question)
        )
        if answer is None:
            return whole(question.request, "the model gave no valid split")
        return subtasks.decomposition_of(answer, question)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """Return the model's judgement; without a valid one, the outcome of the planning is accepted."""
        prompt = self._fence.message(*reflection_text(question, self._fence))
        messages = [await instructions("reflect"), prompt]
        answer, _ = await self._ask.decide(
            "reflect", messages, ReflectionAnswer, lambda a: path_reflection.complaint_of(a, question)
        )
        return reflection_of(answer, question)

    async def choose(self, situation: Situation) -> Choice:
        """Return the model's move, with several steps if it names them.

        A move that is not on offer is returned to the model once, and then counts as a dead end.
        """
        shown, at_start = offered(situation), not situation.path
        if not shown and at_start:
            return Choice("give_up", "there is no tool to start with")
        purpose = "choose" if situation.results is None else "choose_by_result"
        one_step = ("choose_one_step",) if purpose == "choose" and not situation.several else ()
        prompt = self._fence.message(*situation_text(situation, shown, self._fence))
        messages = [await instructions(purpose, *one_step), prompt]
        answer, _ = await self._ask.decide(
            purpose, messages, ChoiceAnswer, lambda a: complaint_of_move(a, shown, at_start=at_start)
        )
        return choice_of(answer, shown, at_start=at_start)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """Return the model's path; empty if it twice names no tool that is on offer."""
        if not question.candidates:
            return WholePath((), "there is no tool to choose from")
        purpose = "whole_path_reasoned" if question.reasoned else "whole_path_basic"
        prompt = self._fence.message(*path_text(question, self._fence))
        messages = [await instructions("whole_path", purpose), prompt]
        answer, last = await self._ask.decide(purpose, messages, PathAnswer, lambda a: path_complaint(a, question))
        return path_of(answer or last, question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        """Return the model's decision on a remembered path; without a valid one, it is not taken."""
        messages = [await instructions("adopt"), self._fence.message(*adoption_text(proposal, self._fence))]
        answer, _ = await self._ask.decide("adopt", messages, AdoptionAnswer, lambda _: "")
        if answer is None:
            return Adoption(adopted=False, reason="the model gave no valid word on it")
        return Adoption(adopted=answer.adopted, reason=clean(answer.reason, 300) or "no reason given")

    async def fill(self, question: FillQuestion) -> Filled:
        """Return the model's decision on a solution; it does not fit if no answer can be used."""
        messages = [await instructions("fill"), self._fence.message(*fill_text(question, self._fence))]
        answer, _ = await self._ask.decide("fill", messages, FillAnswer, lambda a: fill_complaint(a, question))
        return filled_of(answer, question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """Return the model's choice; none if no answer can be used."""
        prompt = self._fence.message(*solutions_text(question, self._fence))
        messages = [await instructions("choose_solution"), prompt]
        answer, _ = await self._ask.decide(
            "choose_solution", messages, SolutionAnswer, lambda a: solution_complaint(a, question)
        )
        return chosen_of(answer)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Return the program in the model's reply, or the program that its grammar sentence compiles to.

        If a reply holds no program and was not cut off, the model is asked once more.
        """
        if self._sentences:
            return await self._sentences.write(question)
        messages = program_messages(question, await instructions("program"), self._fence)
        written = WrittenProgram("")
        for _ in range(2):
            reply = await self._ask.say("program", messages)
            written = program_of(reply)
            if written.text or reply.cut:
                break
            messages += [Message("assistant", reply.text[:_SHOWN_BACK] or "…"), Message("user", _NO_PROGRAM)]
        return written

    async def phrase(self, question: PhraseQuestion) -> str:
        """Return the model's words if they hold no figure that neither the answer nor the request has."""
        prompt = self._fence.message(*phrase_text(question.request, question.answer, self._fence))
        reply = await self._ask.say("phrase", [await instructions("phrase"), prompt])
        return phrased(reply, question.request, question.answer)

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """Return the model's scores.

        Raises:
            InvalidDecisionError: it twice gave none that can be used.
        """
        messages = [await instructions("score"), self._fence.message(*score_text(question, self._fence))]
        answer, _ = await self._ask.decide("score", messages, ScoresAnswer, lambda a: scores_complaint(a, question))
        if answer is None:
            raise InvalidDecisionError("the model gave no scores that can be used")
        return tuple(answer.scores)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Return the model's values, those of earlier steps as they stand there.

        Values that it twice fails to give are missing.
        """
        if not question.tool.parameters:
            return Arguments({}, ())
        prompt = self._fence.message(*arguments_text(question, self._fence))
        messages = [await instructions("arguments"), prompt]
        _, last = await self._ask.decide("arguments", messages, ArgumentsAnswer, lambda a: complaint_of(a, question))
        return arguments_of(last, question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:  # noqa: ARG002  the protocol's
        """Return nothing: the model has said what is unserved when it finished the path."""
        return ()

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """Return the fields whose numbers the model gives.

        Raises:
            InvalidDecisionError: it gives no number of a field.
        """

        def complaint(answer: FieldsAnswer) -> str:
            known = any(1 <= number <= len(question.fields) for number in answer.numbers)
            return "" if known else f"the fields are numbered from 1 to {len(question.fields)}; name those to keep."

        prompt = self._fence.message(*fields_text(question, self._fence))
        messages = [await instructions("fields_to_keep"), prompt]
        answer, _ = await self._ask.decide("fields_to_keep", messages, FieldsAnswer, complaint)
        if answer is None:
            raise InvalidDecisionError("the model named no field to keep")
        numbers = [number for number in dict.fromkeys(answer.numbers) if 1 <= number <= len(question.fields)]
        return tuple(question.fields[number - 1] for number in numbers[:_FIELDS])

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream the model's words, then the calls that they cite, or all successful calls if none is cited.

        Raises:
            InvalidDecisionError: there are no words.
            ModelUnavailableError: the model failed, possibly after some words.
        """
        prompt = self._fence.message(*answer_text(request, steps, self._fence))
        messages, spoken = [await instructions("answer"), prompt], Spoken()
        async with aclosing(cast("Any", self._ask.stream("answer", messages))) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    yield spoken.end(cut=piece.cut) + _based_on(spoken.text, steps)
                elif text := spoken.add(piece):
                    yield text
                    if spoken.full:
                        yield spoken.end(cut=True) + _based_on(spoken.text, steps)
                        return


def _based_on(text: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> str:
    """Render the names of the calls that an answer rests on."""
    good = [number for number, (_, result) in enumerate(steps, start=1) if result.status == "ok"]
    cited = {int(number) for number in _CITED.findall(text)}
    named = [number for number in good if number in cited] or good
    return f"Based on: {', '.join(f'[{n}] {title(steps[n - 1][0])}' for n in named)}\n" if named else ""
