"""Which calls of asynchronous functions are waited for, and which are forgotten."""

import ast
from collections.abc import Collection, Iterator, Mapping

from agent.programs.reading import called, calls

GATHER = frozenset({"gather", "asyncio.gather"})
_TAKES_CALLS = GATHER | {"run", "asyncio.run", "asyncio.wait_for", "asyncio.create_task", "asyncio.ensure_future"}
_KEEPS = frozenset({"append", "extend", "insert", "add"})
_HOLDS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.NamedExpr, ast.ListComp)
_HOLDS_TOO = (ast.SetComp, ast.DictComp, ast.GeneratorExp)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Each node's parent."""
    return {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}


def function_of(node: ast.AST, above: Mapping[ast.AST, ast.AST]) -> Function | None:
    """The function whose body a node stands in."""
    while node in above:
        inner, node = node, above[node]
        if isinstance(node, Function) and (node.body is inner or (isinstance(node.body, list) and inner in node.body)):
            return node
    return None


def asynchronous(tree: ast.AST, tools: Collection[str]) -> set[str]:
    """The tools, and the functions of the text that are to be awaited like them."""
    return {*tools} | {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}


def forgotten(tree: ast.AST, names: Collection[str]) -> Iterator[ast.Call]:
    """The calls of these functions that nobody waits for."""
    above, later = parents(tree), _waited_for(tree)
    helpers = {node.name: node.args for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id in names and not _awaited(call, above, later, helpers):
            yield call


def _awaited(
    call: ast.Call, above: Mapping[ast.AST, ast.AST], later: Collection[str], helpers: Mapping[str, ast.arguments]
) -> bool:
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
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                yield one.id


def _kept_in(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _KEEPS:
            return name
        case _:
            return ""


def _handed_to(call: ast.Call, value: ast.AST, helpers: Mapping[str, ast.arguments]) -> str:
    """The parameter of one of the text's own functions that a value is given for."""
    if isinstance(value, ast.keyword):
        return value.arg or ""
    takes = helpers.get(called(call))
    if takes is None or value not in call.args:
        return ""
    place = call.args.index(value)  # type: ignore[arg-type]
    return takes.args[place].arg if place < len(takes.args) else ""


def _waited_for(tree: ast.AST) -> set[str]:
    """Names under an ``await``, and lists whose items are."""
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
