"""Repairs of a text that are made without asking its author, because it can mean one thing only.

They cover what the sandbox lacks too, and forgotten imports.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from types import MethodDescriptorType

from agent.programs.analysis.faults import MODULES, asynchronous, forgotten, function_of
from agent.programs.protocol import ASK
from agent.programs.signatures import Signature
from domain.python_source import Place, bound_names, called, parents, parse_module, place_of

_FROM = {
    "Counter": "collections", "OrderedDict": "collections", "date": "datetime", "defaultdict": "collections", "gather": "asyncio",
    "reduce": "functools", "timedelta": "datetime",
}  # fmt: skip
"""Modules of names that mean one thing only if nothing binds them."""
_OF_DATETIME = frozenset({"date", "datetime", "time", "timedelta", "timezone", "UTC"})
"""Names of the module ``datetime``; any other attribute is meant of the class of the same name."""
_TYPES: dict[str, type] = {"dict": dict, "float": float, "int": int, "list": list, "set": set, "str": str}
_OF_SETS = frozenset({"difference", "intersection", "union"})
"""Methods that take any number of sets, while the sandbox supports one."""
_TAKING = frozenset({"filter", "map"})
"""Builtins whose first argument is a function."""
_TASKS = frozenset({"asyncio.create_task", "asyncio.ensure_future", "asyncio.wait_for"})
"""Wrappers of a coroutine that are replaced by the coroutine itself."""


def repair(
    text: str, tools: Mapping[str, Signature], there: Collection[str], *, answers: bool = True
) -> tuple[str, dict[Place, Place]]:
    """Return a text as it is to be run, and a map from places in it to places in the original.

    Args:
        text: a text that parses.
        tools: signatures of the functions on offer.
        there: names that need no import.
        answers: whether the value of its end is its answer.
    """
    changed = parse_module(text)
    if not _rewrite(changed, tools, there, answers=answers) or not changed.body:
        return text, {}
    try:
        written = ast.unparse(changed)
        anew = parse_module(written)
    except (SyntaxError, ValueError, RecursionError):
        return text, {}  # an f-string that only a later Python can write
    # Both trees have the same shape as a rule, so their nodes correspond in walking order. Reversing the pairs below makes
    # the outermost node win where several begin at one place.
    pairs = [(place_of(new), place_of(old)) for new, old in zip(ast.walk(anew), ast.walk(changed), strict=False)]
    return written, dict(reversed(pairs))


def _rewrite(tree: ast.Module, tools: Mapping[str, Signature], there: Collection[str], *, answers: bool = True) -> bool:
    """Repair a tree in place; return whether it changed. Arguments as in :func:`repair`."""
    before = ast.dump(tree)
    _without_needless_imports(tree, {*tools, *there})
    _unwrap(tree)
    _Calls(tools, bound_names(tree)).visit(tree)
    _call_methods_in_lambdas(tree)
    _call_methods_on_values(tree)
    if answers:
        _end_in_value(tree)
    ast.fix_missing_locations(tree)
    _await_forgotten(tree, {*tools, ASK})
    _import_what_is_used(tree, {*tools, *there})
    ast.fix_missing_locations(tree)
    return ast.dump(tree) != before


def _without_needless_imports(tree: ast.Module, there: Collection[str]) -> None:
    """Remove imports of names that exist anyway, and of ``__future__``."""

    def needless(node: ast.stmt) -> bool:
        if isinstance(node, ast.ImportFrom):
            return all(one.name in there and one.asname is None for one in node.names) or node.module == "__future__"
        return isinstance(node, ast.Import) and all(one.name in there for one in node.names)

    tree.body = [node for node in tree.body if not needless(node)]


def _unwrap(tree: ast.Module) -> None:
    """Replace ``async def main(): …`` and its one call at the end by the function's body."""
    if not tree.body:
        return
    *rest, last = tree.body
    if isinstance(last, ast.If) and "__name__" in ast.unparse(last.test) and len(last.body) == 1 and not last.orelse:
        last = last.body[0]
    name = _entry(last)
    mains = [node for node in rest if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name]
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    if len(mains) == 1 and uses == 1 and not ast.unparse(mains[0].args) and not mains[0].decorator_list:
        tree.body = [node for node in rest if node is not mains[0]] + mains[0].body


