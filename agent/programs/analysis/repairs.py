"""Reading and repair of a program's text before it is checked and run.

Reading limits the size and depth of a text and reports why it is no program. Repairs need no new attempt of the
program's author, because the text can mean only one thing: they add forgotten imports and awaits, name positional
arguments, and rewrite features that the sandbox lacks.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from types import MethodDescriptorType

from agent.programs.analysis.faults import MODULES, find_async_names, find_enclosing_function, find_unawaited_calls
from agent.programs.protocol import ASK
from agent.programs.signatures import ToolSignature
from domain.python_source import Place, collect_bound_names, get_called_name, get_place, map_parents, parse_module

_MODULE_OF_NAME = {
    "Counter": "collections", "OrderedDict": "collections", "date": "datetime", "defaultdict": "collections", "gather": "asyncio",
    "reduce": "functools", "timedelta": "datetime",
}  # fmt: skip
"""Modules of names that are unambiguous if nothing in the text binds them."""
_DATETIME_NAMES = frozenset({"date", "datetime", "time", "timedelta", "timezone", "UTC"})
"""Names in the module ``datetime``. Any other attribute means the class ``datetime.datetime``."""
_TYPES: dict[str, type] = {"dict": dict, "float": float, "int": int, "list": list, "set": set, "str": str}
_SET_METHODS = frozenset({"difference", "intersection", "union"})
"""Methods that take any number of sets, while the sandbox supports one."""
_HIGHER_ORDER_BUILTINS = frozenset({"filter", "map"})
"""Builtins whose first argument is a function."""
_TASK_WRAPPERS = frozenset({"asyncio.create_task", "asyncio.ensure_future", "asyncio.wait_for"})
"""Wrappers of a coroutine that are replaced by the coroutine itself."""


def repair(
    text: str, tools: Mapping[str, ToolSignature], known_names: Collection[str], *, ends_in_answer: bool = True
) -> tuple[str, dict[Place, Place]]:
    """Return the repaired text, and a map from places in it to places in the original; empty if nothing changed.

    Args:
        text: a text that parses.
        tools: signatures of the functions on offer.
        known_names: names that need no import.
        ends_in_answer: whether the program's answer is the value of its last statement.
    """
    changed = parse_module(text)
    if not _rewrite(changed, tools, known_names, ends_in_answer=ends_in_answer) or not changed.body:
        return text, {}
    try:
        repaired = ast.unparse(changed)
        reparsed = parse_module(repaired)
    except (SyntaxError, ValueError, RecursionError):
        return text, {}  # for example an f-string that this Python version cannot express
    # Both trees usually have the same shape, so their nodes correspond in the order of ast.walk, outer nodes first. The
    # pairs are reversed because the last one wins in a dict: where several nodes begin at one place, the outermost.
    pairs = [(get_place(new), get_place(old)) for new, old in zip(ast.walk(reparsed), ast.walk(changed), strict=False)]
    return repaired, dict(reversed(pairs))


def _rewrite(
    tree: ast.Module, tools: Mapping[str, ToolSignature], known_names: Collection[str], *, ends_in_answer: bool = True
) -> bool:
    """Repair a tree in place and return whether it changed. The arguments are those of :func:`repair`."""
    before = ast.dump(tree)
    _remove_needless_imports(tree, {*tools, *known_names})
    _unwrap_main(tree)
    _CallRewriter(tools, collect_bound_names(tree)).visit(tree)
    _call_methods_in_lambdas(tree)
    _call_methods_on_values(tree)
    if ends_in_answer:
        _end_in_value(tree)
    ast.fix_missing_locations(tree)
    _await_unawaited_calls(tree, {*tools, ASK})
    _add_missing_imports(tree, {*tools, *known_names})
    ast.fix_missing_locations(tree)
    return ast.dump(tree) != before


def _remove_needless_imports(tree: ast.Module, known_names: Collection[str]) -> None:
    """Remove imports of names that exist anyway, and of ``__future__``."""

    def needless(node: ast.stmt) -> bool:
        if isinstance(node, ast.ImportFrom):
            return (
                all(one.name in known_names and one.asname is None for one in node.names) or node.module == "__future__"
            )
        return isinstance(node, ast.Import) and all(one.name in known_names for one in node.names)

    tree.body = [node for node in tree.body if not needless(node)]


def _unwrap_main(tree: ast.Module) -> None:
    """Replace ``async def main(): …`` and the single call of it at the end by the function's body."""
    if not tree.body:
        return
    *rest, last = tree.body
    if isinstance(last, ast.If) and "__name__" in ast.unparse(last.test) and len(last.body) == 1 and not last.orelse:
        last = last.body[0]
    name = _find_entry_function(last)
    mains = [node for node in rest if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name]
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    if len(mains) == 1 and uses == 1 and not ast.unparse(mains[0].args) and not mains[0].decorator_list:
        tree.body = [node for node in rest if node is not mains[0]] + mains[0].body


