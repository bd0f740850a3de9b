"""The calls of a program in one form, whatever its author named and however it is laid out, and which fields of responses go into them.

In the form in which programs are compared by what they call, a name stands for what it holds: a response is known by its function and how many of that function's came before (``search#0``), an item of a
list by the list. So order of keyword arguments, names, helper variables, attributes for keys (``a.b`` for ``a["b"]``), ``await``, loops for
comprehensions and conversions of a whole argument between text and number make no difference.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.source_text import parse_source, try_parse_source

_CONVERSIONS = ("str", "int", "float")
_FIRST = "first"
"""The helper that programs are given for the first of a list."""


@dataclass(frozen=True, slots=True)
class CodeCall:
    """A call. ``arguments``: by parameter, in the one form. ``uses``: the places of the calls whose responses go into them."""

    function: str
    arguments: Mapping[str, str]
    uses: frozenset[int]


@dataclass(frozen=True, slots=True)
class Function:
    """``name``: as it is compared. ``parameters``: in order, by the names that the program has for them."""

    name: str
    parameters: Mapping[str, str]


def code_calls(text: str, functions: Mapping[str, Function]) -> list[CodeCall]:
    """The calls of these functions in the order in which they are made, a loop's once. ``functions``: by the names that the program has.

    Raises:
        SyntaxError: it is no Python.
    """
    reader = _Reader(functions)
    for statement in parse_source(text).tree.body:
        reader.statement(statement)
    return reader.calls


@dataclass(slots=True)
class _Reader:
    functions: Mapping[str, Function]
    calls: list[CodeCall] = field(default_factory=list[CodeCall])
    _held: dict[str, str] = field(default_factory=dict[str, str])
    _gathers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _numbers: Counter[str] = field(default_factory=Counter[str])
    _places: dict[str, int] = field(default_factory=dict[str, int])

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (made := _gathered(value)) is not None:
                self._gathers[name] = forms = [self.form(one) for one in made]
                self._held[name] = _listed(forms)
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=value) if (
                made := self._several(value)
            ) is not None:
                for name, one in zip(names, made, strict=False):
                    self._name(name, one)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._name(target, self.form(value))
            case ast.For(target=target, iter=value, body=body, orelse=rest):
                self._name(target, f"each({self.form(value)})")
                self._all([*body, *rest])
            case ast.Return(value=None):
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._all(node.body)
            case _:
                for part in ast.iter_child_nodes(node):
                    self._part(part)

    def _several(self, node: ast.expr) -> Sequence[str] | None:
        """The forms of what was gathered, here or under a name before; None where nothing was."""
        match node:
            case ast.Name(id=name):
                return self._gathers.get(name)
            case _:
                made = _gathered(node)
                return None if made is None else [self.form(one) for one in made]

    def _part(self, node: ast.AST) -> None:
        match node:
            case ast.stmt():
                self.statement(node)
            case ast.expr():
                self.form(node)
            case _:
                for inner in ast.iter_child_nodes(node):
                    self._part(inner)

    def _all(self, body: Sequence[ast.stmt]) -> None:
        for one in body:
            self.statement(one)

    def _name(self, target: ast.expr, form: str) -> None:
        match target:
            case ast.Name(id=name):
                self._gathers.pop(name, None)
                self._held[name] = form
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for place, part in enumerate(parts):
                    self._name(part, f"{form}[{place}]")
            case _:
                self.form(target)

    def form(self, node: ast.expr) -> str:
        """An expression in the one form; the calls in it are noted."""
        match node:
            case ast.Await(value=value):
                return self.form(value)
            case ast.Name(id=name):
                return self._held.get(name, name)
            case ast.Constant(value=value):
                return repr(value)
            case ast.Attribute(value=value, attr=name):
                return f"{self.form(value)}[{name!r}]"
            case ast.Subscript(value=value, slice=ast.Constant(value=int(at))) if made := self._several(value):
                return made[at] if -len(made) <= at < len(made) else f"{_listed(made)}[{at}]"
            case ast.BoolOp(
                op=ast.Or(), values=[value, ast.Dict(keys=[]) | ast.List(elts=[]) | ast.Constant(value=None | "" | 0)]
            ):
                return self.form(value)
            case ast.Subscript(value=value, slice=key):
                return f"{self.form(value)}[{self.form(key)}]"
            case ast.Call():
                return self._call(node)
            case ast.IfExp(test=test, body=body, orelse=ast.Constant(value=None | "" | 0)):
                self.form(test)
                return self.form(body)
            case ast.ListComp(elt=element, generators=loops) | ast.GeneratorExp(elt=element, generators=loops):
                return self._comprehension(element, loops)
            case _:
                return self._other(node)

    def _call(self, node: ast.Call) -> str:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return self._noted(name, node)
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]):
                return f"{self.form(value)}[{self.form(key)}]"
            case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name == _FIRST:
                return f"{self.form(value)}[0]"
            case _:
                return self._other(node)

    def _noted(self, name: str, node: ast.Call) -> str:
        function = self.functions[name]
        given = dict(zip(function.parameters, node.args, strict=False))
        given |= {one.arg: one.value for one in node.keywords if one.arg}
        arguments = {function.parameters.get(own, own): self._argument(value) for own, value in given.items()}
        own = f"{function.name}#{self._numbers[function.name]}"
        self._numbers[function.name] += 1
        uses = {place for known, place in self._places.items() if any(known in value for value in arguments.values())}
        self.calls.append(CodeCall(function.name, arguments, frozenset(uses)))
        self._places[f"<{own}>"] = len(self.calls) - 1
        return f"<{own}>"

    def _argument(self, node: ast.expr) -> str:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name in _CONVERSIONS:
                return self._argument(value)
            case _:
                return self.form(node)

    def _comprehension(self, element: ast.expr, loops: Collection[ast.comprehension]) -> str:
        before = dict(self._held)
        conditions: list[str] = []
        for loop in loops:
            self._name(loop.target, f"each({self.form(loop.iter)})")
            conditions += [self.form(one) for one in loop.ifs]
        found = f"[{self.form(element)}{''.join(f' if {one}' for one in conditions)}]"
        self._held = before
        return found

    def _other(self, node: ast.expr) -> str:
        """Whatever else: its kind with its parts in order."""
        parts = [self._inner(part) for part in ast.iter_child_nodes(node)]
        return f"{type(node).__name__}({', '.join(part for part in parts if part)})"

    def _inner(self, node: ast.AST) -> str:
        match node:
            case ast.expr():
                return self.form(node)
            case ast.expr_context():
                return ""
            case ast.operator() | ast.cmpop() | ast.unaryop() | ast.boolop():
                return type(node).__name__
            case _:
                return f"{type(node).__name__}({', '.join(filter(None, map(self._inner, ast.iter_child_nodes(node))))})"


def _listed(forms: Sequence[str]) -> str:
    return f"[{', '.join(forms)}]"


def _gathered(node: ast.expr) -> Sequence[ast.expr] | None:
    """What ``await asyncio.gather(…)`` is given one by one; None for anything else."""
    match node:
        case ast.Await(value=ast.Call(func=ast.Attribute(attr="gather"), args=args)) if not any(
            isinstance(one, ast.Starred) for one in args
        ):
            return args
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Dependency:
    """``field`` (its path without places in lists) of what ``source`` answered went into ``parameter`` of ``target``: functions by name."""

    source: str
    field: str
    target: str
    parameter: str


def dependencies(program: str) -> Iterator[Dependency]:
    """The dependencies of a program in Python, statement by statement; what does not parse has none."""
    origins: dict[str, str] = {}
    for statement in _parsed_statements(program):
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        for argument in call.keywords:
            for source, path in _fields_taken(argument.value, {name: (origin, ()) for name, origin in origins.items()}):
                if argument.arg and path:
                    yield Dependency(source, ".".join(path), call.func.id, argument.arg)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            origins[statement.targets[0].id] = call.func.id


def _parsed_statements(program: str) -> Iterator[ast.Assign | ast.Expr]:
    """The statements that parse, line by line where the whole does not."""
    for part in (program,) if _parsed_body(program) is not None else program.splitlines():
        for statement in _parsed_body(part.strip()) or ():
            if isinstance(statement, (ast.Assign, ast.Expr)):
                yield statement


def _parsed_body(text: str) -> list[ast.stmt] | None:
    source = try_parse_source(text)
    return None if source is None else source.tree.body


_Path = tuple[str, tuple[str, ...]]


def _fields_taken(node: ast.expr, origins: Mapping[str, _Path]) -> Iterator[_Path]:
    """The fields of responses that the value of an expression is made of; conditions choose among them and give none."""
    path = _field_path(node, origins)
    if path is not None:
        yield path
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        inside = dict(origins)
        for _ in node.generators:  # some programs have their loops in the wrong order
            for loop in node.generators:
                items = _field_path(loop.iter, inside)
                if items is not None and isinstance(loop.target, ast.Name):
                    inside[loop.target.id] = items
        yield from _fields_taken(node.elt, inside)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _fields_taken(child, origins)


def _field_path(node: ast.expr, origins: Mapping[str, _Path]) -> _Path | None:
    match node:
        case ast.Name(id=name):
            return origins.get(name)
        case ast.Subscript(value=value):
            return _field_path(value, origins)
        case ast.Attribute(value=value, attr=attribute):
            found = _field_path(value, origins)
            return None if found is None else (found[0], (*found[1], attribute))
        case _:
            return None