def _entry(last: ast.stmt) -> str:
    """Return the function that the last statement runs without doing anything else; empty if there is none."""
    node: ast.AST = last
    while isinstance(node, ast.Expr | ast.Await) or called(node) in {"print", "asyncio.run"}:
        if isinstance(node, ast.Call):
            if len(node.args) != 1:
                return ""
            node = node.args[0]
        elif isinstance(node, ast.Expr | ast.Await):
            node = node.value
    return called(node) if isinstance(node, ast.Call) and not node.args and not node.keywords else ""


class _Calls(ast.NodeTransformer):
    """Transformer of calls: names arguments, removes task wrappers and replaces ``next``."""

    def __init__(self, tools: Mapping[str, Signature], own: Collection[str]) -> None:
        self._tools = tools
        self._own = own

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = called(node)
        if name in self._tools:
            _by_name(node, list(self._tools[name].arguments))
        elif name in _TASKS and node.args:
            return node.args[0]
        elif name == "next" and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return _first(node.args[0], node.args[1:], own="first" in self._own)
        elif name in {"asyncio.gather", "gather"}:
            node.keywords = [one for one in node.keywords if not _is_false(one)]
        return node


def _by_name(call: ast.Call, names: Sequence[str]) -> None:
    """Turn positional arguments, and those of a literal ``**`` dictionary, into keyword arguments.

    Names that differ from a parameter only in underscores and case are corrected.
    """
    given: list[ast.keyword] = []
    for one in call.keywords:
        if one.arg is None and isinstance(one.value, ast.Dict):
            pairs = zip(one.value.keys, one.value.values, strict=True)
            unpacked = [ast.keyword(name, value) for key, value in pairs if (name := _text(key)).isidentifier()]
            given += unpacked if len(unpacked) == len(one.value.keys) else [one]
        else:
            given.append(one)
    if len(call.args) <= len(names) and not any(isinstance(one, ast.Starred) for one in call.args):
        placed = [ast.keyword(name, value) for name, value in zip(names, call.args, strict=False)]
        if not {one.arg for one in placed} & {one.arg for one in given}:
            given, call.args = placed + given, []
    taken = {one.arg for one in given}
    for one in given:
        alike = [name for name in names if one.arg and _plain(name) == _plain(one.arg)]
        if one.arg not in names and len(alike) == 1 and alike[0] not in taken:
            one.arg = alike[0]
    call.keywords = given