def _find_entry_function(last: ast.stmt) -> str:
    """Return the function that the last statement only calls, awaits, runs or prints; empty if there is none."""
    node: ast.AST = last
    while isinstance(node, ast.Expr | ast.Await) or get_called_name(node) in {"print", "asyncio.run"}:
        if isinstance(node, ast.Call):
            if len(node.args) != 1:
                return ""
            node = node.args[0]
        elif isinstance(node, ast.Expr | ast.Await):
            node = node.value
    return get_called_name(node) if isinstance(node, ast.Call) and not node.args and not node.keywords else ""


class _CallRewriter(ast.NodeTransformer):
    """Transformer of calls: names arguments, unwraps tasks and replaces ``next``."""

    def __init__(self, tools: Mapping[str, ToolSignature], own: Collection[str]) -> None:
        self._tools = tools
        self._own = own

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = get_called_name(node)
        if name in self._tools:
            _name_arguments(node, list(self._tools[name].arguments))
        elif name in _TASK_WRAPPERS and node.args:
            return node.args[0]
        elif name == "next" and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return _replace_next(node.args[0], node.args[1:], has_own_first="first" in self._own)
        elif name in {"asyncio.gather", "gather"}:
            node.keywords = [one for one in node.keywords if not _is_disabled_option(one)]
        return node


def _name_arguments(call: ast.Call, names: Sequence[str]) -> None:
    """Turn positional arguments, and those of a literal ``**`` dictionary, into keyword arguments.

    Keywords that differ from a parameter only in underscores and case are corrected.
    """
    keywords: list[ast.keyword] = []
    for one in call.keywords:
        if one.arg is None and isinstance(one.value, ast.Dict):
            pairs = zip(one.value.keys, one.value.values, strict=True)
            pairs_as_keywords = [
                ast.keyword(name, value) for key, value in pairs if (name := _read_text(key)).isidentifier()
            ]
            keywords += pairs_as_keywords if len(pairs_as_keywords) == len(one.value.keys) else [one]
        else:
            keywords.append(one)
    if len(call.args) <= len(names) and not any(isinstance(one, ast.Starred) for one in call.args):
        positional = [ast.keyword(name, value) for name, value in zip(names, call.args, strict=False)]
        if not {one.arg for one in positional} & {one.arg for one in keywords}:
            keywords, call.args = positional + keywords, []
    used_names = {one.arg for one in keywords}
    for one in keywords:
        similar = [name for name in names if one.arg and _normalize_name(name) == _normalize_name(one.arg)]
        if one.arg not in names and len(similar) == 1 and similar[0] not in used_names:
            one.arg = similar[0]
    call.keywords = keywords


