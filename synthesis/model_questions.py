"""Template questions written by a language model, in any language (SoAy, section 5.2): one call a combination."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from agent.llm.client.chat import ChatModel
from agent.llm.prompts import Fence, instructions
from agent.llm.structured_output import Allowance, Asker
from agent.plans.request_template import named_in
from agent.text import clean
from synthesis.intents import Course
from synthesis.sentences import Written

_MOST = 4
_LONGEST = 300
_DESCRIPTION = 200
_ALLOWANCE = Allowance(seconds=300.0, model_calls=2)


class ProgramQuestions(BaseModel):
    """The questions of one program, by its number in the message."""

    number: int
    questions: list[str]


class QuestionsAnswer(BaseModel):
    """The model's answer to ``agent/prompts/questions.md``."""

    programs: list[ProgramQuestions]


@dataclass(frozen=True, slots=True)
class ModelQuestions:
    """Writes template questions with a language model."""

    model: ChatModel
    language: str = ""
    """Name of the language of the questions; empty for the language of the documents."""

    async def asked(self, course: Course, plain: Sequence[tuple[Written, tuple[str, ...]]]) -> list[tuple[str, ...]]:
        """Return the model's usable questions for each program; none where it has none.

        Raises:
            ModelUnavailableError: the model gives no answer.
        """
        numbered = {number: one for number, one in enumerate(plain, start=1) if one[0].text}
        if not numbered:
            return [() for _ in plain]
        fence = Fence()
        tools = "\n".join(f"{tool.api}: {clean(tool.description, _DESCRIPTION)}" for tool in course.walk.tools)
        programs = "\n\n".join(_shown(number, code, own) for number, (code, own) in numbered.items())
        message = fence.message(
            fence.block("functions", tools),
            fence.block("programs", programs),
            f"Language: {self.language or 'that of the functions descriptions'}.",
        )
        names = {number: {one.name for one in code.inputs} for number, (code, _) in numbered.items()}

        def complaint(answer: QuestionsAnswer) -> str:
            usable = any(_usable(names.get(one.number), each) for one in answer.programs for each in one.questions)
            return "" if usable else "no question holds the names of its program's inputs in braces, each once."

        said, _ = await Asker(self.model, _ALLOWANCE).decide(
            "questions", [await instructions("questions"), message], QuestionsAnswer, complaint
        )
        found = {one.number: one.questions for one in said.programs} if said is not None else {}
        return [
            tuple(each for each in found.get(number, ()) if _usable(names.get(number), each))[:_MOST]
            for number in range(1, len(plain) + 1)
        ]


def _usable(names: set[str] | None, question: str) -> bool:
    """Return whether a question names every input of its program once, and has no other braces."""
    if names is None or len(question) > _LONGEST or clean(question, _LONGEST) != question:
        return False
    times = Counter(name for name in named_in(question) for _ in range(question.count(f"{{{name}}}")))
    return set(times) == names and all(count == 1 for count in times.values()) and question.count("{") == len(names)


def _shown(number: int, code: Written, own: Sequence[str]) -> str:
    given = ", ".join(
        f"{one.name} ({clean(one.parameter.description, 80) or one.parameter.name})" for one in code.inputs
    )
    return f"{number}. {own[0] if own else ''}\nInputs: {given or 'none'}\n{code.text}"
