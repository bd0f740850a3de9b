"""The policy that asks a language model: prompts from files, typed answers, each checked before it counts."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from pydantic import BaseModel

from agent.llm import path_judgements, subtasks
from agent.llm.answer_text import ShownAnswer, render_phrase_prompt, select_wording
from agent.llm.arguments import ArgumentsAnswer, check_arguments, to_call_arguments
from agent.llm.client.chat import ChatMessage, ChatModel, ModelReply
from agent.llm.moves import (
    ChoiceAnswer,
    PathAnswer,
    check_move,
    check_path,
    number_candidates,
    to_next_move,
    to_whole_path,
)
from agent.llm.path_judgements import (
    AdoptionAnswer,
    ReflectionAnswer,
    ScoresAnswer,
    check_scores,
    render_adoption_prompt,
    render_reflection_prompt,
    render_score_prompt,
    to_reflection,
)
from agent.llm.program_authoring import SentenceAuthor, build_program_messages
from agent.llm.program_reply import extract_program
from agent.llm.prompts import PromptFence, load_instructions
from agent.llm.rendering import (
    render_answer_prompt,
    render_arguments_prompt,
    render_fields_prompt,
    render_move_prompt,
    render_path_prompt,
    render_split_prompt,
)
from agent.llm.solutions import (
    FillAnswer,
    SolutionAnswer,
    check_fill,
    check_solution_choice,
    render_fill_prompt,
    render_solutions_prompt,
    to_chosen_solution,
    to_filled,
)
from agent.llm.structured_output import ModelAccount, ModelAllowance, ModelPrompter, TokenPrices
from agent.llm.subtasks import CategorizedAnswer, DecomposeAnswer
from agent.policy.decider import Decider
from agent.policy.protocol import (
    AdoptionQuestion,
    ArgumentsQuestion,
    CallArguments,
    DecomposeQuestion,
    Decomposition,
    FieldsQuestion,
    MoveQuestion,
    NextMove,
    PathAdoption,
    PathQuestion,
    PhraseQuestion,
    PolicyNotice,
    Reflection,
    ReflectionQuestion,
    ScoreQuestion,
    UnservedQuestion,
    WholePath,
    build_single_subtask,
)
from agent.programs.program_types import ProgramForm, ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, SolutionQuestion
from agent.text import clean_text, format_tool_title
from domain.errors import InvalidDecisionError
from domain.plan import StepResult
from domain.tool import ToolDoc

_CITED = re.compile(r"\[(\d{1,3})\]")
_MAX_FIELDS = 60
"""Most fields of a response that are selected."""
_MAX_ECHO_CHARS = 2_000
"""Characters of a reply without a program that are repeated to the model."""
_NO_PROGRAM = "There is no program in that. Answer with one short ```python block; where nothing can be done, its last line says so."


class FieldsAnswer(BaseModel):
    """The model's answer (``agent/prompts/fields_to_keep.md``)."""

    numbers: list[int]


