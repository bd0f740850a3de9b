"""The library of solutions of a store: listed, shown, made, checked, promoted, forgotten; and a user's word on the answer of a run."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _solution_view import line, lines, told, whole
from _solution_work import added, forgotten, listed, promoted, shown, taken_up
from orjson import OPT_INDENT_2, dumps
from pydantic.types import JsonValue

from domain.errors import UnavailableError, UsageError
from wiring.container import Container, open_container
from wiring.run_history import judge_run

T = TypeVar("T")
app = typer.Typer(
    help="Solutions: programs with inputs that serve requests like those that they served before. Exit codes: 2 unknown id or a wrong program, 3 no store.",
    no_args_is_help=True,
    add_completion=False,
)
Store = Annotated[Path | None, typer.Option(help="Folder of the store.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Id = Annotated[
    str, typer.Argument(metavar="ID", help="Of a solution, as list says it; its beginning, where only one begins so.")
]


@app.command("list")
def list_(
    request: Annotated[str, typer.Option(help="Only those near this request, the nearest first.")] = "",
    tool: Annotated[str, typer.Option(help="Only those that call this tool: id, function or API name.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="So many at most.")] = 50,
    store: Store = None,
    json: Json = False,
) -> None:
    """List the solutions of all owners; near a request, those of the settings' owner and the shared ones."""
    found = _within(store, lambda container: listed(container, request, tool, limit))
    if not found:
        nothing = "none is near that request" if request else "none calls that tool" if tool else "nothing is kept yet"
        print(f"{nothing}; runs that answer by a program are kept, add keeps one of your own", file=sys.stderr)
    _say({"solutions": [told(*one) for one in found]}, [line(*one) for one in found], json=json)


@app.command()
def show(solution: Id, store: Store = None, json: Json = False) -> None:
    """Show a solution with its program, what it serves and how it has done."""
    found = _within(store, lambda container: shown(container, solution))
    _say(whole(*found), lines(*found), json=json)


@app.command()
def forget(solution: Id, store: Store = None, json: Json = False) -> None:
    """Forget a solution for good."""
    name = _within(store, lambda container: forgotten(container, solution))
    _say({"forgotten": name}, [f"{name}: forgotten"], json=json)


@app.command()
def promote(solution: Id, store: Store = None, json: Json = False) -> None:
    """Let all users of the store share an owner's solution; their runs and requests are not told."""
    name = _within(store, lambda container: promoted(container, solution))
    _say({"shared": name}, [f"{name}: shared by all"], json=json)


@app.command()
def check(solution: Id, store: Store = None, json: Json = False) -> None:
    """Check a solution against its tools as they are, and take it from now on."""
    name = _within(store, lambda container: taken_up(container, solution))
    _say({"checked": name}, [f"{name}: checked; it is taken from now on"], json=json)


@app.command()
def add(
    program: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help="A file with its text: Python over tools' names as functions."
        ),
    ],
    pattern: Annotated[
        list[str], typer.Option(help='A request that it serves, as "How many inhabitants does {city} have?".')
    ],
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", help="An input with its JSON type, as city=string, or its JSON Schema."),
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Keep a person's program as a solution of the settings' owner, once it has passed all checks."""
    name = _within(store, lambda container: added(container, program, pattern, input_ or []))
    _say({"id": name}, [f"{name}: kept"], json=json)


@app.command()
def judge(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run, as scripts/ask.py says it at its end; its beginning will do.")
    ],
    verdict: Annotated[
        Literal["right", "wrong", "clear"], typer.Argument(help="What its answer is; clear takes a word back.")
    ],
    store: Store = None,
    json: Json = False,
) -> None:
    """Say that the answer of a run was right or wrong: what was wrong is not given again to such a request."""

    async def said(container: Container) -> str:
        return (await judge_run(container, run, None if verdict == "clear" else verdict)).judged.run

    name = _within(store, said)
    _say({"run": name, "verdict": None if verdict == "clear" else verdict}, [f"{name}: {verdict}"], json=json)


def _within(store: Path | None, work: Callable[[Container], Awaitable[T]]) -> T:
    async def done() -> T:
        async with open_container(store=store) as container:
            return await work(container)

    try:
        return asyncio.run(done())
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error


def _say(answer: dict[str, JsonValue], shown: list[str], *, json: bool) -> None:
    if json:
        print(dumps(answer, option=OPT_INDENT_2).decode())
    elif shown:
        print("\n".join(shown))


if __name__ == "__main__":
    app()
