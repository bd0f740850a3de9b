"""Source text that the exported Python files share: constants, signatures, docstrings and the call.

Descriptions and names come from foreign documents. They are escaped, so that none can end its literal and become code.
"""

import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.exporting.exported import ExportedProgram
from agent.plans.parameters import build_parameter
from agent.programs.annotations import Place, render_annotation
from domain.model import JsonObject
from graph.shapes import JsonShape, read_schema_shape

ABOUT = (
    "Exported by Footpath. The library footpath checks and runs the program below over the store that the settings name",
    "(FOOTPATH_STORE); keys and hosts are settings of that store as well, and none stands here.",
)


@dataclass(frozen=True, slots=True)
class Input:
    """A parameter of the exported function."""

    name: str
    """Name of the program's input."""
    parameter: str
    """Name of the function's parameter, which differs if ``name`` is not allowed there."""
    kind: str
    """Type annotation."""
    default: str
    """Default as a Python expression; empty if the input is required."""
    description: str


def inputs_of(program: ExportedProgram, taken: Collection[str]) -> list[Input]:
    """Return the function's parameters; none has a name that is in ``taken``."""
    found: list[Input] = []
    for name, schema in program.inputs.items():
        parameter = name.lstrip("_") or "value"  # FastMCP accepts no parameter that begins with an underscore
        while not parameter.isidentifier() or keyword.iskeyword(parameter):
            parameter = f"value_{parameter}"
        while parameter in taken or any(one.parameter == parameter for one in found):
            parameter += "_"
        default = repr(schema["default"]) if "default" in schema else ""
        found.append(Input(name, parameter, kind_of(name, schema), default, str(schema.get("description", ""))))
    return found


def kind_of(name: str, schema: JsonObject) -> str:
    """Render the type annotation of an input from its JSON Schema."""
    shape = read_schema_shape(build_value_schema(build_parameter(name, schema)))
    return render_annotation(shape, _Plain())


@dataclass(frozen=True, slots=True)
class _Plain:
    """Annotation writer that renders objects as ``dict[str, Any]``: the exported schemas describe their fields."""

    values: int = 400
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"

    def object(self, shape: JsonShape, place: Place) -> str:
        """Return ``dict[str, Any]``, whatever the object's fields are."""
        del shape, place
        return self.any_object


def docstring(*paragraphs: str, indent: str = "") -> str:
    """Render a docstring; quotes, backslashes and unprintable characters are escaped, so that no text can end it."""
    text = "\n\n".join(paragraphs).replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(one if one.isprintable() or one == "\n" else _escape(one) for one in text)
    body = text.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")
    end = f"\n{indent}" if "\n" in body else ""
    return f'{indent}"""{body}{end}"""'


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def constants(program: ExportedProgram) -> Iterator[str]:
    """Yield the constants of a module: the program, its tools and the schemas of its inputs."""
    yield f"PROGRAM = {_text(program.plan.program.text)}"
    functions = program.plan.program.tools
    yield _assigned("TOOLS: dict[str, str] = ", {name: str(functions[name]) for name in sorted(functions)})
    yield _assigned("INPUTS: dict[str, dict[str, Any]] = ", dict(program.inputs))
    if not program.reads:
        yield '# "allow": what changes something is done without anybody being asked.'
        yield 'CHANGES: Literal["deny", "allow"] = "deny"'


def run(program: ExportedProgram, values: str) -> str:
    """Render the call that runs the program; ``values`` is the expression of its inputs."""
    changes = "" if program.reads else ", changes=CHANGES"
    return f"await footpath.run_program(PROGRAM, {values}, inputs=INPUTS, tools=TOOLS{changes})"


def typing_line(text: str, *always: str) -> str:
    """Render the import of the names that a module uses from ``typing``; those in ``always`` are added."""
    names = sorted({*always, *(one for one in ("Any", "Literal") if re.search(rf"\b{one}\b", text))})
    return f"from typing import {', '.join(names)}"


def _assigned(head: str, value: Mapping[str, JsonValue | JsonObject]) -> str:
    """Render a constant dict with one line per entry; entries of nested dicts get lines of their own."""
    lines = list[str]()
    for name, one in value.items():
        if isinstance(one, dict):
            inner = [f"        {key!r}: {part!r}," for key, part in one.items()]
            lines += [f"    {name!r}: {{", *inner, "    },"] if inner else [f"    {name!r}: {{}},"]
        else:
            lines.append(f"    {name!r}: {one!r},")
    return "\n".join((f"{head}{{", *lines, "}")) if lines else f"{head}{{}}"


def _text(text: str) -> str:
    """Render a text as a literal: in triple quotes if nothing in it needs escaping, else line by line."""
    plain = '"""' not in text and "\\" not in text and not text.endswith('"')
    if plain and all(one.isprintable() or one == "\n" for one in text):
        return f'"""\\\n{text}"""'
    lines = "\n".join(f"    {one!r}" for one in text.splitlines(keepends=True))
    return f"(\n{lines}\n)"
