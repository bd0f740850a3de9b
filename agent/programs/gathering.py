"""Goes back from an expression of a program to what its value is made of: over names, functions, loops and tests, to calls, constants and inputs."""

import ast
from collections.abc import Collection
from typing import Literal

from agent.programs.control_flow import ControlFlow
from agent.programs.definitions import Definition, Definitions, Place
from agent.programs.earlier import EARLIER
from agent.programs.protocol import ASK

PartKind = Literal["call", "error", "asked", "item", "name", "constant"]
"""``call``: of a tool, for what it answers; ``error``: the name of a tool, for what its error says. ``asked``: a question to the user, for its answer.
``item``: of the list of earlier results, the one that stands there. ``name``: one that the program itself gives no value."""


class Gathering:
    """What the values of some expressions are made of, where they are used at one place; each part is looked at once.

    ``parts``: each with what it is. ``conditions``: on which it depends which value it is; ``lines`` of the place's cell that have to do with it. ``rounds``: what loops go over
    counts, too, since it decides how often something is done.
    """

    def __init__(
        self,
        found: Definitions,
        tools: Collection[str],
        site: Place,
        *,
        rounds: bool = True,
        control: ControlFlow | None = None,
    ) -> None:
        """``control``: what decides that a value is this one counts as a part of it, whatever stands in it."""
        self._found = found
        self._tools = tools
        self._site = site
        self._rounds = rounds
        self._control = control
        self.parts: dict[ast.expr, PartKind] = {}
        self._seen = set[ast.AST]()
        self._contents = set[str]()
        self._defined = set[Definition]()
        self._left: list[ast.AST] = []
        self.conditions: list[ast.expr] = []
        self.lines: set[int] = set()

    def take(self, whole: ast.AST, site: Place | None = None) -> None:
        """Gather from one expression. ``site``: another place where it is used, before the place of what was taken until now."""
        self._site = site or self._site
        self._left.append(whole)
        while self._left:
            part = self._left.pop()
            if part not in self._seen:
                self._seen.add(part)
                self._part(part)

    def _part(self, part: ast.AST) -> None:
        match part:
            case ast.Name(ctx=ast.Load()):
                self._name(part)
            case ast.Call():
                self._call(part)
            case ast.Constant():
                self._constant(part)
            case ast.Subscript(ast.Name() as held, ast.Constant(int())) if self._is_earlier(held):
                self.parts[part] = "item"
            case ast.Subscript():
                self._left += [part.value] if _selects(part.slice) else [part.value, part.slice]
            case ast.FormattedValue():
                self._left.append(part.value)
            case ast.IfExp():
                self.conditions.append(part.test)
                self._left += [part.test, part.body, part.orelse]
            case ast.Lambda():
                self._left.append(part.body)
            case ast.comprehension():
                self.conditions += part.ifs
                self._left += [*([part.iter] if self._rounds else []), *part.ifs]
            case _:
                self._left += ast.iter_child_nodes(part)

    def _call(self, call: ast.Call) -> None:
        """A tool's answer is what it is; a function of the program is what it returns; everything else is made of what is given to it."""
        values = [*call.args, *(one.value for one in call.keywords)]
        match call.func:
            case ast.Name() as name if self._is_tool(name):
                self.parts[call] = "call"
            case ast.Name() as name if self._found.function(name):
                self._name(name)
            case ast.Name(id=name) if name == ASK:
                self.parts[call] = "asked"
                self._left += values
            case ast.Attribute(value=held, attr="get"):
                self._left += [held, *(value for number, value in enumerate(values) if number or not _selects(value))]
            case ast.Attribute(value=held):
                self._left += [held, *values]
            case other:
                self._left += [other, *values]

    def _is_earlier(self, name: ast.Name) -> bool:
        return name.id == EARLIER and not self._found.known(self._found.names[name])

    def _is_tool(self, name: ast.Name) -> bool:
        means = self._found.names.get(name)
        return name.id in self._tools and (means is None or not self._found.known(means))

    def _name(self, name: ast.Name) -> None:
        if self._control is not None:
            if name not in self._found.names:  # of an annotation, or one that stands for anything
                self.parts[name] = "name"
                return
            if name.id not in self._contents:
                self._contents.add(name.id)
                self._left += self._control.deciding_contents(name.id)
            if function := self._found.function(name):
                self._left += self._control.within(function)
        if self._found.known(self._found.names[name]):
            for definition in self._found.reaching(name, self._site):
                self._definition(definition)
        else:
            self.parts[name] = "call" if name.id in self._tools else "name"

    def _definition(self, definition: Definition) -> None:
        place = definition.place
        if self._control is not None and definition not in self._defined:
            self._defined.add(definition)
            for value in definition.values:
                self._left += self._control.deciding_value(value)
                self._left += self._control.within(value) if definition.raised else ()
        if place.cell == self._site.cell:
            self.lines |= {getattr(part, "lineno", 0) for part in definition.values} - {0}
        if definition.raised:
            self._errors(definition)
            return
        self._left += definition.values
        tests = [one for one in place.tests if one not in self._site.tests]
        self.conditions += tests
        rounds = place.rounds if self._rounds else ()
        self._left += [*tests, *(one for one in rounds if one not in self._site.rounds)]

    def _errors(self, definition: Definition) -> None:
        """What an error says was said by one of the tools that are called there."""
        left, seen = list(definition.values), set[ast.AST]()
        while left:
            part = left.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, ast.Name) and part in self._found.names:
                if self._is_tool(part):
                    self.parts[part] = "error"
                elif function := self._found.function(part):
                    left.append(function)
            left += ast.iter_child_nodes(part)

    def _constant(self, constant: ast.Constant) -> None:
        if isinstance(constant.value, (str, int, float)) and any(char.isalnum() for char in str(constant.value)):
            self.parts[constant] = "constant"


def _selects(index: ast.expr) -> bool:
    """Whether an index is fixed, so that nothing comes in by it."""
    match index:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice():
            return all(one is None or _selects(one) for one in (index.lower, index.upper, index.step))
        case _:
            return False
