"""Calls whose outcome nobody knows: asked about once, and made again only where their user says that nothing happened, or it is harmless."""

import asyncio
from collections.abc import Sequence

import pytest

from agent.budget import Budget, BudgetMeter
from agent.execution.approval import ApprovedExecutor
from agent.execution.call_cache import CONFIRMED_BY_USER_NOTE
from agent.execution.executor import CallResult
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.policy.protocol import PolicyCost
from domain.errors import ForbiddenAddressError, NotAllowedError, StoreBusyError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.tool import ToolDoc, make_tool_id
from server.runs.approvals import UserApprover
from server.runs.call_layers import LedgerExecutor, UnknownOutcomeExecutor, build_ledger_key
from server.runs.questions import DurableQuestions, QuestionChannel
from server.storage.permissions import get_call_target
from server.storage.run_records import NewEffect
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.support.row_samples import run, user
from tests.support.small_world import BOOKS, REMOVE

ORDER = REMOVE.model_copy(update={"id": make_tool_id("Books", "Books Set", "order_book"), "method": "POST"})
KEYED = ORDER.model_copy(update={"idempotency_header": "Idempotency-Key"})
DUNE: JsonObject = {"title": "Dune"}
DONE = CallResult("ok", "[1]", 200)
REFUSED = CallResult("caller_fault", "", 409, note="HTTP 409")
LOST = CallResult("unknown", "", note="the answer was lost")
Outcome = CallResult | BaseException
CUT = asyncio.CancelledError()


class World:
    """A run that is taken up again and again; each life has its outcomes in order. ``made``: how many calls were sent."""

    name = "scripted"

    def __init__(self, storage: Storage, of: Run) -> None:
        self.storage = storage
        self.run = of
        self.made = 0
        self.asked: list[InputNeeded] = []
        self._outcomes: list[Outcome] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.made += 1
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def close(self) -> None:
        return

    async def lives(self, outcomes: Sequence[Outcome], tool: ToolDoc = ORDER) -> CallResult | None:
        """What the run gets of its call; None where it was cut off, or is put down to wait."""
        self._outcomes = list(outcomes)
        waits = asyncio.Event()

        def waiting(question: InputNeeded) -> None:
            self.asked.append(question)
            waits.set()

        async def told() -> None:
            return

        ledger = LedgerExecutor(self, self.storage.effects, self.run.id)
        questions = DurableQuestions(self.storage, self.run, QuestionChannel(told, waiting))
        executor = ApprovedExecutor(
            UnknownOutcomeExecutor(ledger, questions),
            UserApprover(questions),
            ProvenanceTracker(RunStatements(user_messages=["Remove Dune"])),
            BudgetMeter(Budget(), PolicyCost()),
        )
        call = asyncio.create_task(executor.call(tool, DUNE))
        put_down = asyncio.create_task(waits.wait())
        await asyncio.wait((call, put_down), return_when=asyncio.FIRST_COMPLETED)
        cut_off = not call.done() or call.cancelled()
        call.cancel()
        put_down.cancel()
        await asyncio.gather(call, put_down, return_exceptions=True)
        assert not self._outcomes
        return None if cut_off else call.result()

    async def decide(self, decision: str) -> None:
        (question,) = await self.storage.run_questions.list_all(self.run.id, open_only=True)
        assert (question.key, question.kind) == (self.asked[-1].input, "unknown_outcome")
        await self.storage.run_questions.answer(self.run.id, question.key, self.run.user_id, {"decision": decision})


@pytest.fixture
async def world(storage: Storage) -> World:
    ada = await user(storage)
    for tool in (ORDER, REMOVE):
        await storage.allowed_tools.allow(ada.id, tool.id, get_call_target(tool))
    return World(storage, (await run(storage, ada))[0])


async def test_what_happened_counts_as_made(world: World) -> None:
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    assert (world.asked[0].tool, world.asked[0].arguments) == (ORDER.id, DUNE)
    await world.decide("happened")
    for _ in range(2):
        assert await world.lives([]) == CallResult("ok", "", note=CONFIRMED_BY_USER_NOTE)
    assert (world.made, len(world.asked)) == (1, 1)


async def test_what_is_left_stays_unknown(world: World) -> None:
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    await world.decide("leave")
    left = await world.lives([])
    assert left is not None
    assert left.outcome == "unknown"
    assert (world.made, len(world.asked)) == (1, 1)


