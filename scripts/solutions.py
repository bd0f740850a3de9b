"""The library of solutions of a store: listed, shown, made, checked, promoted, forgotten; and a user's word on the answer of a run."""

import ast
import asyncio
import builtins
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _solution_view import line, lines, told, whole
from orjson import OPT_INDENT_2, dumps
from pydantic.types import JsonValue

from agent.plans.checked_plan import CheckedPlan, checked
from agent.programs.names import FOUND, tool_names
from agent.programs.reading import bound_names, calls
from agent.solutions.drift import drifted
from agent.solutions.for_people import solution_of
from domain.errors import UnavailableError, UsageError
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId
from graph.description import find
from wiring.asked_runs import judge_run
from wiring.container import Container, open_container

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

    async def listed(container: Container) -> list[tuple[Solution, float | None]]:
        if request:
            near = await (await container.solutions()).near(request, limit)
            return [(one.solution, one.likeness) for one in near]
        kept = await container.solution_store()
        if tool:
            return [(one, None) for one in (await kept.on_path([await find(container.graph, tool)]))[:limit]]
        found: list[tuple[Solution, float | None]] = []
        async for one in kept.all():
            found.append((one, None))
            if len(found) == limit:
                break
        return found

    found = _within(store, listed)
    _say({"solutions": [told(*one) for one in found]}, [line(*one) for one in found], json=json)


@app.command()
def show(solution: Id, store: Store = None, json: Json = False) -> None:
    """Show a solution with its program, what it serves and how it has done."""

    async def shown(container: Container) -> tuple[Solution, list[ToolId]]:
        one = await _found(container, solution)
        docs = await container.graph.get_tools(one.path)
        return one, [*(tool for tool in one.path if tool not in docs), *drifted(one, docs)]

    found = _within(store, shown)
    _say(whole(*found), lines(*found), json=json)


@app.command()
def forget(solution: Id, store: Store = None, json: Json = False) -> None:
    """Forget a solution for good."""

    async def gone(container: Container) -> Solution:
        one = await _found(container, solution)
        await (await container.solutions(one.owner)).forget([one.id])
        return one

    one = _within(store, gone)
    _say({"forgotten": one.id}, [f"{one.id}: forgotten"], json=json)


@app.command()
def promote(solution: Id, store: Store = None, json: Json = False) -> None:
    """Let all users of the store share an owner's solution; their runs and requests are not told."""

    async def shared(container: Container) -> str:
        one = await _found(container, solution)
        return await (await container.solutions(one.owner)).share(one.id)

    name = _within(store, shared)
    _say({"shared": name}, [f"{name}: shared by all"], json=json)


@app.command()
def check(solution: Id, store: Store = None, json: Json = False) -> None:
    """Check a solution against its tools as they are, and take it from now on."""

    async def taken_up(container: Container) -> str:
        one = await _found(container, solution)
        program = one.plan.program
        docs = await container.graph.get_tools(program.tools.values())
        _refuse(await checked(program.text, one.plan.inputs, program.tools, docs, container.sandbox(), values={}))
        await (await container.solutions(one.owner)).take_up(one.id)
        return one.id

    name = _within(store, taken_up)
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

    async def added(container: Container) -> str:
        inputs = dict(map(_input, input_ or []))
        text = program.read_text(encoding="utf-8")
        docs = await _tools_in(text, inputs, container)
        names = {name: doc.id for name, doc in tool_names(docs)}
        found = await checked(text, inputs, names, {doc.id: doc for doc in docs}, container.sandbox(), values={})
        _refuse(found)
        one = solution_of(found.plan, pattern, container.settings.owner, "person")
        return (await (await container.solutions()).add([one]))[0]

    name = _within(store, added)
    _say({"id": name}, [f"{name}: kept"], json=json)


@app.command()
def judge(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run, as ask.py says it at its end; its beginning will do.")
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


async def _found(container: Container, begins: str) -> Solution:
    kept = await container.solution_store()
    if (whole := (await kept.get([begins])).get(begins)) is not None:
        return whole
    found = [one async for one in kept.all() if begins and one.id.startswith(begins)]
    if len(found) != 1:
        several = f"{len(found)} solutions begin so" if found else "there is no such solution"
        raise UsageError(f"{several}: {begins!r}; solutions.py list names them")
    return found[0]


async def _tools_in(text: str, inputs: dict[str, JsonObject], container: Container) -> list[ToolDoc]:
    """Those that a text calls by their names."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(f"line {error.lineno}: this is no Python: {error.msg}") from error
    own = {*FOUND, *inputs, *bound_names(tree), *dir(builtins)}
    named = {one.func.id for one in calls(tree) if isinstance(one.func, ast.Name)} - own
    ids = [await find(container.graph, name) for name in sorted(named)]
    return list((await container.graph.get_tools(ids)).values())


def _input(told: str) -> tuple[str, JsonObject]:
    from orjson import JSONDecodeError, loads

    name, _, schema = told.partition("=")
    if not schema.startswith("{"):
        return name, {"type": schema or "string"}
    try:
        return name, loads(schema)
    except JSONDecodeError as error:
        raise UsageError(f"the JSON Schema of {name} cannot be read: {error}") from error


def _refuse(found: CheckedPlan) -> None:
    """``UsageError`` with what is wrong with a program."""
    wrong = [f"line {one.line}: {one.message}" if one.line else one.message for one in found.complaints]
    if wrong:
        raise UsageError("\n".join(wrong))


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
    print(dumps(answer, option=OPT_INDENT_2).decode() if json else "\n".join(shown))


if __name__ == "__main__":
    app()
