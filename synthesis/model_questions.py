"""Template questions that a language model writes, with one call for each combination (SoAy, section 5.2)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from agent.llm.client.chat import ChatModel
from agent.llm.prompts import PromptFence, load_instructions
from agent.llm.structured_output import ModelAllowance, ModelPrompter
from agent.plans.request_words import find_placeholders
from agent.text import clean_text
from synthesis.intent_program import IntentProgram
from synthesis.intents import QueryPath

_MAX_QUESTIONS = 4
_MAX_LENGTH = 300
_MAX_DESCRIPTION = 200
_ALLOWANCE = ModelAllowance(seconds=300.0, model_calls=2)


class ProgramQuestions(BaseModel):
    """The questions of one program, by its number in the message."""

    number: int
    questions: list[str]


class QuestionsAnswer(BaseModel):
    """The model's answer to ``agent/prompts/questions.md``."""

    programs: list[ProgramQuestions]


@dataclass(frozen=True, slots=True)
class ModelQuestionWriter:
    """Writes template questions with a language model."""

    model: ChatModel
    language: str = ""
    """Name of the language of the questions; empty for the language of the documents."""

    async def write_questions(
        self, query_path: QueryPath, programs_with_questions: Sequence[tuple[IntentProgram, tuple[str, ...]]]
    ) -> list[tuple[str, ...]]:
        """Return the model's usable questions for each program; none where it has none.

        Raises:
            ModelUnavailableError: the model gives no answer.
        """
        numbered = {number: item for number, item in enumerate(programs_with_questions, start=1) if item[0].text}
        if not numbered:
            return [() for _ in programs_with_questions]
        fence = PromptFence()
        tools = "\n".join(
            f"{tool.api}: {clean_text(tool.description, _MAX_DESCRIPTION)}" for tool in query_path.walk.tools
        )
        program_texts = "\n\n".join(_render_program(number, code, own) for number, (code, own) in numbered.items())
        message = fence.build_message(
            fence.render_block("functions", tools),
            fence.render_block("programs", program_texts),
            f"Language: {self.language or 'that of the functions descriptions'}.",
        )
        input_names = {number: {item.name for item in code.inputs} for number, (code, _) in numbered.items()}

        def find_complaint(answer: QuestionsAnswer) -> str:
            usable = any(
                _is_usable(input_names.get(program_questions.number), question)
                for program_questions in answer.programs
                for question in program_questions.questions
            )
            return "" if usable else "no question holds the names of its program's inputs in braces, each once."

        answer, _ = await ModelPrompter(self.model, _ALLOWANCE).decide(
            "questions", [await load_instructions("questions"), message], QuestionsAnswer, find_complaint
        )
        questions_by_number = {item.number: item.questions for item in answer.programs} if answer is not None else {}
        return [
            tuple(
                question
                for question in questions_by_number.get(number, ())
                if _is_usable(input_names.get(number), question)
            )[:_MAX_QUESTIONS]
            for number in range(1, len(programs_with_questions) + 1)
        ]


def _is_usable(input_names: set[str] | None, question: str) -> bool:
    """Return whether a question names every input of its program once, and has no other braces."""
    if input_names is None or len(question) > _MAX_LENGTH or clean_text(question, _MAX_LENGTH) != question:
        return False
    occurrences = Counter(name for name in find_placeholders(question) for _ in range(question.count(f"{{{name}}}")))
    return (
        set(occurrences) == input_names
        and all(count == 1 for count in occurrences.values())
        and question.count("{") == len(input_names)
    )


def _render_program(number: int, program: IntentProgram, questions: Sequence[str]) -> str:
    inputs = ", ".join(
        f"{program_input.name} ({clean_text(program_input.parameter.description, 80) or program_input.parameter.name})"
        for program_input in program.inputs
    )
    return f"{number}. {questions[0] if questions else ''}\nInputs: {inputs or 'none'}\n{program.text}"
