"""Python files that run an exported program through the library ``footpath``."""

from agent.exporting.exported import ExportedProgram
from agent.exporting.python_text import ABOUT, Input, constants, docstring, inputs_of, run, typing_line

_LIBRARY = frozenset(
    {"Any", "AsyncFootpath", "CHANGES", "INPUTS", "Literal", "PROGRAM", "TOOLS", "asyncio", "footpath", "answer"}
)
_MAIN = 'if __name__ == "__main__":'


def python_file(program: ExportedProgram) -> str:
    """Render a module with one function that can also be run from the command line."""
    inputs = inputs_of(program, _LIBRARY | {"Answer", "argparse", "json", "main", "given", program.name})
    own_help = ", add_help=False" if "help" in program.inputs else ""
    body = [
        *constants(program),
        "",
        "",
        f"async def {program.name}({_parameters('footpath: AsyncFootpath', inputs)}) -> Answer:",
        docstring("What it comes to over an open store; its outcome says whether it was answered.", indent="    "),
        f"    return {run(program, _values(inputs))}",
        "",
        "",
        "async def main() -> None:",
        docstring("Run it with what the command line says.", indent="    "),
        f"    parser = argparse.ArgumentParser(description={program.words.replace('%', '%%')!r}{own_help})",
        *(f"    parser.add_argument({_option(one)})" for one in inputs),
        "    given = vars(parser.parse_args())",
        "    async with AsyncFootpath.open() as footpath:",
        f"        answer = await {program.name}(footpath, **given)",
        "    print(answer.text or answer.error)",
        "",
        "",
        _MAIN,
        "    asyncio.run(main())",
    ]
    text = "\n".join(body)
    modules = ["argparse", "asyncio", *(["json"] if "json.loads" in text else [])]
    imports = [
        *(f"import {one}" for one in modules),
        typing_line(text),
        "",
        "from footpath import Answer, AsyncFootpath",
    ]
    return _whole(program, imports, text)


def mcp_file(program: ExportedProgram) -> str:
    """Render an MCP server with one tool, on standard input and output."""
    around = {
        "Annotated",
        "AsyncGenerator",
        "Context",
        "FastMCP",
        "Field",
        "ServerSession",
        "ToolAnnotations",
        "ToolError",
        "model_config",  # pydantic's, of which FastMCP makes the arguments
    }
    inputs = inputs_of(
        program, _LIBRARY | around | {"asynccontextmanager", "context", "opened", "server", program.name}
    )
    described = [_described(one) for one in inputs]
    hint = f"ToolAnnotations(readOnlyHint={program.reads})"
    body = [
        *constants(program),
        "",
        "",
        "@asynccontextmanager",
        "async def opened(server: FastMCP[AsyncFootpath]) -> AsyncGenerator[AsyncFootpath]:",
        docstring("The store, open as long as the server serves.", indent="    "),
        "    del server",
        "    async with AsyncFootpath.open() as footpath:",
        "        yield footpath",
        "",
        "",
        f"server: FastMCP[AsyncFootpath] = FastMCP({program.name!r}, lifespan=opened)",
        "",
        "",
        f"@server.tool({program.name!r}, description={program.words!r}, annotations={hint})",
        f"async def {program.name}({_parameters('context: Context[ServerSession, AsyncFootpath, Any]', described)}) -> str:",
        docstring("What it answers; an error of the tool where it does not.", indent="    "),
        "    footpath = context.request_context.lifespan_context",
        f"    answer = {run(program, _values(inputs))}",
        "    if not answer.ok:",
        "        raise ToolError(answer.error or answer.text or answer.outcome)",
        "    return answer.text",
        "",
        "",
        _MAIN,
        "    server.run()",
    ]
    text = "\n".join(body)
    annotated = ("Annotated",) if "Annotated[" in text else ()
    imports = [
        "from collections.abc import AsyncGenerator",
        "from contextlib import asynccontextmanager",
        typing_line(text, *annotated),
        "",
        "from mcp.server.fastmcp import Context, FastMCP",
        "from mcp.server.fastmcp.exceptions import ToolError",
        "from mcp.server.session import ServerSession",
        "from mcp.types import ToolAnnotations",
        *(["from pydantic import Field"] if annotated else []),
        "",
        "from footpath import AsyncFootpath",
    ]
    return _whole(program, imports, text)


def langgraph_file(program: ExportedProgram) -> str:
    """Render a module whose ``node`` builds a LangGraph node from an open store.

    The node reads the inputs from the graph's state and returns the answer, its outcome and its error. The store is a
    parameter because the nodes of a graph share one.
    """
    told = [_free(name, program) for name in ("answer", "outcome", "error")]
    body = [
        *constants(program),
        "",
        "",
        "# The inputs, those with a default optional, and what became of it. A class would change names that begin with two underscores.",
        'State = TypedDict("State", {',
        *(f"    {one.name!r}: {one.kind}," for one in inputs_of(program, ())),
        *(f"    {one!r}: str," for one in told),
        "}, total=False)",
        "",
        "",
        "def node(footpath: AsyncFootpath) -> Callable[[State], Awaitable[State]]:",
        docstring("A node as StateGraph.add_node takes it. Nodes of one graph share one open store.", indent="    "),
        "",
        f"    async def {program.name}(state: State) -> State:",
        "        values: dict[str, Any] = {name: value for name, value in state.items() if name in INPUTS}",
        f"        answer = {run(program, 'values')}",
        f'        return {{"{told[0]}": answer.text, "{told[1]}": answer.outcome, "{told[2]}": answer.error}}',
        "",
        f"    return {program.name}",
    ]
    text = "\n".join(body)
    imports = [
        "from collections.abc import Awaitable, Callable",
        typing_line(text, "TypedDict"),
        "",
        "from footpath import AsyncFootpath",
    ]
    return _whole(program, imports, text)


def _free(name: str, program: ExportedProgram) -> str:
    """Return a state key for a result, with a suffix if an input has that name."""
    while name in program.inputs:
        name += "_of_program"
    return name


def _whole(program: ExportedProgram, imports: list[str], text: str) -> str:
    """Join docstring, imports and body to a module."""
    return "\n".join((docstring(program.words, "\n".join(ABOUT)), "", *imports, "", text, ""))


def _parameters(first: str, inputs: list[Input]) -> str:
    own = [f"{one.parameter}: {one.kind}{f' = {one.default}' if one.default else ''}" for one in inputs]
    return ", ".join((first, *(["*", *own] if own else [])))


def _values(inputs: list[Input]) -> str:
    return "{" + ", ".join(f"{one.name!r}: {one.parameter}" for one in inputs) + "}"


def _described(one: Input) -> Input:
    """Put an input's description into its annotation, where FastMCP looks for it."""
    if not one.description:
        return one
    kind = f"Annotated[{one.kind}, Field(description={one.description!r})]"
    return Input(one.name, one.parameter, kind, one.default, one.description)


def _option(one: Input) -> str:
    """Render the arguments of ``add_argument`` for an input: texts are taken as they are, other values as JSON."""
    told = [repr(f"--{one.name}"), f"dest={one.parameter!r}"]
    told += [] if _is_text(one.kind) else ["type=json.loads"]
    told.append(f"default={one.default}" if one.default else "required=True")
    told += [f"help={one.description.replace('%', '%%')!r}"] if one.description else []
    return ", ".join(told)


def _is_text(kind: str) -> bool:
    kind = kind.removesuffix(" | None")
    return kind == "str" or (kind.startswith(("Literal['", 'Literal["')) and "|" not in kind)
