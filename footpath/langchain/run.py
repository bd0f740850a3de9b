"""A run as a Runnable: its input is a request, its output the events as they happen and the answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableGenerator
from langchain_core.runnables.utils import AddableDict

from domain.errors import UsageError
from domain.event import EventRecord
from footpath.async_footpath import AsyncFootpath, Policy
from footpath.langchain.store_runner import AnyFootpath, StoreRunner
from footpath.langchain.tools import MAX_RESPONSE_LENGTH
from footpath.results import Answer
from footpath.user_callbacks import Changes, Reply

RunInput = str | Sequence[BaseMessage] | Mapping[str, Any]
"""A request; messages, of which the last one of the user is the request; or an agent's state with ``messages``."""


def run_of(
    footpath: AnyFootpath,
    *,
    policy: Policy = "",
    planner: str = "",
    changes: Changes = "deny",
    reply: Reply | None = None,
    learn: bool = True,
    replay: bool = False,
) -> Runnable[RunInput, dict[str, Any]]:
    """Return a Runnable that serves requests as ``ask`` does, with its options.

    ``stream`` yields ``{"events": [event]}`` for each event as it happens, and adds ``answer``, ``outcome``, ``error``,
    ``run``, ``program`` and ``calls`` to the last one; ``invoke`` returns all of it together. A run that fails raises
    nothing: see ``outcome``. If the stream is closed early, the run is cancelled.
    """
    runner = StoreRunner(footpath)

    def create_event_stream(request: str) -> Callable[[AsyncFootpath], AsyncGenerator[EventRecord]]:
        return lambda working: working.stream(
            request, policy=policy, planner=planner, changes=changes, reply=reply, learn=learn, replay=replay
        )

    def stream(chunks: Iterator[RunInput]) -> Iterator[AddableDict]:
        records: list[EventRecord] = []
        with closing(runner.iterate(create_event_stream(_extract_request(_join_input(list(chunks)))))) as event_stream:
            for record in event_stream:
                records.append(record)
                yield _build_chunk(records)

    async def astream(chunks: AsyncIterator[RunInput]) -> AsyncIterator[AddableDict]:
        records: list[EventRecord] = []
        request = _extract_request(_join_input([chunk async for chunk in chunks]))
        async with aclosing(runner.iterate_async(create_event_stream(request))) as event_stream:
            async for record in event_stream:
                records.append(record)
                yield _build_chunk(records)

    return RunnableGenerator[RunInput, dict[str, Any]](stream, astream, name="footpath")


def _join_input(chunks: Sequence[RunInput]) -> RunInput:
    """Join the chunks of the input: a text may be streamed piece by piece; of other inputs the last one counts."""
    if chunks and all(isinstance(chunk, str) for chunk in chunks):
        return "".join(cast("Sequence[str]", chunks))
    if not chunks:
        raise UsageError("the run was given no request")
    return chunks[-1]


def _extract_request(run_input: RunInput) -> str:
    """Return the text of the request. ``UsageError`` where there is no message of the user."""
    if isinstance(run_input, str):
        return run_input
    messages = run_input.get("messages", ()) if isinstance(run_input, Mapping) else run_input
    user_messages = [message for message in messages if isinstance(message, HumanMessage)]
    if not user_messages:
        raise UsageError("a run is given a request, messages with a HumanMessage, or {'messages': …}")
    return str(user_messages[-1].text)


def _build_chunk(records: Sequence[EventRecord]) -> AddableDict:
    """Build the chunk for the last of these events; the end of the run adds the answer."""
    last = records[-1]
    ending = _summarize_answer(Answer.of(records)) if last.event.kind == "run.finished" else {}
    return AddableDict({"events": [last.model_dump(mode="json")], **ending})


def _summarize_answer(answer: Answer) -> dict[str, Any]:
    calls = [
        {"tool": call.tool, "arguments": call.arguments, "status": call.status, "response": call.response[:MAX_RESPONSE_LENGTH], "note": call.note}
        for call in answer.calls
    ]  # fmt: skip
    return {
        "answer": answer.text[:MAX_RESPONSE_LENGTH],
        "outcome": answer.outcome,
        "error": answer.error,
        "run": answer.run,
        "program": answer.program,
        "calls": calls,
    }
