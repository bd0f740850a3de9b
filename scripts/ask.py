"""Asks a question: plans a path through the tool graph, makes the calls, answers."""

import asyncio
import shlex
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _terminal import check_utf8

from domain.errors import BrokenInputError, UnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _terminal_user import Changes

    from agent.transcript import RunTranscript
    from domain.event import Event

_EXITS = {"answered": 0, "partly": 4}
"""By the run's outcome; any other exits with 1."""


def main(
    request: Annotated[str, typer.Argument(help="What to find out or to do, in words.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[
        str, typer.Option(help="Who decides: offline needs no model, llm asks the one of the settings.")
    ] = "offline",
    planner: Annotated[
        str,
        typer.Option(
            help="How to plan: program writes one, the default; solution chooses one of the library to write after; dfs walks the graph; thesis does so step by step and reviews every path; react, cot, basic, retrieve."
        ),
    ] = "",
    executor: Annotated[str, typer.Option(help="http makes the calls, replay answers from recorded ones.")] = "http",
    calls: Annotated[
        list[Path] | None, typer.Option(help="Recorded calls to replay instead of the store's own.")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option(help="A CSV, JSON or text file that the request is about; it takes a model.")
    ] = None,
    all_candidates: Annotated[bool, typer.Option("--all", help="Show every candidate.")] = False,
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Learn from this run; FOOTPATH_LEARN=false: from none.")
    ] = True,
    yes: Annotated[
        bool, typer.Option("--yes", help="Allow every change of this run, up to FOOTPATH_MAX_CHANGES, without asking.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the changes with their values and make none; reads are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Answer a request. Before a call that may change something, the terminal asks; without a terminal, none is made but with --yes. What the
    request leaves open is asked there, too; without a terminal the answer says what would have to be known.

    Exit codes: 0 answered, 1 not answered, or a change was not made, 2 wrong use, 3 no store, 4 answered in part.
    """
    try:
        if not request.strip():
            raise UsageError("the request is empty; put it in quotes behind python scripts/ask.py")
        check_utf8(request, "the request")
        if calls and executor != "replay":
            raise UsageError("--calls needs --executor replay")
        if yes and dry_run:
            raise UsageError("--yes makes changes and --dry-run makes none: choose one")
        show = None if json else _shown(all_candidates=all_candidates)
        changes: Changes = "yes" if yes else "dry run" if dry_run else "ask"
        learns = learn and not dry_run
        given = tuple(calls or ()), tuple(file or ())
        asking = _ask(request, store, policy, planner, executor, *given, show, changes, learn=learns)
        transcript, run = asyncio.run(asking)
    except (UsageError, UnavailableError, BrokenInputError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise typer.Exit(130) from None
    if json:
        from orjson import OPT_INDENT_2, dumps

        print(dumps({**transcript.to_json(), "run": run}, option=OPT_INDENT_2).decode())
    else:
        where = f" --store {shlex.quote(str(store))}" if store is not None else ""
        said = f"python scripts/solutions.py judge {run} right|wrong{where}"
        print(f"run {run}: right or wrong? {said}", file=sys.stderr)
    raise typer.Exit(_EXITS.get(transcript.end.outcome, 1) if transcript.end else 1)


def _shown(*, all_candidates: bool) -> "Callable[[Event], None]":
    from _ask_view import AskView
    from rich.console import Console

    return AskView(Console(highlight=False), all_candidates=all_candidates).show


async def _ask(
    request: str,
    store: Path | None,
    policy: str,
    planner: str,
    executor: str,
    calls: tuple[Path, ...],
    paths: tuple[Path, ...],
    show: "Callable[[Event], None] | None",
    changes: "Changes",
    *,
    learn: bool,
) -> "tuple[RunTranscript, str]":
    """What became of it, and its id."""
    from _terminal_user import approver, asker

    from agent.transcript import RunTranscript
    from wiring.ask import RunRequest, read_given_files
    from wiring.ask import ask as asked_of
    from wiring.container import open_container
    from wiring.executors import open_replay

    async with AsyncExitStack() as stack:
        container = await stack.enter_async_context(open_container(store=store))
        caller = await stack.enter_async_context(open_replay(container, calls)) if calls else executor
        turn, transcript, run = asyncio.Lock(), RunTranscript(), ""
        approves = approver(changes, executor, turn)
        files = await read_given_files(paths, container.settings)
        asked = RunRequest(
            request, policy, planner, caller, learn=learn, approver=approves, user_channel=asker(turn), files=files
        )
        async for record in asked_of(container, asked):
            transcript.add(record)
            run = record.run
            if show:
                async with turn:  # nothing is written below an open question
                    show(record.event)
        return transcript, run


if __name__ == "__main__":
    typer.run(main)
