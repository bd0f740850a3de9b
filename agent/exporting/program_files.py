"""Export of a program as a Python module, an MCP server or a LangGraph node over the library ``footpath``.

The same program always gives the same text. Descriptions and names come from foreign documents, so they are escaped:
none may end its literal and become code.
"""

import keyword
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.exporting.exported_program import ExportedProgram
from agent.plans.plan_inputs import to_tool_parameter
from agent.programs.type_annotations import FieldPath, render_annotation
from domain.model import JsonObject
from graph.shapes import JsonShape, read_schema_shape

ABOUT_LINES = (
    "Exported by Footpath. The library footpath checks and runs the program below over the store that the settings name",
    "(FOOTPATH_STORE); keys and hosts are settings of that store as well, and none stands here.",
)


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """A parameter of the exported function."""

    name: str
    """Name of the program's input."""
    parameter: str
    """Name of the function's parameter, which differs if ``name`` is not allowed there."""
    annotation: str
    """Type annotation."""
    default: str
    """Default as a Python expression; empty if the input is required."""
    description: str


def build_parameters(program: ExportedProgram, reserved_names: Collection[str]) -> list[FunctionParameter]:
    """Return the function's parameters; none has a name that is in ``reserved_names``."""
    parameters: list[FunctionParameter] = []
    for name, schema in program.inputs.items():
        parameter = name.lstrip("_") or "value"  # FastMCP accepts no parameter that begins with an underscore
        while not parameter.isidentifier() or keyword.iskeyword(parameter):
            parameter = f"value_{parameter}"
        while parameter in reserved_names or any(earlier.parameter == parameter for earlier in parameters):
            parameter += "_"
        default = repr(schema["default"]) if "default" in schema else ""
        parameters.append(
            FunctionParameter(
                name, parameter, render_input_annotation(name, schema), default, str(schema.get("description", ""))
            )
        )
    return parameters


def render_input_annotation(name: str, schema: JsonObject) -> str:
    """Render the type annotation of an input from its JSON Schema."""
    shape = read_schema_shape(build_value_schema(to_tool_parameter(name, schema)))
    return render_annotation(shape, _PlainDictWriter())


@dataclass(frozen=True, slots=True)
class _PlainDictWriter:
    """Annotation writer that renders objects as ``dict[str, Any]``: the exported schemas describe their fields."""

    literal_limit: int = 400
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"

    def write_object(self, shape: JsonShape, path: FieldPath) -> str:
        """Return ``dict[str, Any]``, whatever the object's fields are."""
        del shape, path
        return self.any_object


def render_docstring(*paragraphs: str, indent: str = "") -> str:
    """Render a docstring; quotes, backslashes and unprintable characters are escaped, so that no text can end it."""
    text = "\n\n".join(paragraphs).replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(
        character if character.isprintable() or character == "\n" else _escape(character) for character in text
    )
    body = text.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")
    end = f"\n{indent}" if "\n" in body else ""
    return f'{indent}"""{body}{end}"""'


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def render_constants(program: ExportedProgram) -> Iterator[str]:
    """Yield the constants of a module: the program, its tools and the schemas of its inputs."""
    yield f"PROGRAM = {_render_text_literal(program.plan.program.text)}"
    functions = program.plan.program.tools
    yield _render_dict_constant("TOOLS: dict[str, str] = ", {name: str(functions[name]) for name in sorted(functions)})
    yield _render_dict_constant("INPUTS: dict[str, dict[str, Any]] = ", dict(program.inputs))
    if not program.is_read_only:
        yield '# "allow": what changes something is done without anybody being asked.'
        yield 'CHANGES: Literal["deny", "allow"] = "deny"'


def render_run_call(program: ExportedProgram, values: str) -> str:
    """Render the call that runs the program; ``values`` is the expression of its inputs."""
    changes = "" if program.is_read_only else ", changes=CHANGES"
    return f"await footpath.run_program(PROGRAM, {values}, inputs=INPUTS, tools=TOOLS{changes})"


