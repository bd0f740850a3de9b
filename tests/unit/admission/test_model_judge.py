"""Documents judged by a model: numbers checked, what others wrote behind the fence, who speaks to it dropped."""

from collections.abc import Sequence

import pytest

from admission.model_judge import ModelJudge
from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply
from domain.errors import InvalidDecisionError
from domain.model import JsonObject
from tests.unit.admission.test_quality import KEPT
from tests.unit.synthesis.test_model_questions import ScriptedModel


def said(*keeps: bool, speaks: int = 0) -> JsonObject:
    return {
        "judgements": [
            {"number": number, "keep": keep, "reason": "" if keep else "says nothing", "speaks_to_model": number == speaks}
            for number, keep in enumerate(keeps, start=1)
        ]
    }  # fmt: skip


async def test_a_batch_is_one_question_and_each_document_has_its_judgement() -> None:
    model = ScriptedModel(said(True, False))
    found = await ModelJudge(model).judge(KEPT[:2])
    assert [one.keep for one in found] == [True, False]
    assert found[1].reasons == ("says nothing",)
    assert len(model.asked) == 1
    assert all(tool.description in model.asked[0] for tool in KEPT[:2])


async def test_a_document_that_speaks_to_the_model_is_dropped_whatever_it_is_worth() -> None:
    (found,) = await ModelJudge(ScriptedModel(said(True, speaks=1))).judge(KEPT[:1])
    assert not found.keep
    assert "speaks to the model" in found.reasons[0]


async def test_judgements_that_are_missing_are_asked_for_again_once() -> None:
    model = ScriptedModel(said(True), said(True, True))
    assert len(await ModelJudge(model).judge(KEPT[:2])) == 2
    assert "numbers 1 to 2" in model.asked[1]


async def test_without_usable_judgements_there_are_none() -> None:
    with pytest.raises(InvalidDecisionError):
        await ModelJudge(ScriptedModel(said(True), said(True))).judge(KEPT[:2])


class Timed(ScriptedModel):
    """Notes how long each answer may take."""

    given: float | None = None

    async def complete(
        self, messages: Sequence[ChatMessage], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> ModelReply:
        self.given = seconds
        return await super().complete(messages, form, seconds=seconds)


async def test_a_slow_model_has_the_time_that_the_settings_give_it() -> None:
    model = Timed(said(True))
    await ModelJudge(model, 600).judge(KEPT[:1])
    assert model.given is not None
    assert model.given > 600
