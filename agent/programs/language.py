"""What the sandbox's Python has and what it lacks, with what to write instead."""

import ast
from collections.abc import Iterator

from agent.programs.awaiting import GATHER, Function, function_of, parents
from agent.programs.reading import Place, called, place_of

MODULES = frozenset(
    {"asyncio", "base64", "binascii", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal", "functools", "hashlib",
     "itertools", "json", "math", "random", "re", "time", "typing", "unicodedata"}
)  # fmt: skip
"""Modules that a program may import."""

BUILTINS = frozenset(
    {"ArithmeticError", "AssertionError", "AttributeError", "BaseException", "Exception", "ImportError", "IndexError", "KeyError",
     "LookupError", "NameError", "NotImplementedError", "OSError", "OverflowError", "PermissionError", "RecursionError", "RuntimeError",
     "StopIteration", "TimeoutError", "TypeError", "ValueError", "ZeroDivisionError", "abs", "all", "any", "bin", "bool", "bytes", "chr",
     "complex", "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "int",
     "isinstance", "iter", "len", "list", "map", "max", "min", "next", "object", "oct", "ord", "pow", "print", "range", "repr", "reversed",
     "round", "set", "setattr", "slice", "sorted", "str", "sum", "tuple", "type", "zip", "__name__", "Ellipsis", "NotImplemented"}
)  # fmt: skip
"""Builtins that the sandbox has and a program may use."""

_INSTEAD = {
    "statistics": "compute with sum(...), len(...) and sorted(...)",
    "zoneinfo": "use datetime.timezone and datetime.timedelta",
    "eval": "write the code itself",
    "exec": "write the code itself",
    "open": "there are no files; values come from the functions and the request",
    "input": "ask the user with `await ask(question, choices=[...])`",
}
_GIVEN_BY_HOST = "there is no access to the machine; use the functions only"
_OF_HOST = frozenset(
    {
        "os",
        "sys",
        "subprocess",
        "pathlib",
        "io",
        "shutil",
        "socket",
        "requests",
        "httpx",
        "aiohttp",
        "urllib",
        "importlib",
    }
)


def instead(name: str) -> str:
    """What to write in place of a module or builtin that is not there."""
    return _INSTEAD.get(name) or (_GIVEN_BY_HOST if name in _OF_HOST else "write it with what Python has built in")


def missing_features(tree: ast.Module) -> Iterator[tuple[Place, str]]:
    """Places that the sandbox does not run, each with what to write instead."""
    above = parents(tree)
    for node in ast.walk(tree):
        said = _missing(node) or _misplaced_await(node, function_of(node, above))
        if said:
            yield place_of(node), said


def _missing(node: ast.AST) -> str:
    match node:
        case ast.Yield() | ast.YieldFrom():
            return "`yield` is not there: collect the values in a list and return it."
        case ast.ClassDef(bases=bases, keywords=keywords) if bases or keywords:
            return "Classes cannot inherit: use dictionaries and functions."
        case ast.With() | ast.AsyncWith():
            return "`with` is not there: there is nothing to open or to close."
        case ast.AsyncFor():
            return "`async for` is not there: write `for x in await f(...)`."
        case ast.comprehension(is_async=1):
            return "`async for` is not there: write `for x in await f(...)`."
        case ast.Delete():
            return "`del` is not there: make a new value without it."
        case ast.TryStar():
            return "`except*` is not there: write `except`."
        case ast.Call() if called(node) in GATHER and node.keywords:
            told = "catch ToolError in a small async function for one item, and gather calls of that"
            return f"`asyncio.gather` takes no options such as return_exceptions: {told}."
        case _:
            return _missing_import(node)


def _missing_import(node: ast.AST) -> str:
    match node:
        case ast.Import(names=names):
            modules = [one.name for one in names]
        case ast.ImportFrom(module=module, names=names):
            if names[0].name == "*":
                return "`import *` is not there: import what is used by name."
            modules = [module or "."]
        case _:
            return ""
    unknown = [module for module in modules if module not in MODULES]
    return f"`{unknown[0]}` cannot be imported: {instead(unknown[0].partition('.')[0])}." if unknown else ""


def _misplaced_await(node: ast.AST, function: Function | None) -> str:
    if not isinstance(node, ast.Await) or function is None or isinstance(function, ast.AsyncFunctionDef):
        return ""
    if isinstance(function, ast.Lambda):
        return "A lambda cannot `await`: write an `async def`."
    return f"`await` stands in `{function.name}`, which is not async: write `async def {function.name}` and await its calls."
