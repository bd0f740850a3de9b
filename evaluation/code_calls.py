"""Calls of a program in one canonical form, and the response fields that go into their arguments.

Programs are compared by what they call. In the canonical form a name stands for its value: a response is known by its function and how
many calls of that function came before (``search#0``), an item of a list by the list. So the order of keyword arguments, names, helper
variables, attributes for keys (``a.b`` for ``a["b"]``), ``await``, loops for comprehensions and conversions of a whole argument
between text and number make no difference.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.source_text import parse_source, try_parse_source

_CONVERSIONS = ("str", "int", "float")
_FIRST_HELPER = "first"
"""The helper that programs are given for the first item of a list."""


@dataclass(frozen=True, slots=True)
class CodeCall:
    """A call of a function in a program."""

    function: str
    arguments: Mapping[str, str]
    """Arguments by parameter, in canonical form."""
    uses: frozenset[int]
    """Positions of the calls whose responses go into the arguments."""


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A function that a program may call."""

    name: str
    """The name under which calls are compared."""
    parameters: Mapping[str, str]
    """Parameters in order, by the names that the program uses for them."""


def extract_calls(text: str, functions: Mapping[str, FunctionSignature]) -> list[CodeCall]:
    """Return the calls of these functions in the order in which they are made, those of a loop once.

    Args:
        text: the program.
        functions: by the names that the program uses.

    Raises:
        SyntaxError: the text is not Python.
    """
    reader = _CodeCallReader(functions)
    for statement in parse_source(text).tree.body:
        reader.read_statement(statement)
    return reader.calls


@dataclass(slots=True)
class _CodeCallReader:
    functions: Mapping[str, FunctionSignature]
    calls: list[CodeCall] = field(default_factory=list[CodeCall])
    _forms: dict[str, str] = field(default_factory=dict[str, str])
    _gathered_forms: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _call_counts: Counter[str] = field(default_factory=Counter[str])
    _call_places: dict[str, int] = field(default_factory=dict[str, int])

    def read_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                elements := _find_gathered(value)
            ) is not None:
                self._gathered_forms[name] = forms = [self.normalize(element_form) for element_form in elements]
                self._forms[name] = _format_list(forms)
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=value) if (
                elements := self._read_elements(value)
            ) is not None:
                for name, element_form in zip(names, elements, strict=False):
                    self._bind(name, element_form)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.normalize(value))
            case ast.For(target=target, iter=value, body=body, orelse=rest):
                self._bind(target, f"each({self.normalize(value)})")
                self._read_block([*body, *rest])
            case ast.Return(value=None):
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._read_block(node.body)
            case _:
                for part in ast.iter_child_nodes(node):
                    self._read_part(part)

    def _read_elements(self, node: ast.expr) -> Sequence[str] | None:
        """Return the forms of what was gathered, here or earlier under a name; None if nothing was."""
        match node:
            case ast.Name(id=name):
                return self._gathered_forms.get(name)
            case _:
                elements = _find_gathered(node)
                return None if elements is None else [self.normalize(one) for one in elements]

    def _read_part(self, node: ast.AST) -> None:
        match node:
            case ast.stmt():
                self.read_statement(node)
            case ast.expr():
                self.normalize(node)
            case _:
                for inner in ast.iter_child_nodes(node):
                    self._read_part(inner)

    def _read_block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.read_statement(statement)

    def _bind(self, target: ast.expr, form: str) -> None:
        match target:
            case ast.Name(id=name):
                self._gathered_forms.pop(name, None)
                self._forms[name] = form
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for place, part in enumerate(parts):
                    self._bind(part, f"{form}[{place}]")
            case _:
                self.normalize(target)

    def normalize(self, node: ast.expr) -> str:
        """Return an expression in canonical form, and record the calls in it."""
        match node:
            case ast.Await(value=value):
                return self.normalize(value)
            case ast.Name(id=name):
                return self._forms.get(name, name)
            case ast.Constant(value=value):
                return repr(value)
            case ast.Attribute(value=value, attr=name):
                return f"{self.normalize(value)}[{name!r}]"
            case ast.Subscript(value=value, slice=ast.Constant(value=int(at))) if elements := self._read_elements(
                value
            ):
                return elements[at] if -len(elements) <= at < len(elements) else f"{_format_list(elements)}[{at}]"
            case ast.BoolOp(
                op=ast.Or(), values=[value, ast.Dict(keys=[]) | ast.List(elts=[]) | ast.Constant(value=None | "" | 0)]
            ):
                return self.normalize(value)
            case ast.Subscript(value=value, slice=key):
                return f"{self.normalize(value)}[{self.normalize(key)}]"
            case ast.Call():
                return self._normalize_call(node)
            case ast.IfExp(test=test, body=body, orelse=ast.Constant(value=None | "" | 0)):
                self.normalize(test)
                return self.normalize(body)
            case ast.ListComp(elt=element, generators=loops) | ast.GeneratorExp(elt=element, generators=loops):
                return self._normalize_comprehension(element, loops)
            case _:
                return self._normalize_other(node)

    def _normalize_call(self, node: ast.Call) -> str:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return self._record_call(name, node)
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]):
                return f"{self.normalize(value)}[{self.normalize(key)}]"
            case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name == _FIRST_HELPER:
                return f"{self.normalize(value)}[0]"
            case _:
                return self._normalize_other(node)

    def _record_call(self, name: str, node: ast.Call) -> str:
        function = self.functions[name]
        argument_nodes = dict(zip(function.parameters, node.args, strict=False))
        argument_nodes |= {one.arg: one.value for one in node.keywords if one.arg}
        # Arguments come first: a call within them is made, and so numbered, before this one.
        arguments = {
            function.parameters.get(own, own): self._normalize_argument(value) for own, value in argument_nodes.items()
        }
        own = f"{function.name}#{self._call_counts[function.name]}"
        self._call_counts[function.name] += 1
        # Recorded forms have brackets (``<search#1>``), so that none is part of another (``search#10``).
        uses = {
            place for known, place in self._call_places.items() if any(known in value for value in arguments.values())
        }
        self.calls.append(CodeCall(function.name, arguments, frozenset(uses)))
        self._call_places[f"<{own}>"] = len(self.calls) - 1
        return f"<{own}>"

    def _normalize_argument(self, node: ast.expr) -> str:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name in _CONVERSIONS:
                return self._normalize_argument(value)
            case _:
                return self.normalize(node)

    def _normalize_comprehension(self, element: ast.expr, loops: Collection[ast.comprehension]) -> str:
        before = dict(self._forms)
        conditions: list[str] = []
        for loop in loops:
            self._bind(loop.target, f"each({self.normalize(loop.iter)})")
            conditions += [self.normalize(one) for one in loop.ifs]
        form = f"[{self.normalize(element)}{''.join(f' if {one}' for one in conditions)}]"
        self._forms = before
        return form

    def _normalize_other(self, node: ast.expr) -> str:
        """Return any other expression as its kind with its parts in order."""
        parts = [self._normalize_part(part) for part in ast.iter_child_nodes(node)]
        return f"{type(node).__name__}({', '.join(part for part in parts if part)})"

    def _normalize_part(self, node: ast.AST) -> str:
        match node:
            case ast.expr():
                return self.normalize(node)
            case ast.expr_context():
                return ""
            case ast.operator() | ast.cmpop() | ast.unaryop() | ast.boolop():
                return type(node).__name__
            case _:
                return f"{type(node).__name__}({', '.join(filter(None, map(self._normalize_part, ast.iter_child_nodes(node))))})"


