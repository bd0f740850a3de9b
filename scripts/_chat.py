"""A conversation at the terminal: one question after the other, each with what came before, shown as it is served."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _ask_view import AskView
from _terminal import check_utf8
from _terminal_user import Changes, approver, asker
from rich.console import Console

from agent.scheduler import closing
from domain.errors import FootpathError, UnavailableError, UsageError
from domain.event import EventRecord
from footpath.loop_thread import LoopThread
from footpath.results import Answer, Verdict
from wiring.ask import RunRequest, ask, choose_default_policy
from wiring.container import Container, open_container
from wiring.run_history import judge_run

_HELP = "/right and /wrong judge the last answer, /new forgets what came before, /quit or Ctrl-D ends. Ctrl-C stops what is being answered."
_VERDICTS: dict[str, Verdict] = {"/right": "right", "/wrong": "wrong"}


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[
        str, typer.Option(help="Who decides: offline, or llm, the default where the settings name a model.")
    ] = "",
    planner: Annotated[str, typer.Option(help="How to plan, as for ask.")] = "",
    executor: Annotated[str, typer.Option(help="http makes the calls, replay answers from recorded ones.")] = "http",
    all_candidates: Annotated[bool, typer.Option("--all", help="Show every candidate.")] = False,
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn from what is asked.")] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Allow every change without asking.")] = False,
) -> None:
    """Ask one question after the other; a later one may go on from what earlier ones found. Exit codes: 2 wrong use, 3 no store."""
    changes: Changes = "yes" if yes else "ask"
    try:
        thread = LoopThread(open_container(store=store))
        container = thread.start()
        try:
            _Chat(thread, container, policy, planner, executor, changes, learn=learn, whole=all_candidates).go_on()
        finally:
            thread.stop()
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error


class _Chat:
    """What came before, and who is there."""

    def __init__(
        self,
        thread: LoopThread[Container],
        container: Container,
        policy: str,
        planner: str,
        executor: str,
        changes: Changes,
        *,
        learn: bool,
        whole: bool,
    ) -> None:
        self._thread, self._container = thread, container
        self._policy = policy or choose_default_policy(container)
        self._planner, self._learn, self._whole = planner, learn, whole
        self._turn = asyncio.Lock()
        self._approver = approver(changes, executor, self._turn)
        self._executor = thread.run(container.open_executor(executor))
        self._last: Answer | None = None
        self._console = Console(highlight=False)

    def go_on(self) -> None:
        """Until the input ends."""
        with contextlib.suppress(ImportError):
            import_module("readline")  # lines can be edited, and earlier ones called back
        self._console.print(_HELP, style="dim")
        while True:
            try:
                line = input("\n> ").strip()
            except (EOFError, KeyboardInterrupt):
                return
            if line == "/quit":
                return
            try:
                self._take(line)
            except FootpathError as error:
                print(error, file=sys.stderr)
            except KeyboardInterrupt:
                print("stopped", file=sys.stderr)

    def _take(self, line: str) -> None:
        if line == "/new":
            self._last = None
        elif line in _VERDICTS:
            if self._last is None:
                raise UsageError("nothing was answered yet")
            self._thread.run(judge_run(self._container, self._last.run, _VERDICTS[line]))
            self._console.print(f"{self._last.run}: {line[1:]}", style="dim")
        elif line.startswith("/"):
            self._console.print(_HELP, style="dim")
        elif line:
            check_utf8(line, "the question")
            self._ask(line)

    def _ask(self, request: str) -> None:
        view = AskView(self._console, all_candidates=self._whole)
        asked = RunRequest(
            request,
            self._policy,
            self._planner,
            self._executor,
            self._learn,
            self._approver,
            asker(self._turn),
            earlier=self._last.earlier if self._last else (),
            earlier_texts=self._last.said if self._last else (),
        )
        records = list(self._thread.iterate(self._shown(asked, view)))
        if records:
            self._last = Answer.of(records, self._last)

    async def _shown(self, asked: RunRequest, view: AskView) -> AsyncGenerator[EventRecord]:
        """Each event is written before the run goes on, and nothing below an open question."""
        async with closing(ask(self._container, asked)) as events:
            async for record in events:
                async with self._turn:
                    view.show(record.event)
                yield record
