"""Programs: plans as short Python texts over async functions, one per offered tool (docs/programs.md)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId

Answered = Literal["yes", "partly", "no"]
"""How far a program says that it answers its request."""


class Program(Model):
    """A program that passed all checks, with the meaning of its names.

    With these, the same text can be replayed over recorded calls.
    """

    text: str
    tools: dict[str, ToolId]
    """The functions that it may call, each with its tool."""
    arguments: dict[str, dict[str, str]] = Field(default_factory=dict[str, dict[str, str]])
    """By function, its parameter names mapped to those of the tool."""
    stubs: str = ""
    """Declarations of the functions, for the type check."""
    tainted: bool = False
    """It was written after its author was shown foreign data.

    Each of its changes therefore needs approval, whatever its user has allowed in general.
    """

    def combine_with(self, cells: "Sequence[Program]") -> "Program":
        """Return this program as a continuation of earlier cells, so that it may call their functions, too."""
        programs = (*cells, self)  # this program comes last, so its own meaning of a name wins
        tools = {name: tool for program in programs for name, tool in program.tools.items()}
        arguments = {name: names for program in programs for name, names in program.arguments.items()}
        return self.model_copy(update={"tools": tools, "arguments": arguments})


class ProgramPlan(Model):
    """A program with typed inputs: the form in which people read, edit, approve and store plans, templates and runs.

    A value that a person left open is written ``fill()`` in the text, and the list item that the request names is written ``named(items)``; both
    are resolved when the program reaches them.
    """

    program: Program
    inputs: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
    """JSON Schemas of the names that are given before it runs; one with a ``default`` may be omitted."""
    values: JsonObject = Field(default_factory=dict)
    """Inputs of one run."""
