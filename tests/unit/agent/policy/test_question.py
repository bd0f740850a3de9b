"""Each kind of question finds the method that answers it; what a policy has no method for it hands on."""

from typing import Any, TypeVar, cast

import pytest

from agent.llm.policy import LlmPolicy
from agent.policy.decider import Decider, PolicyQuestion
from agent.policy.delegating_policy import DelegatingPolicy, PolicyByPurpose
from agent.policy.protocol import DecomposeQuestion, FieldsQuestion, MoveQuestion, NextMove, PhraseQuestion
from agent.programs.program_types import ProgramQuestion
from agent.programs.signatures import OfferText
from offline.policy import OfflinePolicy
from tests.support.policy_contract import FOUND, situation
from tests.support.small_world import GEOCODE
from tests.unit.agent.policy.test_fallback import Scripted

T = TypeVar("T")
ENTRIES = {"decide", "delegate"}
METHODS = {name for name in vars(Decider) if not name.startswith("_")} - ENTRIES
KINDS = {kind.__name__: kind for kind in cast("list[type[PolicyQuestion[Any]]]", PolicyQuestion.__subclasses__())}


class Noting(Decider):
    """Has no method of its own; ``asked``: what was handed on."""

    def __init__(self) -> None:
        self.asked: list[PolicyQuestion[Any]] = []

    async def delegate(self, question: PolicyQuestion[T]) -> T:
        self.asked.append(question)
        return cast("T", None)


class Advancing(DelegatingPolicy):
    """Chooses by itself."""

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return NextMove("advance", "its own", 0)


@pytest.mark.parametrize("policy", [LlmPolicy, OfflinePolicy])
def test_who_decides_everything_has_a_method_for_each_kind(policy: type[Decider]) -> None:
    assert vars(policy).keys() >= METHODS


def test_there_is_one_method_for_each_kind() -> None:
    assert len(KINDS) == len(METHODS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_question_is_handed_on_as_it_is_and_is_an_error_where_nobody_answers(
    kind: type[PolicyQuestion[Any]],
) -> None:
    question, noting = object.__new__(kind), Noting()
    await noting.decide(question)
    assert [id(one) for one in noting.asked] == [id(question)]
    with pytest.raises(NotImplementedError, match=f"Decider has no method that answers a {kind.__name__}"):
        await Decider().decide(question)


async def test_a_policy_over_another_answers_its_own_kinds_and_hands_on_the_others() -> None:
    policy = Advancing(Scripted("other"))
    assert (await policy.decide(situation())).reason == "its own"
    assert await policy.decide(PhraseQuestion("How long is Dune?", "412")) == "other"


async def test_each_model_is_asked_for_its_purpose() -> None:
    parts = [Scripted(name) for name in ("decisions", "programs", "answers", "responses")]
    policy = PolicyByPurpose(*parts)
    assert (await policy.decide(situation())).reason == "decisions"
    assert (await policy.decide(ProgramQuestion("x", OfferText("", (), 0), "2026-11-23"))).text == '"programs"'
    assert await policy.decide(PhraseQuestion("x", "y")) == "answers"
    others: list[PolicyQuestion[Any]] = [FieldsQuestion(GEOCODE, FOUND, ("a",)), DecomposeQuestion("x")]
    for question in others:
        with pytest.raises(NotImplementedError, match=type(question).__name__):
            await policy.decide(question)
    assert [part.asked for part in parts] == [2, 1, 1, 1]
