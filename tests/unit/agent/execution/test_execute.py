"""The execution of a path: order, complaints, missing arguments, repeated calls, failures."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from agent.execution.executor import CallResult
from agent.execution.step_execution import MAX_ARGUMENT_ANSWERS, execute_steps
from agent.policy.protocol import ArgumentsQuestion, CallArguments, FieldsQuestion
from domain.errors import ForbiddenAddressError
from domain.event import CallFinished, CallStarted, Event, ResponseCompressed
from domain.model import JsonObject
from domain.plan import Binding, CallOutcome, StepResult
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.policy import OfflinePolicy


def tool(api: str, method: str = "GET") -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, method=method,
                   parameters=(Parameter(name="n", type="integer", required=True),))  # fmt: skip


class Scripted(OfflinePolicy):
    """A policy whose arguments come from a function; it keeps what it was asked."""

    name = "scripted"

    def __init__(self, answer: Callable[[ArgumentsQuestion], CallArguments]) -> None:
        super().__init__()
        self.asked: list[ArgumentsQuestion] = []
        self._answer = answer

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        self.asked.append(question)
        return self._answer(question)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        return ("items[].id",)


class Echo:
    """An executor that answers with the arguments; ``outcomes`` by the API's name."""

    name = "echo"

    def __init__(self, **outcomes: CallOutcome) -> None:
        self.calls: list[tuple[str, JsonObject]] = []
        self._outcomes = outcomes

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.calls.append((tool.api, arguments))
        if tool.api == "forbidden":
            raise ForbiddenAddressError("10.0.0.1 is not a public address")
        return CallResult(
            self._outcomes.get(tool.api, "ok"), f'{{"n": {arguments["n"]}}}', http_status=200, attempts=2, note="told"
        )

    async def close(self) -> None: ...


def constant(value: object) -> Callable[[ArgumentsQuestion], CallArguments]:
    return lambda _: CallArguments({"n": value}, (Binding(parameter="n", origin="request"),))  # type: ignore[dict-item]


async def run(
    tools: Sequence[ToolDoc], policy: Scripted, executor: Echo, done: Mapping[int, StepResult] | None = None
) -> list[CallStarted | CallFinished | ResponseCompressed]:
    told: list[Event] = []

    async def tell(event: Event) -> None:
        told.append(event)

    await execute_steps("r", tools, policy, executor, done or {}, tell)
    return [one for one in told if isinstance(one, CallStarted | CallFinished | ResponseCompressed)]


async def test_steps_run_in_order_and_see_the_earlier_ones() -> None:
    policy, executor = Scripted(lambda q: CallArguments({"n": len(q.earlier) + 1}, ())), Echo()
    events = await run([tool("a"), tool("b")], policy, executor)
    assert [(event.kind, event.step) for event in events] == [
        ("call.started", 1),
        ("call.finished", 1),
        ("call.started", 2),
        ("call.finished", 2),
    ]
    assert executor.calls == [("a", {"n": 1}), ("b", {"n": 2})]
    assert [[earlier.api for earlier, _ in question.earlier] for question in policy.asked] == [[], ["a"]]
    assert [[later.api for later in question.later] for question in policy.asked] == [["b"], []]
    last = events[-1]
    assert isinstance(last, CallFinished)
    assert (last.result.status, last.result.attempts, last.result.response, last.result.note) == (
        "ok",
        2,
        '{"n": 2}',
        "told",
    )


async def test_a_complaint_is_told_back_and_the_next_answer_used() -> None:
    policy = Scripted(lambda q: CallArguments({"n": 7 if q.complaint else "seven"}, ()))
    executor = Echo()
    await run([tool("a")], policy, executor)
    assert executor.calls == [("a", {"n": 7})]
    assert 'n must be of type integer, not "seven"' in policy.asked[1].complaint


async def test_three_refused_answers_fail_without_a_call() -> None:
    answers = iter(["x", "y", "z", 4])
    policy, executor = Scripted(lambda _: CallArguments({"n": next(answers)}, ())), Echo()
    events = await run([tool("a"), tool("b")], policy, executor)
    assert len(policy.asked) == MAX_ARGUMENT_ANSWERS == 3
    assert executor.calls == []
    assert [event.kind for event in events] == ["call.finished"]
    assert isinstance(events[0], CallFinished)
    assert events[0].result.status == "failed"
    assert 'not "z"' in events[0].result.note


async def test_the_same_refused_answer_again_is_not_asked_a_third_time() -> None:
    policy = Scripted(constant("x"))
    await run([tool("a")], policy, Echo())
    assert len(policy.asked) == 2


