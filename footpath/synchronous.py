"""The library for programs without an event loop, and for notebooks, which have one that must not be held up."""

from collections.abc import Generator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic.types import JsonValue

from agent.exporting.forms import Form
from domain.event import EventRecord
from domain.model import JsonObject
from footpath.asynchronous import AsyncFootpath, Paths, Policy
from footpath.loop_thread import LoopThread
from footpath.results import Answer, FoundTool, Offer, Tool, Verdict
from footpath.user import Changes, Reply
from graph.import_summary import ImportSummary


class Footpath:
    """An open store, each method that of :class:`AsyncFootpath`, run in a thread of its own. Made by :meth:`open`; closed by :meth:`close`, or
    at the end of a ``with`` block. Several threads may use it.
    """

    def __init__(self, thread: LoopThread[AsyncFootpath]) -> None:
        self._thread = thread
        self._opened = thread.start()

    @classmethod
    def open(cls, store: Path | str | None = None, **settings: object) -> Self:
        """As :meth:`AsyncFootpath.open`."""
        return cls(LoopThread(AsyncFootpath.open(store, **settings)))

    def close(self) -> None:
        """Close it; what is under way is cancelled. A second time does nothing."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
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
        """As :meth:`AsyncFootpath.build`."""
        thread = LoopThread(nullcontext())
        thread.start()
        try:
            return thread.run(AsyncFootpath.build(store, tools, trajectories, calls, server=server, **settings))
        finally:
            thread.stop()

    def find(self, request: str, limit: int = 10, *, category: str = "") -> list[FoundTool]:
        """As :meth:`AsyncFootpath.find`."""
        return self._thread.run(self._opened.find(request, limit, category=category))

    def offer(self, request: str, limit: int = 16) -> Offer:
        """As :meth:`AsyncFootpath.offer`."""
        return self._thread.run(self._opened.offer(request, limit))

    def tool(self, name: str) -> Tool:
        """As :meth:`AsyncFootpath.tool`."""
        return self._thread.run(self._opened.tool(name))

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
        """As :meth:`AsyncFootpath.stream`. Closed early, the run is cancelled."""
        events = self._opened.stream(
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
        """As :meth:`AsyncFootpath.ask`."""
        work = self._opened.ask(
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
        """As :meth:`AsyncFootpath.run_program`."""
        work = self._opened.run_program(
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
        """As :meth:`AsyncFootpath.call`."""
        work = self._opened.call(tool, arguments, changes=changes, reply=reply, learn=learn, replay=replay)
        return self._thread.run(work)

    def learn(self, run: Answer | str, verdict: Verdict | None) -> None:
        """As :meth:`AsyncFootpath.learn`."""
        self._thread.run(self._opened.learn(run, verdict))

    def export(self, of: Answer | str, form: Form) -> str:
        """As :meth:`AsyncFootpath.export`."""
        return self._thread.run(self._opened.export(of, form))


def behind(footpath: Footpath) -> tuple[LoopThread[AsyncFootpath], AsyncFootpath]:
    """The thread of a store, and what works in it: for this package's own modules."""
    return footpath._thread, footpath._opened  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
