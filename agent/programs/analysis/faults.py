"""Static checks of a program's text, made before anything is called.

They find features that the sandbox's Python lacks, names and arguments that do not exist, and calls that are never
awaited. The messages are written for the model that wrote the program.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from agent.programs.analysis.control_flow import GATHER, Function
from agent.programs.builtin_functions import ASK_PARAMETERS
from agent.programs.function_names import PROGRAM_NAMES
from agent.programs.program_request import EARLIER
from agent.programs.program_types import ASK
from agent.programs.sandbox_cell import LOOK
from agent.programs.signatures import ToolSignature
from domain.python_source import (
    SourcePosition,
    collect_bound_names,
    get_called_name,
    get_position,
    list_calls,
    map_parents,
)
from domain.source_text import SourceText

NOWHERE: SourcePosition = (0, 0)
"""Place of a fault that belongs to no particular line."""
Fault = tuple[SourcePosition, str]
"""Place of a fault, and a sentence about it."""
_MAX_NAMES = 8

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

_ALTERNATIVES = {
    "statistics": "compute with sum(...), len(...) and sorted(...)",
    "zoneinfo": "use datetime.timezone and datetime.timedelta",
    "eval": "write the code itself",
    "exec": "write the code itself",
    "open": "there are no files; values come from the functions and the request",
    "input": "ask the user with `await ask(question, choices=[...])`",
}
_HOST_ADVICE = "there is no access to the machine; use the functions only"
_HOST_MODULES = frozenset(
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

_AWAITING_FUNCTIONS = GATHER | {
    "run",
    "asyncio.run",
    "asyncio.wait_for",
    "asyncio.create_task",
    "asyncio.ensure_future",
}
_COLLECTING_METHODS = frozenset({"append", "extend", "insert", "add"})
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.NamedExpr, ast.ListComp)
_COMPREHENSIONS = (ast.SetComp, ast.DictComp, ast.GeneratorExp)


def find_faults(
    source: SourceText,
    tools: Mapping[str, ToolSignature],
    known_names: Collection[str],
    required: Mapping[str, Collection[str]],
) -> Iterator[Fault]:
    """Yield the faults that can be found without knowing types.

    Args:
        source: the text.
        tools: signatures of the functions on offer, by name.
        known_names: names that the text may use besides tools and builtins.
        required: arguments that a call must have, by function.
    """
    tree = source.tree
    yield from _find_missing_features(tree)
    yield from _find_wrong_names(tree, tools, known_names)
    yield from _find_wrong_arguments(tree, tools, required)
    yield from _find_missing_awaits(tree, {*tools, ASK})
    yield from _find_misplaced_looks(tree)


def _find_wrong_names(tree: ast.Module, tools: Collection[str], known_names: Collection[str]) -> Iterator[Fault]:
    """Yield undefined names, tools used as values, and names of the program that shadow an offered function."""
    bound_names = collect_bound_names(tree)
    called_nodes = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    reported: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in reported:
            continue
        if message := _describe_wrong_name(node, bound_names, tools, known_names, is_called=id(node) in called_nodes):
            reported.add(node.id)
            yield get_position(node), message
    for name in sorted(bound_names & {*tools, LOOK, ASK} - reported):
        yield NOWHERE, f"`{name}` is one of the functions: give your own value or function another name."


def _describe_wrong_name(
    node: ast.Name,
    bound_names: Collection[str],
    tools: Collection[str],
    known_names: Collection[str],
    *,
    is_called: bool,
) -> str:
    """Return the message for a name that is used wrongly; empty if there is nothing wrong with it."""
    name = node.id
    if name in tools or name in (LOOK, ASK):
        if is_called or name in bound_names:
            return ""
        return f"`{name}` can only be called, as `await {name}(...)`: wrap it in a function of your own to hand it on."
    if name in bound_names or name in known_names or name in BUILTINS:
        return ""
    if name in MODULES:
        return f"The name `{name}` has no value: write `import {name}` first."
    similar = get_close_matches(name, [*tools, *bound_names, *known_names], n=1, cutoff=0.75)
    if similar:
        return f"There is no `{name}`: did you mean `{similar[0]}`?"
    if is_called:
        others = f"call only {_format_names(tools)}" if tools else "none is known yet; look for one"
        return f"There is no function `{name}`: {others}, or {suggest_alternative(name)}."
    return f"The name `{name}` has no value: assign it before it is used."


def _find_wrong_arguments(
    tree: ast.Module, tools: Mapping[str, ToolSignature], required: Mapping[str, Collection[str]]
) -> Iterator[Fault]:
    """Yield arguments that a function does not take, and required ones that are missing."""
    for call in list_calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == ASK and ASK not in tools:
            yield from ((get_position(call), message) for message in _find_question_faults(call))
        elif isinstance(call.func, ast.Name) and call.func.id in tools:
            name = call.func.id
            for message in _find_call_faults(call, name, list(tools[name].arguments), required.get(name, ())):
                yield get_position(call), message


def _find_call_faults(call: ast.Call, name: str, parameters: list[str], required: Collection[str]) -> Iterator[str]:
    """Yield the faults of one call of a tool."""
    argument_names = [keyword.arg for keyword in call.keywords]
    if call.args or None in argument_names:
        yield f"`{name}` takes its arguments by name: {_format_names(parameters) if parameters else 'none'}."
        return
    for argument in argument_names:
        if argument and argument not in parameters:
            similar = get_close_matches(argument, parameters, n=1, cutoff=0.6)
            hint = (
                f"did you mean `{similar[0]}`?"
                if similar
                else f"it takes {_format_names(parameters) if parameters else 'none'}."
            )
            yield f"`{name}` has no parameter `{argument}`: {hint}"
    missing = [parameter for parameter in required if parameter not in argument_names]
    if missing:
        yield f"`{name}` lacks {_format_names(missing)}, without which it cannot be called."


def _find_question_faults(call: ast.Call) -> Iterator[str]:
    """Yield the faults of one question to the user."""
    argument_names = [*ASK_PARAMETERS[: len(call.args)], *(keyword.arg for keyword in call.keywords)]
    has_starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if (
        has_starred
        or len(call.args) > len(ASK_PARAMETERS)
        or len(set(argument_names)) < len(argument_names)
        or set(argument_names) - {*ASK_PARAMETERS}
    ):
        yield f"`{ASK}` takes a question and, where some answers are likely, choices=[...]."
    elif ASK_PARAMETERS[0] not in argument_names:
        yield f"`{ASK}` lacks the question."


def _find_missing_awaits(tree: ast.Module, tools: Collection[str]) -> Iterator[Fault]:
    """Yield the calls of tools and async functions that are not awaited."""
    for call in find_unawaited_calls(tree, find_async_names(tree, tools)):
        name = ast.unparse(call.func)
        yield (
            get_position(call),
            f"`{name}(...)` is not awaited: write `await {name}(...)`, in an `async def` or outside of functions.",
        )


def _find_misplaced_looks(tree: ast.Module) -> Iterator[Fault]:
    """Yield the calls of ``look`` that are no statement at module level; branches and loops are allowed around them."""
    parent_of = map_parents(tree)
    for call in list_calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == LOOK and not _is_outermost(call, parent_of):
            yield get_position(call), f"`{LOOK}(...)` stands alone on a line, outside of functions and of try."


def _is_outermost(call: ast.Call, parent_of: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a call is a statement of its own at module level, inside branches and loops at most."""
    node = parent_of[call]
    if isinstance(node, ast.Await):
        node = parent_of[node]
    if not isinstance(node, ast.Expr):
        return False
    while not isinstance(node, ast.Module):
        node = parent_of[node]
        if not isinstance(node, ast.Module | ast.If | ast.For | ast.While):
            return False
    return True