async def test_a_missing_argument_ends_the_path_and_is_named() -> None:
    policy, executor = Scripted(lambda _: CallArguments({}, (), ("n",))), Echo()
    events = await run([tool("a"), tool("b")], policy, executor)
    assert [event.kind for event in events] == ["call.finished"]
    assert isinstance(events[0], CallFinished)
    assert (events[0].result.status, events[0].result.note) == ("missing", "No value was found for: n.")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("transient", "failed"), ("gone", "failed"), ("caller_fault", "failed"), ("unknown", "unknown")],
)
async def test_a_failure_ends_the_path(outcome: CallOutcome, status: str) -> None:
    executor = Echo(a=outcome)
    events = await run([tool("a"), tool("b")], Scripted(constant(1)), executor)
    assert [name for name, _ in executor.calls] == ["a"]
    assert isinstance(events[-1], CallFinished)
    assert events[-1].result.status == status


async def test_a_forbidden_address_is_a_failed_step_that_says_so() -> None:
    events = await run([tool("forbidden")], Scripted(constant(1)), Echo())
    assert isinstance(events[-1], CallFinished)
    assert (events[-1].result.status, events[-1].result.note) == ("failed", "10.0.0.1 is not a public address")


async def test_the_same_safe_call_is_made_once() -> None:
    executor = Echo()
    events = await run([tool("a"), tool("a")], Scripted(constant(1)), executor)
    assert len(executor.calls) == 1
    assert [event.kind for event in events] == ["call.started", "call.finished", "call.finished"]
    last = events[-1]
    assert isinstance(last, CallFinished)
    assert (last.result.response, last.result.attempts, last.result.note) == (
        '{"n": 1}',
        0,
        "The same call as step 1; answered from it.",
    )


async def test_the_same_write_is_made_twice() -> None:
    executor = Echo()
    await run([tool("a", "POST"), tool("a", "POST")], Scripted(constant(1)), executor)
    assert len(executor.calls) == 2


async def test_steps_that_are_done_are_not_called_again_but_feed_the_next() -> None:
    executor, policy = Echo(), Scripted(constant(2))
    first = tool("a")
    done = {1: StepResult(tool=first.id, arguments={"n": 1}, status="ok", response="{}")}
    events = await run([first, tool("b")], policy, executor, done)
    assert executor.calls == [("b", {"n": 2})]
    assert [event.step for event in events] == [2, 2]
    assert policy.asked[0].earlier == ((first, done[1]),)


class Lengthy(Echo):
    """An executor whose responses are long."""

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        result = await super().call(tool, arguments)
        items = ", ".join(f'{{"id": {n}, "text": "{"word " * 10}"}}' for n in range(50))
        return replace(result, body=f'{{"items": [{items}]}}')


async def test_a_long_response_is_told_of_behind_its_call_and_both_forms_are_kept() -> None:
    policy = Scripted(constant(1))
    events = await run([tool("a"), tool("b")], policy, Lengthy())
    assert [event.kind for event in events] == ["call.started", "call.finished", "response.compressed"] * 2
    finished, told = events[1], events[2]
    assert isinstance(finished, CallFinished)
    assert isinstance(told, ResponseCompressed)
    assert (told.step, told.fields, told.cut) == (1, ("items[].id",), False)
    assert (told.before, told.after) == (len(finished.result.response), len(finished.result.compressed))
    assert finished.result.compressed.startswith('{"items":[{"id":0},{"id":1}')
    assert finished.result.response.startswith('{"items": [{"id": 0, "text": "word ')
    assert policy.asked[1].earlier[0][1].compressed == finished.result.compressed


async def test_the_long_response_of_a_failed_call_is_cut_and_the_call_is_the_last_event() -> None:
    events = await run([tool("a"), tool("b")], Scripted(constant(1)), Lengthy(a="gone"))
    assert [event.kind for event in events] == ["call.started", "call.finished"]
    assert isinstance(events[1], CallFinished)
    assert 0 < len(events[1].result.compressed) <= 1_024
    assert '"text":"word word' in events[1].result.compressed


async def test_a_call_that_was_answered_stays_answered_where_no_time_is_left_to_shorten_it() -> None:
    class Slow(Scripted):
        async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
            await asyncio.sleep(60)
            return ()

    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    @asynccontextmanager
    async def a_moment() -> AsyncGenerator[None]:
        async with asyncio.timeout(0.2):
            yield

    policy = Slow(constant(1))
    await execute_steps("List them.", [tool("list")], policy, Lengthy(), {}, emit, limit_time=a_moment)
    finished = next(event for event in events if isinstance(event, CallFinished))
    assert (finished.result.status, finished.result.response[:9]) == ("ok", '{"items":')
