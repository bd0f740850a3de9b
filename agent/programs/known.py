"""What the author of a program is shown of programs that served such requests before."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from domain.model import JsonObject
from domain.python_source import parse_module
from domain.solution import Solution
from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """A solution's program. ``serves``: a request of its kind, the names of its inputs in braces; ``inputs``: their JSON Schemas.

    ``tainted``: as of its program; so is what is written after it was shown.
    """

    serves: str
    inputs: Mapping[str, JsonObject]
    text: str
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """``programs``: best first. ``chosen``: there is one, and it was chosen as that to write after. ``path``: names of functions that were proposed
    to be called, in order, where none was.
    """

    programs: tuple[KnownProgram, ...] = ()
    chosen: bool = False
    path: tuple[str, ...] = ()

    @property
    def tainted(self) -> bool:
        """Whether a text that is written with them in view is."""
        return any(one.tainted for one in self.programs)


NOTHING = Known()


def known_program(solution: Solution, pattern: str, names: Mapping[str, ToolId]) -> KnownProgram:
    """A solution as it is shown to an author who is offered functions of these ``names``."""
    plan = solution.plan
    by_tool = {tool: name for name, tool in names.items()}
    called = {name: by_tool.get(tool, name) for name, tool in plan.program.tools.items()}
    return KnownProgram(pattern, plan.inputs, called_as(plan.program.text, called), plan.program.tainted)


def called_as(text: str, names: Mapping[str, str]) -> str:
    """A text whose functions go by the names that they have in an offer; where none has another, as it stands."""
    if all(name == other for name, other in names.items()):
        return text
    tree = parse_module(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)