def find_end_faults(source: SourceText) -> Iterator[Fault]:
    """Yield a fault if the last statement is no answer and the text never calls ``look``."""
    last = source.tree.body[-1]
    has_look = any(call.name == LOOK for call in source.calls)
    if not isinstance(last, ast.Expr | ast.Return) and not has_look:
        example = 'write the answer itself as the last line, such as {"answered": "yes", "answer": ...}'
        yield get_position(last), f"The program ends without an answer: {example}."


def _format_names(names: Collection[str]) -> str:
    """Format some names for a message, followed by an ellipsis if there are more."""
    quoted_names = [f"`{name}`" for name in list(names)[:_MAX_NAMES]]
    return ", ".join(quoted_names) + (", …" if len(names) > _MAX_NAMES else "")


def find_plan_faults(source: SourceText, tools: Collection[str], result_count: int) -> Iterator[Fault]:
    """Yield the faults that make a text no valid plan, such as ``fill()`` outside of an argument.

    Args:
        source: the text.
        tools: names of the functions on offer.
        result_count: number of earlier results, which ``earlier`` holds.
    """
    argument_nodes = {argument.value.node for call in source.calls if call.name in tools for argument in call.arguments}
    for name in sorted(source.bound_names & PROGRAM_NAMES - {"first", "pick", "today"}):
        yield NOWHERE, f"`{name}` means something in every plan: give your own value or function another name."
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(ast.Name("fill")) if node not in argument_nodes or node.args or node.keywords:
                detail = "`fill()` stands alone as the value of a parameter of a function: what it is is found then."
                yield get_position(node), detail
            case ast.Call(ast.Name("named"), arguments, keywords) if len(arguments) != 1 or keywords:
                yield get_position(node), "`named(...)` takes one list, of which the request names an item."
            case ast.Subscript(ast.Name(name), ast.Constant(int() as number)) if (
                name == EARLIER and number >= result_count
            ):
                detail = f"has {result_count} results" if result_count else "has no results"
                yield get_position(node), f"`earlier` {detail}: there is no `earlier[{number}]`."
            case _:
                continue


def suggest_alternative(name: str) -> str:
    """Return what to write instead of a module or builtin that the sandbox lacks."""
    return _ALTERNATIVES.get(name) or (
        _HOST_ADVICE if name in _HOST_MODULES else "write it with what Python has built in"
    )