@pytest.mark.parametrize("second", [DONE, REFUSED])
async def test_what_did_not_happen_is_made_again_once(world: World, second: CallResult) -> None:
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    await world.decide("did_not_happen")
    assert await world.lives([second]) == second
    assert await world.lives([]) == second
    assert (world.made, len(world.asked)) == (2, 1)
    assert len(await world.storage.effects.list_all(world.run.id)) == 2


async def test_a_passing_fault_before_a_repetition_breaks_the_run_off_and_the_next_life_makes_it(world: World) -> None:
    assert await world.lives([CUT], REMOVE) is None
    with pytest.raises(StoreBusyError):
        await world.lives([StoreBusyError("the keys cannot be read just now")], REMOVE)
    assert await world.lives([DONE], REMOVE) == DONE
    assert (world.made, world.asked) == (3, [])


async def test_a_second_cut_asks_again_and_repeats_nothing(world: World) -> None:
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    await world.decide("did_not_happen")
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    assert world.made == 2
    assert len({one.input for one in world.asked}) == 2
    await world.decide("did_not_happen")
    assert await world.lives([DONE]) == DONE
    assert world.made == 3


async def test_an_answer_that_was_lost_is_asked_about_at_once(world: World) -> None:
    assert await world.lives([LOST]) is None
    assert "the answer was lost" in world.asked[0].reason
    assert await world.lives([]) is None
    assert world.asked[0].input == world.asked[1].input
    await world.decide("did_not_happen")
    assert await world.lives([LOST]) is None
    await world.decide("happened")
    assert await world.lives([]) == CallResult("ok", "", note=CONFIRMED_BY_USER_NOTE)
    assert world.made == 2


async def test_what_is_harmless_twice_is_repeated_unasked(world: World) -> None:
    assert await world.lives([CUT], REMOVE) is None
    assert await world.lives([CUT], REMOVE) is None
    assert await world.lives([DONE], REMOVE) == DONE
    assert await world.lives([], REMOVE) == DONE
    assert (world.made, world.asked) == (3, [])


@pytest.mark.parametrize("second", [REFUSED, ForbiddenAddressError("not there")])
async def test_a_repetition_that_fails_does_not_tell_what_the_first_did(world: World, second: Outcome) -> None:
    assert await world.lives([CUT], REMOVE) is None
    assert await world.lives([second], REMOVE) is None
    assert "cut off" in world.asked[0].reason
    await world.decide("leave")
    left = await world.lives([], REMOVE)
    assert left is not None
    assert left.outcome == "unknown"
    assert world.made == 2


async def test_a_repetition_that_the_server_tells_by_a_key_is_asked_about(world: World) -> None:
    """The key is made anew by each process."""
    assert await world.lives([CUT], KEYED) is None
    assert await world.lives([], KEYED) is None
    assert (world.made, len(world.asked)) == (1, 1)


async def test_what_was_never_sent_and_what_changes_nothing_is_not_asked_about(world: World) -> None:
    with pytest.raises(ForbiddenAddressError):
        await world.lives([ForbiddenAddressError("not there")])
    assert await world.lives([LOST], BOOKS) == LOST
    assert world.asked == []


@pytest.mark.parametrize("moved", [{"url": "http://127.0.0.2/books"}, {"method": "PUT"}])
async def test_what_has_moved_is_not_repeated_there(world: World, moved: dict[str, str]) -> None:
    """Neither unasked, where a repetition is harmless, nor after its user said that nothing happened."""
    assert await world.lives([CUT], REMOVE) is None
    with pytest.raises(NotAllowedError, match="not called again"):
        await world.lives([], REMOVE.model_copy(update=moved))
    assert await world.lives([CUT]) is None
    assert await world.lives([]) is None
    await world.decide("did_not_happen")
    with pytest.raises(NotAllowedError, match="not called again"):
        await world.lives([], ORDER.model_copy(update=moved))
    assert world.made == 2
    assert await world.lives([DONE]) == DONE
    assert await world.lives([], ORDER.model_copy(update=moved)) == DONE


async def test_what_was_begun_before_places_were_kept_is_not_repeated(world: World) -> None:
    begun = NewEffect(
        run_id=world.run.id,
        call_key=build_ledger_key(REMOVE.id, DUNE),
        tool=REMOVE.id,
        method=REMOVE.method,
        idempotent=True,
        arguments=DUNE,
    )
    await world.storage.effects.begin(begun)
    with pytest.raises(NotAllowedError, match="not called again"):
        await world.lives([], REMOVE)
    assert world.made == 0