def render_typing_import(text: str, *required_names: str) -> str:
    """Render the import of the names that a module uses from ``typing``; those in ``required_names`` are added."""
    names = sorted({*required_names, *(name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", text))})
    return f"from typing import {', '.join(names)}"


def _render_dict_constant(head: str, value: Mapping[str, JsonValue | JsonObject]) -> str:
    """Render a constant dict with one line per entry; entries of nested dicts get lines of their own."""
    lines = list[str]()
    for name, entry in value.items():
        if isinstance(entry, dict):
            inner = [f"        {key!r}: {part!r}," for key, part in entry.items()]
            lines += [f"    {name!r}: {{", *inner, "    },"] if inner else [f"    {name!r}: {{}},"]
        else:
            lines.append(f"    {name!r}: {entry!r},")
    return "\n".join((f"{head}{{", *lines, "}")) if lines else f"{head}{{}}"


def _render_text_literal(text: str) -> str:
    """Render a text as a literal: in triple quotes if nothing in it needs escaping, else line by line."""
    needs_no_escape = '"""' not in text and "\\" not in text and not text.endswith('"')
    if needs_no_escape and all(character.isprintable() or character == "\n" for character in text):
        return f'"""\\\n{text}"""'
    lines = "\n".join(f"    {line!r}" for line in text.splitlines(keepends=True))
    return f"(\n{lines}\n)"


_LIBRARY_NAMES = frozenset(
    {"Any", "AsyncFootpath", "CHANGES", "INPUTS", "Literal", "PROGRAM", "TOOLS", "asyncio", "footpath", "answer"}
)
_MAIN_GUARD = 'if __name__ == "__main__":'


def render_python_module(program: ExportedProgram) -> str:
    """Render a module with one function that can also be run from the command line."""
    inputs = build_parameters(program, _LIBRARY_NAMES | {"Answer", "argparse", "json", "main", "given", program.name})
    help_option = ", add_help=False" if "help" in program.inputs else ""
    body = [
        *render_constants(program),
        "",
        "",
        f"async def {program.name}({_render_parameters('footpath: AsyncFootpath', inputs)}) -> Answer:",
        render_docstring(
            "What it comes to over an open store; its outcome says whether it was answered.", indent="    "
        ),
        f"    return {render_run_call(program, _render_values(inputs))}",
        "",
        "",
        "async def main() -> None:",
        render_docstring("Run it with what the command line says.", indent="    "),
        f"    parser = argparse.ArgumentParser(description={program.words.replace('%', '%%')!r}{help_option})",
        *(f"    parser.add_argument({_render_option(parameter)})" for parameter in inputs),
        "    given = vars(parser.parse_args())",
        "    async with AsyncFootpath.open() as footpath:",
        f"        answer = await {program.name}(footpath, **given)",
        "    print(answer.text or answer.error)",
        "",
        "",
        _MAIN_GUARD,
        "    asyncio.run(main())",
    ]
    text = "\n".join(body)
    modules = ["argparse", "asyncio", *(["json"] if "json.loads" in text else [])]
    imports = [
        *(f"import {module}" for module in modules),
        render_typing_import(text),
        "",
        "from footpath import Answer, AsyncFootpath",
    ]
    return _join_module(program, imports, text)


def render_mcp_server(program: ExportedProgram) -> str:
    """Render an MCP server with one tool, on standard input and output."""
    imported_names = {
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
    inputs = build_parameters(
        program, _LIBRARY_NAMES | imported_names | {"asynccontextmanager", "context", "opened", "server", program.name}
    )
    annotated_inputs = [_annotate_description(parameter) for parameter in inputs]
    hint = f"ToolAnnotations(readOnlyHint={program.is_read_only})"
    body = [
        *render_constants(program),
        "",
        "",
        "@asynccontextmanager",
        "async def opened(server: FastMCP[AsyncFootpath]) -> AsyncGenerator[AsyncFootpath]:",
        render_docstring("The store, open as long as the server serves.", indent="    "),
        "    del server",
        "    async with AsyncFootpath.open() as footpath:",
        "        yield footpath",
        "",
        "",
        f"server: FastMCP[AsyncFootpath] = FastMCP({program.name!r}, lifespan=opened)",
        "",
        "",
        f"@server.tool({program.name!r}, description={program.words!r}, annotations={hint})",
        f"async def {program.name}({_render_parameters('context: Context[ServerSession, AsyncFootpath, Any]', annotated_inputs)}) -> str:",
        render_docstring("What it answers; an error of the tool where it does not.", indent="    "),
        "    footpath = context.request_context.lifespan_context",
        f"    answer = {render_run_call(program, _render_values(inputs))}",
        "    if not answer.ok:",
        "        raise ToolError(answer.error or answer.text or answer.outcome)",
        "    return answer.text",
        "",
        "",
        _MAIN_GUARD,
        "    server.run()",
    ]
    text = "\n".join(body)
    annotated_import = ("Annotated",) if "Annotated[" in text else ()
    imports = [
        "from collections.abc import AsyncGenerator",
        "from contextlib import asynccontextmanager",
        render_typing_import(text, *annotated_import),
        "",
        "from mcp.server.fastmcp import Context, FastMCP",
        "from mcp.server.fastmcp.exceptions import ToolError",
        "from mcp.server.session import ServerSession",
        "from mcp.types import ToolAnnotations",
        *(["from pydantic import Field"] if annotated_import else []),
        "",
        "from footpath import AsyncFootpath",
    ]
    return _join_module(program, imports, text)


def render_langgraph_node(program: ExportedProgram) -> str:
    """Render a module whose ``node`` builds a LangGraph node from an open store.

    The node reads the inputs from the graph's state and returns the answer, its outcome and its error. The store is a
    parameter because the nodes of a graph share one.
    """
    result_keys = [_find_free_key(name, program) for name in ("answer", "outcome", "error")]
    body = [
        *render_constants(program),
        "",
        "",
        "# The inputs, those with a default optional, and what became of it. A class would change names that begin with two underscores.",
        'State = TypedDict("State", {',
        *(f"    {parameter.name!r}: {parameter.annotation}," for parameter in build_parameters(program, ())),
        *(f"    {key!r}: str," for key in result_keys),
        "}, total=False)",
        "",
        "",
        "def node(footpath: AsyncFootpath) -> Callable[[State], Awaitable[State]]:",
        render_docstring(
            "A node as StateGraph.add_node takes it. Nodes of one graph share one open store.", indent="    "
        ),
        "",
        f"    async def {program.name}(state: State) -> State:",
        "        values: dict[str, Any] = {name: value for name, value in state.items() if name in INPUTS}",
        f"        answer = {render_run_call(program, 'values')}",
        f'        return {{"{result_keys[0]}": answer.text, "{result_keys[1]}": answer.outcome, "{result_keys[2]}": answer.error}}',
        "",
        f"    return {program.name}",
    ]
    text = "\n".join(body)
    imports = [
        "from collections.abc import Awaitable, Callable",
        render_typing_import(text, "TypedDict"),
        "",
        "from footpath import AsyncFootpath",
    ]
    return _join_module(program, imports, text)


def _find_free_key(name: str, program: ExportedProgram) -> str:
    """Return a state key for a result, with a suffix if an input has that name."""
    while name in program.inputs:
        name += "_of_program"
    return name


def _join_module(program: ExportedProgram, imports: list[str], body: str) -> str:
    """Join docstring, imports and body to a module."""
    return "\n".join((render_docstring(program.words, "\n".join(ABOUT_LINES)), "", *imports, "", body, ""))


def _render_parameters(first: str, inputs: list[FunctionParameter]) -> str:
    parameters = [
        f"{parameter.parameter}: {parameter.annotation}{f' = {parameter.default}' if parameter.default else ''}"
        for parameter in inputs
    ]
    return ", ".join((first, *(["*", *parameters] if parameters else [])))


def _render_values(inputs: list[FunctionParameter]) -> str:
    return "{" + ", ".join(f"{parameter.name!r}: {parameter.parameter}" for parameter in inputs) + "}"


def _annotate_description(parameter: FunctionParameter) -> FunctionParameter:
    """Put an input's description into its annotation, where FastMCP looks for it."""
    if not parameter.description:
        return parameter
    annotation = f"Annotated[{parameter.annotation}, Field(description={parameter.description!r})]"
    return FunctionParameter(parameter.name, parameter.parameter, annotation, parameter.default, parameter.description)


def _render_option(parameter: FunctionParameter) -> str:
    """Render the arguments of ``add_argument`` for an input: texts are taken as they are, other values as JSON."""
    arguments = [repr(f"--{parameter.name}"), f"dest={parameter.parameter!r}"]
    arguments += [] if _is_text_annotation(parameter.annotation) else ["type=json.loads"]
    arguments.append(f"default={parameter.default}" if parameter.default else "required=True")
    arguments += [f"help={parameter.description.replace('%', '%%')!r}"] if parameter.description else []
    return ", ".join(arguments)


def _is_text_annotation(annotation: str) -> bool:
    annotation = annotation.removesuffix(" | None")
    return annotation == "str" or (annotation.startswith(("Literal['", 'Literal["')) and "|" not in annotation)


ExportForm = Literal["python", "mcp", "langgraph"]
EXPORT_FORMS: tuple[ExportForm, ...] = get_args(ExportForm)

_RENDERERS: dict[ExportForm, tuple[str, Callable[[ExportedProgram], str]]] = {
    "python": ("{}.py", render_python_module),
    "mcp": ("{}_server.py", render_mcp_server),
    "langgraph": ("{}_node.py", render_langgraph_node),
}


@dataclass(frozen=True, slots=True)
class ExportedProgramFile:
    """An exported program."""

    file: str
    """Suggested file name."""
    text: str
    """Content of the file."""


def render_exported_file(program: ExportedProgram, form: ExportForm) -> ExportedProgramFile:
    """Render a program in one of the forms."""
    name, render = _RENDERERS[form]
    return ExportedProgramFile(name.format(program.name), render(program))