def _read_text(node: ast.expr | None) -> str:
    """Return the text of a string constant; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _normalize_name(name: str) -> str:
    """Return a name without underscores and case."""
    return name.replace("_", "").casefold()


def _is_disabled_option(keyword: ast.keyword) -> bool:
    """Return whether a keyword is ``return_exceptions=False``, which changes nothing."""
    return keyword.arg == "return_exceptions" and isinstance(keyword.value, ast.Constant) and not keyword.value.value


def _replace_next(items: ast.GeneratorExp, default: Sequence[ast.expr], *, has_own_first: bool) -> ast.expr:
    """Replace ``next`` of a generator, which the sandbox lacks, by the first item of a list, or the default.

    ``has_own_first``: whether the text binds another ``first``.
    """
    matches: ast.expr = ast.ListComp(items.elt, items.generators)
    if default and has_own_first:
        return ast.Subscript(ast.BoolOp(ast.Or(), [matches, ast.List([*default], ast.Load())]), ast.Constant(0))
    if default:
        return ast.Call(ast.Name("first", ast.Load()), [matches, *default], [])
    return ast.Subscript(matches, ast.Constant(0), ast.Load())


def _end_in_value(tree: ast.Module) -> None:
    """Turn a last statement that returns, prints or assigns the answer into the answer itself."""
    if not tree.body:
        return
    last = tree.body[-1]
    if isinstance(last, ast.If | ast.Try | ast.Match):
        if _ends_in_value(last):
            name = _find_free_name("result", tree)
            _name_branch_values(last, name)
            tree.body.append(ast.Expr(ast.Name(name, ast.Load())))
        return
    value = _find_value(last)
    if isinstance(last, ast.Assign | ast.AnnAssign) and value is not None:
        tree.body.append(ast.Expr(value))
    elif value is not None:
        tree.body[-1] = ast.Expr(value)


def _find_value(last: ast.stmt) -> ast.expr | None:
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


def _ends_in_value(last: ast.stmt) -> bool:
    """Return whether each branch of a statement ends in a value or in an error."""
    blocks = _list_branches(last)
    return bool(blocks) and all(
        block and (isinstance(block[-1], ast.Raise) or _find_value(block[-1]) is not None or _ends_in_value(block[-1]))
        for block in blocks
    )


def _name_branch_values(last: ast.stmt, name: str) -> None:
    """Assign the value at the end of each branch to a name."""
    for block in _list_branches(last):
        value = _find_value(block[-1])
        if value is None:
            _name_branch_values(block[-1], name)
            continue
        if not isinstance(block[-1], ast.Assign | ast.AnnAssign):
            block.pop()
        block.append(ast.Assign([ast.Name(name, ast.Store())], value))


def _list_branches(last: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks in which a statement can end; empty for a statement without branches."""
    match last:
        case ast.If():
            return [last.body, last.orelse]
        case ast.Try():
            return [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        case ast.Match():
            return [case.body for case in last.cases]
        case _:
            return []


def _find_free_name(name: str, tree: ast.Module) -> str:
    """Return the name, with underscores appended until nothing in the tree binds it."""
    bound = collect_bound_names(tree)
    while name in bound:
        name += "_"
    return name


def _await_unawaited_calls(tree: ast.Module, tools: Collection[str]) -> None:
    """Insert ``await`` before forgotten calls at module level and in async functions."""
    parent_of = map_parents(tree)
    unawaited = {
        call
        for call in find_unawaited_calls(tree, find_async_names(tree, tools))
        if find_enclosing_function(call, parent_of) is None
        or isinstance(find_enclosing_function(call, parent_of), ast.AsyncFunctionDef)
    }

    class Awaiting(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            return ast.Await(node) if node in unawaited else node

    Awaiting().visit(tree)


def _add_missing_imports(tree: ast.Module, known_names: Collection[str]) -> None:
    """Insert missing imports of modules that are used as ``module.name``, and of a few unambiguous names.

    ``known_names``: names that need no import.
    """
    bound = collect_bound_names(tree) | set(known_names)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - bound
    modules = {
        node.value.id: node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in used & MODULES
    }
    datetime_attributes: set[str] = set()
    if "datetime" in modules:
        datetime_attributes = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "datetime"
        }
    added: list[ast.stmt] = []
    for module in sorted(modules):
        if module == "datetime" and not datetime_attributes & _DATETIME_NAMES:
            added.append(ast.ImportFrom("datetime", [ast.alias("datetime")], 0))
        else:
            added.append(ast.Import([ast.alias(module)]))
    added += [
        ast.ImportFrom(_MODULE_OF_NAME[name], [ast.alias(name)], 0) for name in sorted(used & _MODULE_OF_NAME.keys())
    ]
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
                one.value = _wrap_in_lambda(one.value)
        if get_called_name(node) in _HIGHER_ORDER_BUILTINS and node.args:
            node.args[0] = _wrap_in_lambda(node.args[0])


def _call_methods_on_values(tree: ast.Module) -> None:
    """Rewrite ``str.lower(x)`` as ``x.lower()``, and set methods with several arguments as ``reduce``.

    The sandbox supports neither form; examples of the latter are ``set.intersection(*many)`` and ``a.union(b, c)``.
    """
    bound = collect_bound_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *rest]) if (
                name not in bound and isinstance(getattr(_TYPES.get(name), method, None), MethodDescriptorType)
            ):
                if method in _SET_METHODS and not node.keywords:
                    _fold(node, method, [first, *rest])
                elif not isinstance(first, ast.Starred):
                    node.func, node.args = ast.Attribute(first, method, ast.Load()), rest
            case ast.Call(func=ast.Attribute(value=one, attr=method), args=[first, *rest], keywords=[]) if (
                method in _SET_METHODS and (rest or isinstance(first, ast.Starred))
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


def _wrap_in_lambda(function: ast.expr) -> ast.expr:
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
