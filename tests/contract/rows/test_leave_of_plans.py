"""An approved plan allows its changes where its tools were when it was approved, with values that its user saw in it, and no others."""

import asyncio

import pytest

from agent.execution.approval import IntendedCall
from agent.execution.provenance import CallProvenance
from agent.plans.plan_compilation import compile_plan
from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.provenance import Slice, Source, ValueKind, ValueOrigin
from domain.tool import ToolDoc
from server.runs.approvals import UserApprover
from server.runs.questions import DurableQuestions, QuestionChannel
from server.runs.waiting_plans import approve_plan, load_waiting_plan
from server.storage.permissions import get_call_target
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.support.row_samples import run, user
from tests.support.small_world import REMOVE

DUNE: JsonObject = {"title": "Dune"}
PLAN: JsonObject = {"steps": [{"tool": REMOVE.id, "arguments": DUNE}]}
QUESTION: JsonObject = {"plan": PLAN, "request": "remove Dune", "given": [], "made": []}

PROGRAM = compile_plan(PlanDocument.model_validate(PLAN), {REMOVE.id: REMOVE})


async def is_asked(storage: Storage, of: Run, tool: ToolDoc, *origins: ValueOrigin, unchosen: bool = False) -> bool:
    """Whether the run's user is asked before the call is made."""
    waits = asyncio.Event()

    async def told() -> None:
        return

    questions = DurableQuestions(storage, of, QuestionChannel(told, lambda _: waits.set()))
    approver = UserApprover(questions, unchosen=unchosen)

    async def made() -> None:
        async with approver.approve(
            IntendedCall(tool, DUNE, CallProvenance(origins), program_text=PROGRAM.program.text)
        ):
            return

    tasks: list[asyncio.Task[object]] = [asyncio.create_task(made()), asyncio.create_task(waits.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return waits.is_set()


@pytest.mark.parametrize(
    ("moved", "asked"), [({}, False), ({"url": "http://127.0.0.2/remove"}, True), ({"method": "PUT"}, True)]
)
async def test_it_holds_for_no_place_that_a_tool_moves_to(storage: Storage, moved: dict[str, str], asked: bool) -> None:
    ada = await user(storage)
    of, _ = await run(storage, ada)
    await storage.run_questions.ask(of.id, "plan-1", "plan", QUESTION)
    await approve_plan(storage, await load_waiting_plan(storage, of.id, ada.id), PROGRAM, [REMOVE])
    assert await is_asked(storage, of, REMOVE.model_copy(update=moved)) is asked


WRITTEN = Source(kind="constant", name="'Dune'")
TODAY = Source(kind="input", name="today")
GIVEN = Source(kind="given", name="title")
ANSWERED = Source(kind="call", name="find_books", tool=REMOVE.id)
BEFORE = Source(kind="input", name="earlier[0]", tool=REMOVE.id)


@pytest.mark.parametrize(
    ("kind", "sources", "asked"),
    [
        ("said", None, False),
        ("document", None, False),
        ("written", [WRITTEN], False),
        ("computed", [WRITTEN, TODAY, GIVEN], False),
        ("field", [WRITTEN], False),  # it stands in the text, and a response has it, too
        ("field", [ANSWERED], True),
        ("field", [BEFORE], True),
        ("field", [WRITTEN, ANSWERED], True),
        ("field", None, True),
        ("computed", [WRITTEN, ANSWERED], True),
        ("written", None, True),
        ("prose", [WRITTEN], True),
        ("others", [WRITTEN], True),
    ],
)
async def test_it_holds_for_values_that_its_user_saw(
    storage: Storage, kind: ValueKind, sources: list[Source] | None, *, asked: bool
) -> None:
    ada = await user(storage)
    of, _ = await run(storage, ada)
    await storage.run_questions.ask(of.id, "plan-1", "plan", QUESTION)
    await approve_plan(storage, await load_waiting_plan(storage, of.id, ada.id), PROGRAM, [REMOVE])
    made = None if sources is None else Slice(parameter="title", expression="title", sources=tuple(sources))
    assert await is_asked(storage, of, REMOVE, ValueOrigin(parameter="title", kind=kind, words="", slice=made)) is asked


async def test_what_a_planner_takes_without_a_choice_asks_though_its_tool_is_always_allowed(storage: Storage) -> None:
    ada = await user(storage)
    of, _ = await run(storage, ada)
    await storage.allowed_tools.allow(ada.id, REMOVE.id, get_call_target(REMOVE), ["said"])
    assert not await is_asked(storage, of, REMOVE)
    assert await is_asked(storage, of, REMOVE, unchosen=True)