def _text(node: ast.expr | None) -> str:
    """Return the text of a string constant; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _plain(name: str) -> str:
    """Return a name without underscores and case."""
    return name.replace("_", "").casefold()


def _is_false(one: ast.keyword) -> bool:
    """Return whether a keyword is ``return_exceptions=False``, which changes nothing."""
    return one.arg == "return_exceptions" and isinstance(one.value, ast.Constant) and not one.value.value


def _first(items: ast.GeneratorExp, default: Sequence[ast.expr], *, own: bool) -> ast.expr:
    """Replace ``next`` of a generator, which the sandbox lacks, by the first item of a list, or the default.

    ``own``: whether the text binds another ``first``.
    """
    found: ast.expr = ast.ListComp(items.elt, items.generators)
    if default and own:
        return ast.Subscript(ast.BoolOp(ast.Or(), [found, ast.List([*default], ast.Load())]), ast.Constant(0))
    if default:
        return ast.Call(ast.Name("first", ast.Load()), [found, *default], [])
    return ast.Subscript(found, ast.Constant(0), ast.Load())


def _end_in_value(tree: ast.Module) -> None:
    """Turn a last statement that returns, prints or assigns the answer into the answer itself."""
    if not tree.body:
        return
    last = tree.body[-1]
    if isinstance(last, ast.If | ast.Try | ast.Match):
        if _gives(last):
            name = _free("result", tree)
            _name(last, name)
            tree.body.append(ast.Expr(ast.Name(name, ast.Load())))
        return
    value = _value(last)
    if isinstance(last, ast.Assign | ast.AnnAssign) and value is not None:
        tree.body.append(ast.Expr(value))
    elif value is not None:
        tree.body[-1] = ast.Expr(value)


def _value(last: ast.stmt) -> ast.expr | None:
    """Return the value that a statement returns, prints, consists of or assigns to a name; None if there is none."""
    match last:
        case ast.Return(value=ast.expr() as value):
            return value
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[value], keywords=[])):
            return None if isinstance(value, ast.Starred) else value
        case ast.Expr(value=value):
            return value
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return ast.Name(name, ast.Load())
        case _:
            return None


def _gives(last: ast.stmt) -> bool:
    """Return whether each branch of a statement ends in a value or in an error."""
    blocks = _branches(last)
    return bool(blocks) and all(
        block and (isinstance(block[-1], ast.Raise) or _value(block[-1]) is not None or _gives(block[-1]))
        for block in blocks
    )


def _name(last: ast.stmt, name: str) -> None:
    """Assign the value at the end of each branch to a name."""
    for block in _branches(last):
        value = _value(block[-1])
        if value is None:
            _name(block[-1], name)
            continue
        if not isinstance(block[-1], ast.Assign | ast.AnnAssign):
            block.pop()
        block.append(ast.Assign([ast.Name(name, ast.Store())], value))


def _branches(last: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of which one runs to the end of the statement."""
    match last:
        case ast.If():
            return [last.body, last.orelse]
        case ast.Try():
            return [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        case ast.Match():
            return [case.body for case in last.cases]
        case _:
            return []


def _free(name: str, tree: ast.Module) -> str:
    """Return the name, with underscores appended until nothing in the tree binds it."""
    taken = bound_names(tree)
    while name in taken:
        name += "_"
    return name


def _await_forgotten(tree: ast.Module, tools: Collection[str]) -> None:
    """Insert ``await`` before forgotten calls at module level and in async functions."""
    above = parents(tree)
    lost = {
        call
        for call in forgotten(tree, asynchronous(tree, tools))
        if function_of(call, above) is None or isinstance(function_of(call, above), ast.AsyncFunctionDef)
    }

    class Awaiting(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            return ast.Await(node) if node in lost else node

    Awaiting().visit(tree)


def _import_what_is_used(tree: ast.Module, there: Collection[str]) -> None:
    """Insert missing imports: of modules whose names stand before a dot, and of a few unambiguous names.

    ``there``: names that need no import.
    """
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


def _call_methods_in_lambdas(tree: ast.Module) -> None:
    """Wrap methods used as values in lambdas, as in ``key=d.get`` and ``map(str.strip, …)``.

    The sandbox has no methods as values.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for one in node.keywords:
            if one.arg == "key":
                one.value = _in_lambda(one.value)
        if called(node) in _TAKING and node.args:
            node.args[0] = _in_lambda(node.args[0])


def _call_methods_on_values(tree: ast.Module) -> None:
    """Rewrite ``str.lower(x)`` as ``x.lower()``, and set methods with several arguments as a fold.

    The sandbox supports neither, as in ``set.intersection(*many)`` or ``a.union(b, c)``.
    """
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
    """Replace a call by ``reduce`` of a set method over several sets."""
    names = [ast.arg("one_"), ast.arg("other_")]
    one, other = (ast.Name(name.arg, ast.Load()) for name in names)
    step = ast.Call(ast.Attribute(one, method, ast.Load()), [other], [])
    call.func = ast.Name("reduce", ast.Load())
    call.args = [ast.Lambda(ast.arguments([], names, None, [], [], None, []), step), ast.List(sets, ast.Load())]


def _in_lambda(function: ast.expr) -> ast.expr:
    """Wrap a method of a builtin type, of a name or of a constant in a lambda; leave any other expression."""
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
