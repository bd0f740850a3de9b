"""Export of a program as a Python module, an MCP server or a LangGraph node over the library ``footpath``.

The same program always gives the same text. Descriptions and names come from foreign documents, so they are escaped:
none may end its literal and become code.
"""

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
    """An exported program."""

    file: str
    """Suggested file name."""
    text: str
    """Content of the file."""


def written(program: ExportedProgram, form: Form) -> ExportedFile:
    """Render a program in one of the forms."""
    name, write = _WRITERS[form]
    return ExportedFile(name.format(program.name), write(program))
