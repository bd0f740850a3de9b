"""The policy that asks a model writes programs and phrases answers, and the one that stands in for it does not."""

import pytest

from agent.llm.client.chat import ModelReply, ModelTokenUsage
from agent.llm.policy import LlmPolicy
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.policy.protocol import PhraseQuestion
from agent.programs.program_types import ProgramQuestion, WrittenProgram
from agent.programs.signatures import render_offer
from offline.policy import OfflinePolicy
from tests.support.small_world import BOOKS
from tests.unit.agent.llm.test_policy import Told
from tests.unit.agent.policy.test_fallback import BUSY, KEY, SPENT, made

QUESTION = ProgramQuestion("Who wrote Dune?", render_offer([BOOKS]), "2026-11-23")
CODE = 'found = await search_books(title="Dune")'
ANSWER = "Dune has 412 pages; it costs 9.50 EUR."


async def test_a_program_costs_one_call_without_a_form() -> None:
    model = Told(f"```python\n{CODE}\n```")
    policy = LlmPolicy(model)
    assert await policy.decide(QUESTION) == WrittenProgram(CODE)
    assert policy.cost.by_purpose == {"program": 1}
    assert model.forms == [None]


async def test_a_reply_without_a_program_is_told_back_once() -> None:
    model = Told("I would search for it.", f"```python\n{CODE}\n```")
    assert await LlmPolicy(model).decide(QUESTION) == WrittenProgram(CODE)
    assert [m.role for m in model.heard[1]] == ["system", "user", "assistant", "user"]


async def test_what_is_said_in_place_of_a_program_twice_is_why() -> None:
    assert await LlmPolicy(Told("No.", "I cannot do that.")).decide(QUESTION) == WrittenProgram("", "I cannot do that.")


async def test_a_reply_that_was_cut_off_is_not_asked_for_again() -> None:
    policy = LlmPolicy(Told(ModelReply("```python\nx = 1", ModelTokenUsage(1, 1), cut=True), f"```python\n{CODE}\n```"))
    assert "FOOTPATH_MODEL_MAX_TOKENS" in (await policy.decide(QUESTION)).why
    assert policy.cost.model_calls == 1


async def test_who_writes() -> None:
    assert LlmPolicy(Told()).can_write_programs
    assert not LlmPolicy(Told(), writes=False).can_write_programs
    assert OfflinePolicy().can_write_programs
    assert (await OfflinePolicy().decide(QUESTION)).why
    assert DelegatingPolicy(LlmPolicy(Told())).can_write_programs
    assert FallbackPolicy(LlmPolicy(Told()), OfflinePolicy(), CircuitBreaker()).can_write_programs


async def test_a_model_that_fails_writes_no_more_in_this_run_and_that_is_told() -> None:
    policy, first = made(BUSY)
    written = await policy.decide(QUESTION)
    assert written == WrittenProgram("", "no program was written: it is busy")
    assert not policy.can_write_programs
    assert [(n.old_policy, n.new_policy, n.reason) for n in policy.notices] == [("llm", "offline", "it is busy")]
    await policy.decide(QUESTION)
    assert first.asked == 2
    assert not policy.can_write_programs


async def test_a_spent_budget_and_an_endpoint_left_alone_are_why() -> None:
    policy, first = made(SPENT)
    assert (await policy.decide(QUESTION)).why.endswith("no calls left")
    assert not policy.can_write_programs
    assert first.asked == 1
    breaker = CircuitBreaker()
    breaker.record_failure(str(KEY), opens_now=True)
    other, asked = made(breaker=breaker)
    assert "left alone for a while: wrong key" in (await other.decide(QUESTION)).why
    assert asked.asked == 0


@pytest.mark.parametrize(
    ("said", "phrased"),
    [
        ("Dune a 412 pages et coûte 9,50 EUR.", "Dune a 412 pages et coûte 9,50 EUR."),
        ("<think>413?</think>412 pages, for 9.5 EUR.", "412 pages, for 9.5 EUR."),
        ("Dune has 413 pages.", ANSWER),
        ("   ", ANSWER),
        ("<think>where was I", ANSWER),
        (ModelReply("Dune has 412", ModelTokenUsage(1, 1), cut=True), ANSWER),
        ("It has 412 pages.", ANSWER),
    ],
    ids=["words", "thoughts", "a figure of its own", "nothing", "thoughts alone", "cut off", "a figure left out"],
)
async def test_a_phrase_keeps_to_the_figures(said: str | ModelReply, phrased: str) -> None:
    assert await LlmPolicy(Told(said)).decide(PhraseQuestion("How long is Dune?", ANSWER)) == phrased


@pytest.mark.parametrize(
    ("answer", "said", "kept"),
    [
        ("1.5", "15", False),
        ("1.234", "1234", False),
        ("1234.5", "1.234,5", True),
        ("1234", "1\u202f234", True),
        ("1,234", "1234", True),
        ("007", "7", True),
        ("2026-05-04", "4 May 2026", True),
        ("2026-05-04", "am 04.05.2026", True),
        ("2026-05-04", "2026-04-05", False),
        ("2026-05-04", "5 April 2026", False),
        ("2026-05-04T12:00:00", "4 May 2026, 12:00", True),
        ("2026-05-04T12:30:00", "4 May 2026, 12:00", False),
        ("Nothing was found.", "There is none.", True),
    ],
)
async def test_figures_of_a_phrase_are_compared_as_numbers_and_days(answer: str, said: str, *, kept: bool) -> None:
    assert await LlmPolicy(Told(said)).decide(PhraseQuestion("Which?", answer)) == (said if kept else answer)


async def test_without_a_model_an_answer_stays_as_it_is() -> None:
    assert await OfflinePolicy().decide(PhraseQuestion("How long is Dune?", ANSWER)) == ANSWER
    policy, _ = made(BUSY)
    assert await policy.decide(PhraseQuestion("How long is Dune?", ANSWER)) == "offline"
