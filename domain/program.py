"""Programs: plans as short Python texts over async functions, one per offered tool (docs/programs.md)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId

Answered = Literal["yes", "partly", "no"]
"""How far a program says that it serves its request."""


class Program(Model):
    """A text that has passed all checks, with what its names mean: the same text runs again over what was recorded.

    ``tools``: the functions that it may call, each with its tool. ``arguments``: by function, the names of its parameters to those of the
    tool. ``stubs``: the functions' declarations, for the type check. ``tainted``: it was written after foreign data was shown to its author:
    each of its changes asks, whatever its user's list says.
    """

    text: str
    tools: dict[str, ToolId]
    arguments: dict[str, dict[str, str]] = Field(default_factory=dict[str, dict[str, str]])
    stubs: str = ""
    tainted: bool = False

    def over(self, cells: "Sequence[Program]") -> "Program":
        """The same text after these cells, whose functions call what they could call."""
        known = (*cells, self)
        tools = {name: tool for one in known for name, tool in one.tools.items()}
        arguments = {name: names for one in known for name, names in one.arguments.items()}
        return self.model_copy(update={"tools": tools, "arguments": arguments})


class ProgramPlan(Model):
    """A program with typed inputs: the one form of a plan, a template and a run's program that people read, edit, approve and keep.

    ``inputs``: names that the text uses and that are given before it runs, each with its JSON Schema; one with a ``default`` may be left out.
    ``values``: those of one run. A value that a person left open is written ``fill()`` in the text, the item of a list that the request names
    ``named(items)``; both are found when the program comes to them.
    """

    program: Program
    inputs: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
    values: JsonObject = Field(default_factory=dict)
