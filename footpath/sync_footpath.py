"""Blocking API, for programs without an event loop, and for notebooks, whose own loop must not be blocked."""

from collections.abc import Generator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic.types import JsonValue

from agent.exporting.program_files import ExportForm
from domain.event import EventRecord
from domain.model import JsonObject
from footpath.async_footpath import AsyncFootpath, Paths, Policy
from footpath.loop_thread import LoopThread
from footpath.results import Answer, FoundTool, Offer, Tool, Verdict
from footpath.user_callbacks import Changes, Reply
from graph.import_summary import ImportSummary


class Footpath:
    """An open store with the methods of :class:`AsyncFootpath`, which run in a thread of their own.

    Created by :meth:`open`; closed by :meth:`close`, or at the end of a ``with`` block. Several threads may use it.
    """

    def __init__(self, thread: LoopThread[AsyncFootpath]) -> None:
        self._thread = thread
        self._async_footpath = thread.start()

    @classmethod
    def open(cls, store: Path | str | None = None, **settings: object) -> Self:
        """Open a store, as :meth:`AsyncFootpath.open` does."""
        return cls(LoopThread(AsyncFootpath.open(store, **settings)))

    def close(self) -> None:
        """Close the store; runs in progress are cancelled. Idempotent."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def build(
        store: Path | str,
        tools: Paths = (),
        trajectories: Paths = (),
        calls: Paths = (),
        *,
        server: str = "",
        **settings: object,
    ) -> ImportSummary:
        """Build a store, or add to one, as :meth:`AsyncFootpath.build` does."""
        thread = LoopThread(nullcontext())
        thread.start()
        try:
            return thread.run(AsyncFootpath.build(store, tools, trajectories, calls, server=server, **settings))
        finally:
            thread.stop()

    def find(self, request: str, limit: int = 10, *, category: str = "") -> list[FoundTool]:
        """Search for tools, as :meth:`AsyncFootpath.find` does."""
        return self._thread.run(self._async_footpath.find(request, limit, category=category))

    def offer(self, request: str, limit: int = 16) -> Offer:
        """Return the tools to serve a request with, as :meth:`AsyncFootpath.offer` does."""
        return self._thread.run(self._async_footpath.offer(request, limit))

    def tool(self, name: str) -> Tool:
        """Return a tool by its name, as :meth:`AsyncFootpath.tool` does."""
        return self._thread.run(self._async_footpath.tool(name))

    def stream(
        self,
        request: str,
        *,
        policy: Policy = "",
        planner: str = "",
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
        after: Answer | None = None,
        files: Paths = (),
    ) -> Generator[EventRecord]:
        """Yield the events of a run, as :meth:`AsyncFootpath.stream` does. If closed early, the run is cancelled."""
        events = self._async_footpath.stream(
            request,
            policy=policy,
            planner=planner,
            changes=changes,
            reply=reply,
            learn=learn,
            replay=replay,
            after=after,
            files=files,
        )
        return self._thread.iterate(events)

    def ask(
        self,
        request: str,
        *,
        policy: Policy = "",
        planner: str = "",
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
        after: Answer | None = None,
        files: Paths = (),
    ) -> Answer:
        """Serve a request, as :meth:`AsyncFootpath.ask` does."""
        work = self._async_footpath.ask(
            request,
            policy=policy,
            planner=planner,
            changes=changes,
            reply=reply,
            learn=learn,
            replay=replay,
            after=after,
            files=files,
        )
        return self._thread.run(work)

    def run_program(
        self,
        program: str,
        values: Mapping[str, JsonValue] | None = None,
        *,
        request: str = "",
        inputs: Mapping[str, JsonObject] | None = None,
        tools: Mapping[str, str] | None = None,
        changes: Changes = "deny",
        reply: Reply | None = None,
        replay: bool = False,
    ) -> Answer:
        """Check and run a program, as :meth:`AsyncFootpath.run_program` does."""
        work = self._async_footpath.run_program(
            program,
            values,
            request=request,
            inputs=inputs,
            tools=tools,
            changes=changes,
            reply=reply,
            replay=replay,
        )
        return self._thread.run(work)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, JsonValue] | None = None,
        *,
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
    ) -> Answer:
        """Call a tool once, as :meth:`AsyncFootpath.call` does."""
        work = self._async_footpath.call(tool, arguments, changes=changes, reply=reply, learn=learn, replay=replay)
        return self._thread.run(work)

    def learn(self, run: Answer | str, verdict: Verdict | None) -> None:
        """Record a verdict on an answer, as :meth:`AsyncFootpath.learn` does."""
        self._thread.run(self._async_footpath.learn(run, verdict))

    def export(self, of: Answer | str, form: ExportForm) -> str:
        """Export the program of an answer or solution, as :meth:`AsyncFootpath.export` does."""
        return self._thread.run(self._async_footpath.export(of, form))


def unwrap_footpath(footpath: Footpath) -> tuple[LoopThread[AsyncFootpath], AsyncFootpath]:
    """Return the thread of a store and the asynchronous store in it, for modules of this package."""
    return footpath._thread, footpath._async_footpath  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
