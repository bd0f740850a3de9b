"""A run as a Runnable: its input is a request, its output the events as they happen and the answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableGenerator
from langchain_core.runnables.utils import AddableDict

from domain.errors import UsageError
from domain.event import EventRecord
from footpath.asynchronous import AsyncFootpath, Policy
from footpath.langchain.opened import Opened, Store
from footpath.langchain.tools import MOST
from footpath.results import Answer
from footpath.user import Changes, Reply

RunInput = str | Sequence[BaseMessage] | Mapping[str, Any]
"""A request; messages, of which the last one of the user is the request; or an agent's state with ``messages``."""


def run_of(
    footpath: Store,
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
    opened = Opened(footpath)

    def events(request: str) -> Callable[[AsyncFootpath], AsyncGenerator[EventRecord]]:
        return lambda working: working.stream(
            request, policy=policy, planner=planner, changes=changes, reply=reply, learn=learn, replay=replay
        )

    def stream(given: Iterator[RunInput]) -> Iterator[AddableDict]:
        records: list[EventRecord] = []
        with closing(opened.iterate(events(_request(_whole(list(given)))))) as happening:
            for record in happening:
                records.append(record)
                yield _chunk(records)

    async def astream(given: AsyncIterator[RunInput]) -> AsyncIterator[AddableDict]:
        records: list[EventRecord] = []
        request = _request(_whole([one async for one in given]))
        async with aclosing(opened.iterated(events(request))) as happening:
            async for record in happening:
                records.append(record)
                yield _chunk(records)

    return RunnableGenerator[RunInput, dict[str, Any]](stream, astream, name="footpath")


def _whole(chunks: Sequence[RunInput]) -> RunInput:
    """Join the chunks of the input: a text may be streamed piece by piece; of other inputs the last one counts."""
    if chunks and all(isinstance(one, str) for one in chunks):
        return "".join(cast("Sequence[str]", chunks))
    if not chunks:
        raise UsageError("the run was given no request")
    return chunks[-1]


def _request(given: RunInput) -> str:
    """Return the text of the request. ``UsageError`` where there is no message of the user."""
    if isinstance(given, str):
        return given
    messages = given.get("messages", ()) if isinstance(given, Mapping) else given
    said = [one for one in messages if isinstance(one, HumanMessage)]
    if not said:
        raise UsageError("a run is given a request, messages with a HumanMessage, or {'messages': …}")
    return str(said[-1].text)


def _chunk(records: Sequence[EventRecord]) -> AddableDict:
    """Build the chunk for the last of these events; the end of the run adds the answer."""
    last = records[-1]
    ended = _end(Answer.of(records)) if last.event.kind == "run.finished" else {}
    return AddableDict({"events": [last.model_dump(mode="json")], **ended})


def _end(answer: Answer) -> dict[str, Any]:
    calls = [
        {"tool": one.tool, "arguments": one.arguments, "status": one.status, "response": one.response[:MOST], "note": one.note}
        for one in answer.calls
    ]  # fmt: skip
    return {
        "answer": answer.text[:MOST],
        "outcome": answer.outcome,
        "error": answer.error,
        "run": answer.run,
        "program": answer.program,
        "calls": calls,
    }