def _find_missing_features(tree: ast.Module) -> Iterator[Fault]:
    """Yield the places of unsupported syntax, each with what to write instead."""
    parent_of = map_parents(tree)
    for node in ast.walk(tree):
        message = _describe_missing_feature(node) or _describe_misplaced_await(
            node, find_enclosing_function(node, parent_of)
        )
        if message:
            yield get_position(node), message


def _describe_missing_feature(node: ast.AST) -> str:
    """Return the message for a node that the sandbox does not support; empty if it does."""
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
        case ast.Call() if get_called_name(node) in GATHER and node.keywords:
            hint = "catch ToolError in a small async function for one item, and gather calls of that"
            return f"`asyncio.gather` takes no options such as return_exceptions: {hint}."
        case _:
            return _describe_missing_import(node)


def _describe_missing_import(node: ast.AST) -> str:
    """Return the message for an import that does not work; empty if it does."""
    match node:
        case ast.Import(names=names):
            modules = [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names):
            if names[0].name == "*":
                return "`import *` is not there: import what is used by name."
            modules = [module or "."]
        case _:
            return ""
    unknown = [module for module in modules if module not in MODULES]
    return f"`{unknown[0]}` cannot be imported: {suggest_alternative(unknown[0].partition('.')[0])}." if unknown else ""


def _describe_misplaced_await(node: ast.AST, function: Function | None) -> str:
    """Return the message for an ``await`` outside of an async function; empty if it is allowed."""
    if not isinstance(node, ast.Await) or function is None or isinstance(function, ast.AsyncFunctionDef):
        return ""
    if isinstance(function, ast.Lambda):
        return "A lambda cannot `await`: write an `async def`."
    return f"`await` stands in `{function.name}`, which is not async: write `async def {function.name}` and await its calls."


def find_enclosing_function(node: ast.AST, parent_of: Mapping[ast.AST, ast.AST]) -> Function | None:
    """Return the function whose body a node is in; None at module level and in defaults and decorators."""
    while node in parent_of:
        inner, node = node, parent_of[node]
        if isinstance(node, Function) and (node.body is inner or (isinstance(node.body, list) and inner in node.body)):
            return node
    return None


def find_async_names(tree: ast.AST, tools: Collection[str]) -> set[str]:
    """Return the names of the tools and of the text's async functions."""
    return {*tools} | {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}


def find_unawaited_calls(tree: ast.AST, names: Collection[str]) -> Iterator[ast.Call]:
    """Yield the calls of these functions whose results are not awaited."""
    parent_of, awaited_names = map_parents(tree), _find_awaited_names(tree)
    helpers = {node.name: node.args for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    for call in list_calls(tree):
        if (
            isinstance(call.func, ast.Name)
            and call.func.id in names
            and not _is_awaited(call, parent_of, awaited_names, helpers)
        ):
            yield call


def _is_awaited(
    call: ast.Call,
    parent_of: Mapping[ast.AST, ast.AST],
    awaited_names: Collection[str],
    helpers: Mapping[str, ast.arguments],
) -> bool:
    """Return whether the result of a call is awaited, directly or through a name, list or helper function.

    Args:
        call: the call.
        parent_of: parents of all nodes.
        awaited_names: names that are awaited somewhere, and lists whose items are.
        helpers: parameters of the text's async functions.
    """
    inner: ast.AST = call
    while inner in parent_of:
        node = parent_of[inner]
        if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and get_called_name(node) in _AWAITING_FUNCTIONS):
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            return any(name in awaited_names for name in _find_target_names(node))
        if isinstance(node, ast.Call):
            return (
                _find_collecting_list(node) in awaited_names
                or _find_receiving_parameter(node, inner, helpers) in awaited_names
            )
        if isinstance(node, ast.Lambda | ast.Return):
            return isinstance(node, ast.Lambda) or isinstance(find_enclosing_function(call, parent_of), ast.FunctionDef)
        if isinstance(node, ast.comprehension) or not isinstance(node, _CONTAINERS + _COMPREHENSIONS):
            return False
        inner = node
    return False


def _find_target_names(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """Yield the names in the targets of an assignment."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id


def _find_collecting_list(call: ast.Call) -> str:
    """Return the name of the list or set that a call such as ``tasks.append(...)`` adds to; empty for other calls."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _COLLECTING_METHODS:
            return name
        case _:
            return ""


def _find_receiving_parameter(call: ast.Call, value: ast.AST, helpers: Mapping[str, ast.arguments]) -> str:
    """Return the parameter of the text's own function that a value is passed for; empty if unknown."""
    if isinstance(value, ast.keyword):
        return value.arg or ""
    parameters = helpers.get(get_called_name(call))
    if parameters is None or value not in call.args:
        return ""
    index = call.args.index(value)  # type: ignore[arg-type]
    return parameters.args[index].arg if index < len(parameters.args) else ""


def _find_awaited_names(tree: ast.AST) -> set[str]:
    """Return the names under an ``await``, and the lists whose items are awaited."""
    awaited = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Await) or get_called_name(node) in _AWAITING_FUNCTIONS
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            items = {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
            if items & awaited:
                awaited.add(node.iter.id)
    return awaited
