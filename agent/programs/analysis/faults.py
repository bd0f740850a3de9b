"""Faults of a program text that are found before anything is called.

They are features that the sandbox's Python lacks, names and arguments that do not exist, and calls that nobody
awaits.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from agent.programs.analysis.control_flow import GATHER, Function
from agent.programs.earlier import EARLIER
from agent.programs.names import FOUND
from agent.programs.protocol import ASK
from agent.programs.questions import PARAMETERS
from agent.programs.signatures import Signature
from agent.programs.stops import LOOK
from domain.python_source import Place, bound_names, called, calls, parents, place_of
from domain.source_text import SourceText

NOWHERE: Place = (0, 0)
"""Place of a fault that is on no particular line."""
Fault = tuple[Place, str]
"""Place of a fault, and a sentence about it."""
_SHOWN = 8

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

_TAKES_CALLS = GATHER | {"run", "asyncio.run", "asyncio.wait_for", "asyncio.create_task", "asyncio.ensure_future"}
_KEEPS = frozenset({"append", "extend", "insert", "add"})
_HOLDS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.NamedExpr, ast.ListComp)
_HOLDS_TOO = (ast.SetComp, ast.DictComp, ast.GeneratorExp)


def find_faults(
    source: SourceText, tools: Mapping[str, Signature], there: Collection[str], required: Mapping[str, Collection[str]]
) -> Iterator[Fault]:
    """Yield the faults that can be found without types.

    Args:
        source: the text.
        tools: signatures of the functions on offer, by name.
        there: names that the text has besides its tools.
        required: by function, the arguments that a call must have.
    """
    tree = source.tree
    yield from _missing_features(tree)
    yield from _wrong_names(tree, tools, there)
    yield from _wrong_arguments(tree, tools, required)
    yield from _not_awaited(tree, {*tools, ASK})
    yield from _misplaced_looks(tree)


def _wrong_names(tree: ast.Module, tools: Collection[str], there: Collection[str]) -> Iterator[Fault]:
    """Yield names without a meaning, tools used as values, and own names that hide a function on offer."""
    own = bound_names(tree)
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    told: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in told:
            continue
        if said := _wrong(node, own, tools, there, called=id(node) in functions):
            told.add(node.id)
            yield place_of(node), said
    for name in sorted(own & {*tools, LOOK, ASK} - told):
        yield NOWHERE, f"`{name}` is one of the functions: give your own value or function another name."


def _wrong(
    node: ast.Name, own: Collection[str], tools: Collection[str], there: Collection[str], *, called: bool
) -> str:
    """Return the message for a name that is used wrongly; empty if it is right."""
    name = node.id
    if name in tools or name in (LOOK, ASK):
        if called or name in own:
            return ""
        return f"`{name}` can only be called, as `await {name}(...)`: wrap it in a function of your own to hand it on."
    if name in own or name in there or name in BUILTINS:
        return ""
    if name in MODULES:
        return f"The name `{name}` has no value: write `import {name}` first."
    alike = get_close_matches(name, [*tools, *own, *there], n=1, cutoff=0.75)
    if alike:
        return f"There is no `{name}`: did you mean `{alike[0]}`?"
    if called:
        others = f"call only {_some(tools)}" if tools else "none is known yet; look for one"
        return f"There is no function `{name}`: {others}, or {instead(name)}."
    return f"The name `{name}` has no value: assign it before it is used."


def _wrong_arguments(
    tree: ast.Module, tools: Mapping[str, Signature], required: Mapping[str, Collection[str]]
) -> Iterator[Fault]:
    """Yield arguments that a function does not take, and required ones that are missing."""
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == ASK and ASK not in tools:
            yield from ((place_of(call), said) for said in _wrong_question(call))
        elif isinstance(call.func, ast.Name) and call.func.id in tools:
            name = call.func.id
            for said in _wrong_call(call, name, list(tools[name].arguments), required.get(name, ())):
                yield place_of(call), said


def _wrong_call(call: ast.Call, name: str, names: list[str], required: Collection[str]) -> Iterator[str]:
    """Yield the faults of one call of a tool."""
    given = [one.arg for one in call.keywords]
    if call.args or None in given:
        yield f"`{name}` takes its arguments by name: {_some(names) if names else 'none'}."
        return
    for one in given:
        if one and one not in names:
            alike = get_close_matches(one, names, n=1, cutoff=0.6)
            takes = f"did you mean `{alike[0]}`?" if alike else f"it takes {_some(names) if names else 'none'}."
            yield f"`{name}` has no parameter `{one}`: {takes}"
    lacking = [one for one in required if one not in given]
    if lacking:
        yield f"`{name}` lacks {_some(lacking)}, without which it cannot be called."


def _wrong_question(call: ast.Call) -> Iterator[str]:
    """Yield the faults of one question to the user."""
    given = [*PARAMETERS[: len(call.args)], *(one.arg for one in call.keywords)]
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if starred or len(call.args) > len(PARAMETERS) or len(set(given)) < len(given) or set(given) - {*PARAMETERS}:
        yield f"`{ASK}` takes a question and, where some answers are likely, choices=[...]."
    elif PARAMETERS[0] not in given:
        yield f"`{ASK}` lacks the question."


def _not_awaited(tree: ast.Module, tools: Collection[str]) -> Iterator[Fault]:
    """Yield the calls that nobody awaits and into which no ``await`` could be inserted."""
    for call in forgotten(tree, asynchronous(tree, tools)):
        name = ast.unparse(call.func)
        yield (
            place_of(call),
            f"`{name}(...)` is not awaited: write `await {name}(...)`, in an `async def` or outside of functions.",
        )


def _misplaced_looks(tree: ast.Module) -> Iterator[Fault]:
    """Yield the looks that do not stand alone at the outermost level; branches and loops around them are allowed."""
    above = parents(tree)
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == LOOK and not _outermost(call, above):
            yield place_of(call), f"`{LOOK}(...)` stands alone on a line, outside of functions and of try."


def _outermost(call: ast.Call, above: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a call is a statement of its own at module level, inside branches and loops at most."""
    node = above[call]
    if isinstance(node, ast.Await):
        node = above[node]
    if not isinstance(node, ast.Expr):
        return False
    while not isinstance(node, ast.Module):
        node = above[node]
        if not isinstance(node, ast.Module | ast.If | ast.For | ast.While):
            return False
    return True


