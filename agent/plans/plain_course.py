"""What a program does beside its calls, for whoever shows it as nothing but these: up to the last one, it only gives names to what calls answer and to constants."""

import ast
from collections.abc import Iterator

from agent.plans.literals import NotConstantError, constant
from agent.programs.reading import bound_names
from domain.program import Program
from domain.python_source import parse_module

_MODULES = frozenset({"asyncio", "json"})
_MEANT = _MODULES | {"fill", "float"}
"""Names beside those of tools that calls and constants are written with."""


def other_doings(program: Program) -> Iterator[tuple[int, str]]:
    """Lines of a text that do anything else, each with what; what follows its last call is what it says at its end, and calls nothing.

    Raises:
        SyntaxError: it cannot be read.
    """
    tree = parse_module(program.text)
    yield from _bound(tree, program)
    yield from _passed_on(tree, program)
    course = _Course(program, bound_names(tree))
    last = max((at for at, one in enumerate(tree.body) if _has_call(one, program)), default=-1)
    for statement in tree.body[: last + 1]:
        if not course.is_plain(statement):
            yield statement.lineno, "does more than to call, and to name answers and constants"


def _has_call(statement: ast.stmt, program: Program) -> bool:
    return any(isinstance(one, ast.Call) and _is_tool(one.func, program) for one in ast.walk(statement))


def _is_tool(node: ast.AST, program: Program) -> bool:
    return isinstance(node, ast.Name) and node.id in program.tools


def _bound(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Where the text gives another meaning to a name that calls and constants are written with."""
    for line, name in _meanings(tree):
        if name in program.tools or name in _MEANT:
            yield line, f"gives another meaning to {name}"


def _meanings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that a text gives a meaning to, each with its line; modules by their own names are none."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() if _is_import(node):
                continue
            case ast.Name(ctx=ast.Store()) | ast.arg() | ast.Import() | ast.ImportFrom():
                names = bound_names(node)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names = {name}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = {name}
            case ast.ExceptHandler(name=str(name)) | ast.Name(id=name, ctx=ast.Del()):
                names = {name}
            case _:
                continue
        yield from ((node.lineno, name) for name in names)


def _is_import(statement: ast.Import) -> bool:
    """Whether it makes modules known by their own names."""
    return all(one.name in _MODULES and not one.asname for one in statement.names)


def _passed_on(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Where a tool is named, and not called."""
    called = {one.func for one in ast.walk(tree) if isinstance(one, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and _is_tool(node, program) and node not in called:
            yield node.lineno, f"gives {node.id} on without a call"


class _Course:
    """The statements of one text, one after the other. ``bound``: all the names that it gives a meaning."""

    def __init__(self, program: Program, bound: set[str]) -> None:
        self._program = program
        self._bound = bound
        self._later = set(bound)

    def is_plain(self, statement: ast.stmt) -> bool:
        """Whether a statement is a call, or a name for an answer or a constant; it is the next one of the text."""
        match statement:
            case ast.Assign([target], value) | ast.AnnAssign(target, ast.Name(), ast.expr() as value):
                plain = self._is_value(value)
                names = list(_names(target))
                self._later.difference_update(names)
                return plain and bool(names)
            case ast.Expr(value) | ast.Return(ast.expr() as value):
                return self._is_value(value)
            case ast.Import():
                self._later -= _MODULES
                return _is_import(statement)
            case _:
                return isinstance(statement, ast.Pass)

    def _is_value(self, value: ast.expr) -> bool:
        """Whether a value is put together of answers, constants and what the text finds, and nothing is changed by it."""
        match value:
            case ast.Await(ast.Call() as call):
                return self._is_call(call) or self._is_gathered(call)
            case ast.Name(name):
                return name not in self._later
            case ast.Subscript(held, ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant())):
                return self._is_value(held)
            case ast.Call(ast.Name("first" | "named" as chosen), parts, []) if chosen not in self._bound:
                return all(map(self._is_value, parts))
            case ast.Call(ast.Attribute(held, "get"), parts, []):
                return all(map(self._is_value, (held, *parts)))
            case ast.List(parts) | ast.Tuple(parts) | ast.JoinedStr(parts):
                return all(map(self._is_value, parts))
            case ast.FormattedValue(shown, _, form):
                return self._is_value(shown) and (form is None or self._is_value(form))
            case ast.Dict(keys, values):
                return all(isinstance(key, ast.Constant) for key in keys) and all(map(self._is_value, values))
            case _:
                return _is_constant(value)

    def _is_call(self, call: ast.expr) -> bool:
        """Whether it calls a tool with values that have names; such a call may leave values open."""
        if not (isinstance(call, ast.Call) and _is_tool(call.func, self._program)) or call.args:
            return False
        return all(one.arg and (_is_open(one.value) or self._is_value(one.value)) for one in call.keywords)

    def _is_gathered(self, call: ast.Call) -> bool:
        """Whether calls are made side by side, all with values that are there before."""
        match call:
            case ast.Call(ast.Attribute(ast.Name("asyncio"), "gather"), made, []):
                waits = any(isinstance(one, ast.Await) for part in made for one in ast.walk(part))
                return not waits and all(map(self._is_call, made))
            case _:
                return False


def _names(target: ast.expr) -> Iterator[str]:
    """The names that a target gives, where it gives nothing but names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if all(isinstance(one, ast.Name) for one in parts):
        yield from (one.id for one in parts if isinstance(one, ast.Name))


def _is_open(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value) == "fill()"


def _is_constant(value: ast.expr) -> bool:
    try:
        constant(value)
    except NotConstantError:
        return False
    return True
