"""The forms that a program is exported in, each a text that is the same whenever the program is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_workflow import n8n_workflow
from agent.exporting.python_files import langgraph_file, mcp_file, python_file

Form = Literal["python", "mcp", "langgraph", "n8n"]
FORMS: tuple[Form, ...] = get_args(Form)

_WRITERS: dict[Form, tuple[str, Callable[[ExportedProgram], str]]] = {
    "python": ("{}.py", python_file),
    "mcp": ("{}_server.py", mcp_file),
    "langgraph": ("{}_node.py", langgraph_file),
    "n8n": ("{}.n8n.json", n8n_workflow),
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """``file``: what it may be called."""

    file: str
    text: str


def written(program: ExportedProgram, form: Form) -> ExportedFile:
    """A program in a form.

    Raises:
        NotLinearError: a workflow of n8n cannot say what it does; the message says where.
        UsageError: a tool that it calls cannot be called from there.
    """
    name, write = _WRITERS[form]
    return ExportedFile(name.format(program.name), write(program))
