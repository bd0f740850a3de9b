"""Usual ways of writing Python that the sandbox lacks or that miss an import, written so that it runs."""

import ast
from collections.abc import Collection
from types import MethodDescriptorType

from agent.programs.language import MODULES
from agent.programs.reading import bound_names, called

_FROM = {
    "Counter": "collections", "OrderedDict": "collections", "date": "datetime", "defaultdict": "collections", "gather": "asyncio",
    "reduce": "functools", "timedelta": "datetime",
}  # fmt: skip
"""Names that mean one thing only where nothing binds them, with their modules."""
_OF_DATETIME = frozenset({"date", "datetime", "time", "timedelta", "timezone", "UTC"})
"""What the module has; anything else is asked of the class of the same name."""
_TYPES: dict[str, type] = {"dict": dict, "float": float, "int": int, "list": list, "set": set, "str": str}
_OF_SETS = frozenset({"difference", "intersection", "union"})
"""Methods that take any number of sets, of which the sandbox takes one."""
_TAKING = frozenset({"filter", "map"})
"""Builtins whose first argument is a function."""


def import_what_is_used(tree: ast.Module, there: Collection[str]) -> None:
    """Put the imports in front that a text forgot: of modules whose names stand before a dot, and of a few names. ``there``: names that need none."""
    bound = bound_names(tree) | set(there)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - bound
    modules = {
        node.value.id: node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in used & MODULES
    }
    asked: set[str] = set()
    if "datetime" in modules:
        asked = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "datetime"
        }
    added: list[ast.stmt] = []
    for module in sorted(modules):
        if module == "datetime" and not asked & _OF_DATETIME:
            added.append(ast.ImportFrom("datetime", [ast.alias("datetime")], 0))
        else:
            added.append(ast.Import([ast.alias(module)]))
    added += [ast.ImportFrom(_FROM[name], [ast.alias(name)], 0) for name in sorted(used & _FROM.keys())]
    tree.body[:0] = added


def call_methods_in_lambdas(tree: ast.Module) -> None:
    """``key=d.get`` and ``map(str.strip, …)``: the sandbox has no methods as values, so each becomes a lambda that calls it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for one in node.keywords:
            if one.arg == "key":
                one.value = _in_lambda(one.value)
        if called(node) in _TAKING and node.args:
            node.args[0] = _in_lambda(node.args[0])


def call_methods_on_values(tree: ast.Module) -> None:
    """``str.lower(x)`` as ``x.lower()``, and ``set.intersection(*many)`` or ``a.union(b, c)`` one after the other: the sandbox has neither."""
    bound = bound_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *rest]) if (
                name not in bound and isinstance(getattr(_TYPES.get(name), method, None), MethodDescriptorType)
            ):
                if method in _OF_SETS and not node.keywords:
                    _fold(node, method, [first, *rest])
                elif not isinstance(first, ast.Starred):
                    node.func, node.args = ast.Attribute(first, method, ast.Load()), rest
            case ast.Call(func=ast.Attribute(value=one, attr=method), args=[first, *rest], keywords=[]) if (
                method in _OF_SETS and (rest or isinstance(first, ast.Starred))
            ):
                _fold(node, method, [one, first, *rest])
            case _:
                continue


def _fold(call: ast.Call, method: str, sets: list[ast.expr]) -> None:
    names = [ast.arg("one_"), ast.arg("other_")]
    one, other = (ast.Name(name.arg, ast.Load()) for name in names)
    step = ast.Call(ast.Attribute(one, method, ast.Load()), [other], [])
    call.func = ast.Name("reduce", ast.Load())
    call.args = [ast.Lambda(ast.arguments([], names, None, [], [], None, []), step), ast.List(sets, ast.Load())]


def _in_lambda(function: ast.expr) -> ast.expr:
    if not isinstance(function, ast.Attribute):
        return function
    item = ast.Name("item_", ast.Load())
    arguments = ast.arguments([], [ast.arg("item_")], None, [], [], None, [])
    match function.value:
        case ast.Name(id=name) if hasattr(_TYPES.get(name), function.attr):
            call = ast.Call(ast.Attribute(item, function.attr, ast.Load()), [], [])
        case ast.Name() | ast.Constant():
            call = ast.Call(function, [item], [])
        case _:
            return function
    return ast.Lambda(arguments, call)