class LlmPolicy(Decider):
    """Policy of one run that asks a language model.

    Every method that asks may raise ``ModelUnavailableError`` and ``BudgetExceededError``; the caller then lets another
    policy decide.

    Args:
        model: the model that is asked.
        allowance: limits of its use.
        can_write_programs: the model writes programs.
        form: it writes them as code, or as sentences of a grammar.
        account: cost account, if it is shared with other policies of the run.
        prices: prices of tokens, if the cost in money is wanted.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        allowance: ModelAllowance | None = None,
        *,
        writes: bool = True,
        form: ProgramForm = "code",
        account: ModelAccount | None = None,
        prices: TokenPrices | None = None,
    ) -> None:
        self.can_write_programs = writes
        self._prompter = ModelPrompter(model, allowance or ModelAllowance(), account=account, prices=prices)
        self._fence = PromptFence()
        self._sentences = SentenceAuthor(self._prompter, self._fence) if form == "grammar" else None
        self.cost = self._prompter.cost
        self.notices: list[PolicyNotice] = []

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """Return the model's subtasks; the request is not split if it gives no valid ones."""
        prompt = self._fence.build_message(*render_split_prompt(question, self._fence))
        parts = ("decompose", "decompose_categories") if question.categories else ("decompose",)
        form = CategorizedAnswer if question.categories else DecomposeAnswer
        messages = [await load_instructions(*parts), prompt]
        answer, _ = await self._prompter.decide(
            "decompose", messages, form, lambda a: subtasks.check_subtasks(a, question)
        )
        if answer is None:
            return build_single_subtask(question.request, "the model gave no valid split")
        return subtasks.to_decomposition(answer, question)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """Return the model's judgement; without a valid one, the outcome of the planning is accepted."""
        prompt = self._fence.build_message(*render_reflection_prompt(question, self._fence))
        messages = [await load_instructions("reflect"), prompt]
        answer, _ = await self._prompter.decide(
            "reflect", messages, ReflectionAnswer, lambda a: path_judgements.check_reflection(a, question)
        )
        return to_reflection(answer, question)

    async def choose(self, situation: MoveQuestion) -> NextMove:
        """Return the model's move, with several steps if it names them.

        A move that is not on offer is returned to the model once, and then counts as a dead end.
        """
        numbered, at_start = number_candidates(situation), not situation.path
        if not numbered and at_start:
            return NextMove("give_up", "there is no tool to start with")
        purpose = "choose" if situation.results is None else "choose_by_result"
        one_step = ("choose_one_step",) if purpose == "choose" and not situation.allows_several else ()
        prompt = self._fence.build_message(*render_move_prompt(situation, numbered, self._fence))
        messages = [await load_instructions(purpose, *one_step), prompt]
        answer, _ = await self._prompter.decide(
            purpose, messages, ChoiceAnswer, lambda a: check_move(a, numbered, at_start=at_start)
        )
        return to_next_move(answer, numbered, at_start=at_start)

    async def plan_path(self, question: PathQuestion) -> WholePath:
        """Return the model's path; empty if it twice names no tool that is on offer."""
        if not question.candidates:
            return WholePath((), "there is no tool to choose from")
        purpose = "whole_path_reasoned" if question.with_reasons else "whole_path_basic"
        prompt = self._fence.build_message(*render_path_prompt(question, self._fence))
        messages = [await load_instructions("whole_path", purpose), prompt]
        answer, last = await self._prompter.decide(purpose, messages, PathAnswer, lambda a: check_path(a, question))
        return to_whole_path(answer or last, question)

    async def adopt(self, proposal: AdoptionQuestion) -> PathAdoption:
        """Return the model's decision on a remembered path; without a valid one, it is not taken."""
        messages = [
            await load_instructions("adopt"),
            self._fence.build_message(*render_adoption_prompt(proposal, self._fence)),
        ]
        answer, _ = await self._prompter.decide("adopt", messages, AdoptionAnswer, lambda _: "")
        if answer is None:
            return PathAdoption(adopted=False, reason="the model gave no valid word on it")
        return PathAdoption(adopted=answer.adopted, reason=clean_text(answer.reason, 300) or "no reason given")

    async def fill(self, question: FillQuestion) -> FilledSolution:
        """Return the model's decision on a solution; it does not fit if no answer can be used."""
        messages = [
            await load_instructions("fill"),
            self._fence.build_message(*render_fill_prompt(question, self._fence)),
        ]
        answer, _ = await self._prompter.decide("fill", messages, FillAnswer, lambda a: check_fill(a, question))
        return to_filled(answer, question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """Return the model's choice; none if no answer can be used."""
        prompt = self._fence.build_message(*render_solutions_prompt(question, self._fence))
        messages = [await load_instructions("choose_solution"), prompt]
        answer, _ = await self._prompter.decide(
            "choose_solution", messages, SolutionAnswer, lambda a: check_solution_choice(a, question)
        )
        return to_chosen_solution(answer)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Return the program in the model's reply, or the program that its grammar sentence compiles to.

        If a reply holds no program and was not cut off, the model is asked once more.
        """
        if self._sentences:
            return await self._sentences.write(question)
        messages = build_program_messages(question, await load_instructions("program"), self._fence)
        written = WrittenProgram("")
        for _ in range(2):
            reply = await self._prompter.complete("program", messages)
            written = extract_program(reply)
            if written.text or reply.cut:
                break
            messages += [
                ChatMessage("assistant", reply.text[:_MAX_ECHO_CHARS] or "…"),
                ChatMessage("user", _NO_PROGRAM),
            ]
        return written

    async def phrase(self, question: PhraseQuestion) -> str:
        """Return the model's words if they hold no figure that neither the answer nor the request has."""
        prompt = self._fence.build_message(*render_phrase_prompt(question.request, question.answer, self._fence))
        reply = await self._prompter.complete("phrase", [await load_instructions("phrase"), prompt])
        return select_wording(reply, question.request, question.answer)

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """Return the model's scores.

        Raises:
            InvalidDecisionError: it twice gave none that can be used.
        """
        messages = [
            await load_instructions("score"),
            self._fence.build_message(*render_score_prompt(question, self._fence)),
        ]
        answer, _ = await self._prompter.decide("score", messages, ScoresAnswer, lambda a: check_scores(a, question))
        if answer is None:
            raise InvalidDecisionError("the model gave no scores that can be used")
        return tuple(answer.scores)

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        """Return the model's values, those of earlier steps as they stand there.

        Values that it twice fails to give are missing.
        """
        if not question.tool.parameters:
            return CallArguments({}, ())
        prompt = self._fence.build_message(*render_arguments_prompt(question, self._fence))
        messages = [await load_instructions("arguments"), prompt]
        _, last = await self._prompter.decide(
            "arguments", messages, ArgumentsAnswer, lambda a: check_arguments(a, question)
        )
        return to_call_arguments(last, question)

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:  # noqa: ARG002  the protocol's
        """Return nothing: the model has said what is unserved when it finished the path."""
        return ()

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """Return the fields whose numbers the model gives.

        Raises:
            InvalidDecisionError: it gives no number of a field.
        """

        def check_numbers(answer: FieldsAnswer) -> str:
            names_a_field = any(1 <= number <= len(question.fields) for number in answer.numbers)
            return (
                ""
                if names_a_field
                else f"the fields are numbered from 1 to {len(question.fields)}; name those to keep."
            )

        prompt = self._fence.build_message(*render_fields_prompt(question, self._fence))
        messages = [await load_instructions("fields_to_keep"), prompt]
        answer, _ = await self._prompter.decide("fields_to_keep", messages, FieldsAnswer, check_numbers)
        if answer is None:
            raise InvalidDecisionError("the model named no field to keep")
        numbers = [number for number in dict.fromkeys(answer.numbers) if 1 <= number <= len(question.fields)]
        return tuple(question.fields[number - 1] for number in numbers[:_MAX_FIELDS])

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream the model's words, then the calls that they cite, or all successful calls if none is cited.

        Raises:
            InvalidDecisionError: there are no words.
            ModelUnavailableError: the model failed, possibly after some words.
        """
        prompt = self._fence.build_message(*render_answer_prompt(request, steps, self._fence))
        messages, shown_answer = [await load_instructions("answer"), prompt], ShownAnswer()
        async with aclosing(cast("Any", self._prompter.stream("answer", messages))) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelReply):
                    yield shown_answer.finish(cut=piece.cut) + _render_citations(shown_answer.text, steps)
                elif text := shown_answer.add(piece):
                    yield text
                    if shown_answer.is_full:
                        yield shown_answer.finish(cut=True) + _render_citations(shown_answer.text, steps)
                        return


def _render_citations(text: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> str:
    """Render the names of the calls that an answer rests on."""
    succeeded = [number for number, (_, result) in enumerate(steps, start=1) if result.status == "ok"]
    cited = {int(number) for number in _CITED.findall(text)}
    numbers = [number for number in succeeded if number in cited] or succeeded
    return (
        f"Based on: {', '.join(f'[{number}] {format_tool_title(steps[number - 1][0])}' for number in numbers)}\n"
        if numbers
        else ""
    )