def _format_list(forms: Sequence[str]) -> str:
    return f"[{', '.join(forms)}]"


def _find_gathered(node: ast.expr) -> Sequence[ast.expr] | None:
    """Return the arguments of ``await asyncio.gather(…)``; None for anything else."""
    match node:
        case ast.Await(value=ast.Call(func=ast.Attribute(attr="gather"), args=args)) if not any(
            isinstance(one, ast.Starred) for one in args
        ):
            return args
        case _:
            return None


@dataclass(frozen=True, slots=True)
class FieldDependency:
    """A field of one function's response that goes into a parameter of another function."""

    source: str
    field: str
    """Path without positions in lists."""
    target: str
    parameter: str


def find_dependencies(program: str) -> Iterator[FieldDependency]:
    """Yield the dependencies of a Python program, statement by statement; text that does not parse has none."""
    origins: dict[str, str] = {}
    for statement in _parse_statements(program):
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        for argument in call.keywords:
            for source, path in _find_fields(argument.value, {name: (origin, ()) for name, origin in origins.items()}):
                if argument.arg and path:
                    yield FieldDependency(source, ".".join(path), call.func.id, argument.arg)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            origins[statement.targets[0].id] = call.func.id


def _parse_statements(program: str) -> Iterator[ast.Assign | ast.Expr]:
    """Yield the statements that parse, line by line if the whole text does not."""
    for part in (program,) if _parse_body(program) is not None else program.splitlines():
        for statement in _parse_body(part.strip()) or ():
            if isinstance(statement, (ast.Assign, ast.Expr)):
                yield statement


def _parse_body(text: str) -> list[ast.stmt] | None:
    source = try_parse_source(text)
    return None if source is None else source.tree.body


_Path = tuple[str, tuple[str, ...]]


def _find_fields(node: ast.expr, origins: Mapping[str, _Path]) -> Iterator[_Path]:
    """Yield the response fields that an expression's value is made of; conditions only choose and yield none."""
    path = _find_field_path(node, origins)
    if path is not None:
        yield path
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        inside = dict(origins)
        for _ in node.generators:  # some gold programs have their loops in the wrong order
            for loop in node.generators:
                items = _find_field_path(loop.iter, inside)
                if items is not None and isinstance(loop.target, ast.Name):
                    inside[loop.target.id] = items
        yield from _find_fields(node.elt, inside)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _find_fields(child, origins)


def _find_field_path(node: ast.expr, origins: Mapping[str, _Path]) -> _Path | None:
    match node:
        case ast.Name(id=name):
            return origins.get(name)
        case ast.Subscript(value=value):
            return _find_field_path(value, origins)
        case ast.Attribute(value=value, attr=attribute):
            path = _find_field_path(value, origins)
            return None if path is None else (path[0], (*path[1], attribute))
        case _:
            return None
