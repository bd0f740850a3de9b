"""Questions by a model: only those are used that name what their program is given."""

import json
from collections.abc import AsyncIterator, Sequence

from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply, ModelTokenUsage
from domain.model import JsonObject
from synthesis.input_values import InputValueFinder
from synthesis.intent_program import write_program
from synthesis.intents import QueryPath, enumerate_intents
from synthesis.model_questions import ModelQuestionWriter
from synthesis.program_trial import ReadOnlyCaller
from synthesis.questions import render_questions
from synthesis.solution_builder import SolutionBuilder
from tests.unit.synthesis.library_service import TOOLS, ReadersService, sandbox
from tests.unit.synthesis.test_forging import one


class ScriptedModel:
    """A stand-in for a model: it says what it was given, one answer after the other. ``asked``: the messages of each time."""

    name = endpoint = "scripted"

    def __init__(self, *answers: JsonObject) -> None:
        self.answers = [json.dumps(answer, ensure_ascii=False) for answer in answers]
        self.asked: list[str] = []

    async def complete(
        self, messages: Sequence[ChatMessage], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> ModelReply:
        self.asked.append("\n".join(message.text for message in messages))
        return ModelReply(self.answers.pop(0), ModelTokenUsage(1, 1))

    async def stream(
        self, messages: Sequence[ChatMessage], *, seconds: float | None = None
    ) -> AsyncIterator[str | ModelReply]:
        yield await self.complete(messages, seconds=seconds)

    async def close(self) -> None:
        """Nothing is open."""


COMBINATION = one("searchPerson getPersonBooks", "name", "[].title")
CHINESE = ["{name}写了哪些书？", "列出{name}的书。", "{name}的书有哪些，{name}？", "{who}的书？"]


async def test_questions_in_another_language_that_name_every_input_once_are_used() -> None:
    model = ScriptedModel(
        {"programs": [{"number": 1, "questions": [*CHINESE]}, {"number": 99, "questions": ["{name}?"]}]}
    )
    course = QueryPath(COMBINATION)
    plain = [(code := write_program(each), render_questions(each, code.inputs)) for each in enumerate_intents(course)]
    found = await ModelQuestionWriter(model, "Chinese").write_questions(course, plain)
    assert found[0] == ("{name}写了哪些书？", "列出{name}的书。")
    assert set(found[1:]) == {()}
    assert "Language: Chinese" in model.asked[0]
    assert "What are the titles of the books of the person {name}?" in model.asked[0]


async def test_a_model_is_told_once_that_none_can_be_used_and_the_documents_words_stand() -> None:
    useless: JsonObject = {"programs": [{"number": 1, "questions": ["Which books?"]}]}
    model, reading = ScriptedModel(useless, useless), ReadOnlyCaller(ReadersService())
    forge = SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading), ModelQuestionWriter(model))
    made = await forge.build_solutions(COMBINATION)
    assert len(model.asked) == 2
    assert made.solutions[0].patterns[0] == "What are the titles of the books of the person {name}?"


async def test_the_models_questions_come_first() -> None:
    model, reading = (
        ScriptedModel({"programs": [{"number": 1, "questions": [*CHINESE]}]}),
        ReadOnlyCaller(ReadersService()),
    )
    forge = SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading), ModelQuestionWriter(model, "Chinese"))
    made = await forge.build_solutions(COMBINATION)
    assert made.solutions[0].patterns[:2] == ("{name}写了哪些书？", "列出{name}的书。")
    assert made.triplets[0].query == "Ada Byron写了哪些书？"
