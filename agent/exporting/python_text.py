"""The parts that exported Python files share: constants, types of inputs, documentation; whatever words are in them, they stay words."""

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
    """``name``: of the program; ``parameter``: of the function, which may have to be another. ``kind``: its type; ``default``: as an expression, empty
    where it has to be given.
    """

    name: str
    parameter: str
    kind: str
    default: str
    description: str


def inputs_of(program: ExportedProgram, taken: Collection[str]) -> list[Input]:
    """The inputs of a function, none of which has a name that is ``taken``."""
    found: list[Input] = []
    for name, schema in program.inputs.items():
        parameter = name.lstrip("_") or "value"  # FastMCP takes no parameter that begins with one
        while not parameter.isidentifier() or keyword.iskeyword(parameter):
            parameter = f"value_{parameter}"
        while parameter in taken or any(one.parameter == parameter for one in found):
            parameter += "_"
        default = repr(schema["default"]) if "default" in schema else ""
        found.append(Input(name, parameter, kind_of(name, schema), default, str(schema.get("description", ""))))
    return found


def kind_of(name: str, schema: JsonObject) -> str:
    """The type of an input."""
    shape = read_schema_shape(build_value_schema(build_parameter(name, schema)))
    return render_annotation(shape, _Plain())


@dataclass(frozen=True, slots=True)
class _Plain:
    """Objects without types of their own: their schema says what they may be."""

    values: int = 400
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"

    def object(self, shape: JsonShape, place: Place) -> str:
        """The type of an object."""
        del shape, place
        return self.any_object


def docstring(*paragraphs: str, indent: str = "") -> str:
    """Words as a documentation that nothing in them can end."""
    text = "\n\n".join(paragraphs).replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(one if one.isprintable() or one == "\n" else _escape(one) for one in text)
    body = text.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")
    end = f"\n{indent}" if "\n" in body else ""
    return f'{indent}"""{body}{end}"""'


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def constants(program: ExportedProgram) -> Iterator[str]:
    """The program, its tools and its inputs."""
    yield f"PROGRAM = {_text(program.plan.program.text)}"
    functions = program.plan.program.tools
    yield _assigned("TOOLS: dict[str, str] = ", {name: str(functions[name]) for name in sorted(functions)})
    yield _assigned("INPUTS: dict[str, dict[str, Any]] = ", dict(program.inputs))
    if not program.reads:
        yield '# "allow": what changes something is done without anybody being asked.'
        yield 'CHANGES: Literal["deny", "allow"] = "deny"'


def run(program: ExportedProgram, values: str) -> str:
    """The call that runs it."""
    changes = "" if program.reads else ", changes=CHANGES"
    return f"await footpath.run_program(PROGRAM, {values}, inputs=INPUTS, tools=TOOLS{changes})"


def typing_line(text: str, *always: str) -> str:
    """The import of what a text uses of ``typing``."""
    names = sorted({*always, *(one for one in ("Any", "Literal") if re.search(rf"\b{one}\b", text))})
    return f"from typing import {', '.join(names)}"


def _assigned(head: str, value: Mapping[str, JsonValue | JsonObject]) -> str:
    """A constant, a line for each of its parts and each of theirs."""
    lines = list[str]()
    for name, one in value.items():
        if isinstance(one, dict):
            inner = [f"        {key!r}: {part!r}," for key, part in one.items()]
            lines += [f"    {name!r}: {{", *inner, "    },"] if inner else [f"    {name!r}: {{}},"]
        else:
            lines.append(f"    {name!r}: {one!r},")
    return "\n".join((f"{head}{{", *lines, "}")) if lines else f"{head}{{}}"


def _text(text: str) -> str:
    """A text as it is read, where it can stand so."""
    plain = '"""' not in text and "\\" not in text and not text.endswith('"')
    if plain and all(one.isprintable() or one == "\n" for one in text):
        return f'"""\\\n{text}"""'
    lines = "\n".join(f"    {one!r}" for one in text.splitlines(keepends=True))
    return f"(\n{lines}\n)"
