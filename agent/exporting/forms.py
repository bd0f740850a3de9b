"""The forms that a program is exported in, each a text that is the same whenever the program is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from agent.exporting.exported import ExportedProgram
from agent.exporting.python_files import langgraph_file, mcp_file, python_file

Form = Literal["python", "mcp", "langgraph"]
FORMS: tuple[Form, ...] = get_args(Form)

_WRITERS: dict[Form, tuple[str, Callable[[ExportedProgram], str]]] = {
    "python": ("{}.py", python_file),
    "mcp": ("{}_server.py", mcp_file),
    "langgraph": ("{}_node.py", langgraph_file),
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """``file``: what it may be called."""

    file: str
    text: str


def written(program: ExportedProgram, form: Form) -> ExportedFile:
    """Write a program in a form."""
    name, write = _WRITERS[form]
    return ExportedFile(name.format(program.name), write(program))