def faults_of_end(source: SourceText) -> Iterator[Fault]:
    """Yield a fault if the last statement is no answer and the text has no look."""
    last = source.tree.body[-1]
    looks = any(call.name == LOOK for call in source.calls)
    if not isinstance(last, ast.Expr | ast.Return) and not looks:
        told = 'write the answer itself as the last line, such as {"answered": "yes", "answer": ...}'
        yield place_of(last), f"The program ends without an answer: {told}."


def _some(names: Collection[str]) -> str:
    """Format some names for a message, followed by an ellipsis if there are more."""
    shown = [f"`{name}`" for name in list(names)[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(names) > _SHOWN else "")


def faults_of_plan(source: SourceText, tools: Collection[str], given: int) -> Iterator[Fault]:
    """Yield the faults that a text has as a plan. ``given``: number of earlier results."""
    filled = {one.value.node for call in source.calls if call.name in tools for one in call.arguments}
    for name in sorted(source.names_bound & FOUND - {"first", "pick", "today"}):
        yield NOWHERE, f"`{name}` means something in every plan: give your own value or function another name."
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(ast.Name("fill")) if node not in filled or node.args or node.keywords:
                told = "`fill()` stands alone as the value of a parameter of a function: what it is is found then."
                yield place_of(node), told
            case ast.Call(ast.Name("named"), arguments, keywords) if len(arguments) != 1 or keywords:
                yield place_of(node), "`named(...)` takes one list, of which the request names an item."
            case ast.Subscript(ast.Name(name), ast.Constant(int() as number)) if name == EARLIER and number >= given:
                told = f"has {given} results" if given else "has no results"
                yield place_of(node), f"`earlier` {told}: there is no `earlier[{number}]`."
            case _:
                continue


def instead(name: str) -> str:
    """Return the advice for a module or builtin that does not exist."""
    return _INSTEAD.get(name) or (_GIVEN_BY_HOST if name in _OF_HOST else "write it with what Python has built in")


def _missing_features(tree: ast.Module) -> Iterator[Fault]:
    """Yield the places that the sandbox does not run, each with what to write instead."""
    above = parents(tree)
    for node in ast.walk(tree):
        said = _missing(node) or _misplaced_await(node, function_of(node, above))
        if said:
            yield place_of(node), said


def _missing(node: ast.AST) -> str:
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
        case ast.Call() if called(node) in GATHER and node.keywords:
            told = "catch ToolError in a small async function for one item, and gather calls of that"
            return f"`asyncio.gather` takes no options such as return_exceptions: {told}."
        case _:
            return _missing_import(node)


def _missing_import(node: ast.AST) -> str:
    """Return the message for an import that does not work; empty if it does."""
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
    """Return the message for an ``await`` outside of an async function; empty if it is allowed."""
    if not isinstance(node, ast.Await) or function is None or isinstance(function, ast.AsyncFunctionDef):
        return ""
    if isinstance(function, ast.Lambda):
        return "A lambda cannot `await`: write an `async def`."
    return f"`await` stands in `{function.name}`, which is not async: write `async def {function.name}` and await its calls."


def function_of(node: ast.AST, above: Mapping[ast.AST, ast.AST]) -> Function | None:
    """Return the function whose body a node is in; None at module level and in defaults and decorators."""
    while node in above:
        inner, node = node, above[node]
        if isinstance(node, Function) and (node.body is inner or (isinstance(node.body, list) and inner in node.body)):
            return node
    return None


def asynchronous(tree: ast.AST, tools: Collection[str]) -> set[str]:
    """Return the names of the tools and of the text's async functions."""
    return {*tools} | {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}


def forgotten(tree: ast.AST, names: Collection[str]) -> Iterator[ast.Call]:
    """Yield the calls of these functions whose result nobody awaits."""
    above, later = parents(tree), _waited_for(tree)
    helpers = {node.name: node.args for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id in names and not _awaited(call, above, later, helpers):
            yield call


def _awaited(
    call: ast.Call, above: Mapping[ast.AST, ast.AST], later: Collection[str], helpers: Mapping[str, ast.arguments]
) -> bool:
    """Return whether the result of a call is awaited, directly or through a name, list or helper function.

    Args:
        call: the call.
        above: parents of all nodes.
        later: names that are awaited somewhere, and lists whose items are.
        helpers: parameters of the text's async functions.
    """
    inner: ast.AST = call
    while inner in above:
        node = above[inner]
        if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and called(node) in _TAKES_CALLS):
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            return any(name in later for name in _targets(node))
        if isinstance(node, ast.Call):
            return _kept_in(node) in later or _handed_to(node, inner, helpers) in later
        if isinstance(node, ast.Lambda | ast.Return):
            return isinstance(node, ast.Lambda) or isinstance(function_of(call, above), ast.FunctionDef)
        if isinstance(node, ast.comprehension) or not isinstance(node, _HOLDS + _HOLDS_TOO):
            return False
        inner = node
    return False


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """Yield the names in the targets of an assignment."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                yield one.id


def _kept_in(call: ast.Call) -> str:
    """Return the list or set that a call such as ``tasks.append(...)`` adds to; empty for any other call."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _KEEPS:
            return name
        case _:
            return ""


def _handed_to(call: ast.Call, value: ast.AST, helpers: Mapping[str, ast.arguments]) -> str:
    """Return the parameter of the text's own function that a value is passed for; empty if unknown."""
    if isinstance(value, ast.keyword):
        return value.arg or ""
    takes = helpers.get(called(call))
    if takes is None or value not in call.args:
        return ""
    place = call.args.index(value)  # type: ignore[arg-type]
    return takes.args[place].arg if place < len(takes.args) else ""


def _waited_for(tree: ast.AST) -> set[str]:
    """Return the names under an ``await``, and the lists whose items are awaited."""
    found = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Await) or called(node) in _TAKES_CALLS
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            items = {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
            if items & found:
                found.add(node.iter.id)
    return found
