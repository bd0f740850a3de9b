"""Reading and repair of a program's text before it is checked and run.

Reading limits the size and depth of a text and reports why it is no program. Repairs need no new attempt of the
program's author, because the text can mean only one thing: they add forgotten imports and awaits, name positional
arguments, and rewrite features that the sandbox lacks.
"""

import ast
import re
import tokenize
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from types import MethodDescriptorType

from agent.programs.analysis.faults import MODULES, find_async_names, find_enclosing_function, find_unawaited_calls
from agent.programs.program_types import ASK
from agent.programs.signatures import ToolSignature
from domain.python_source import (
    SourcePosition,
    collect_bound_names,
    get_called_name,
    get_position,
    map_parents,
    parse_module,
)
from domain.source_text import SourceText, normalize_source, parse_source

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


def repair_program_text(
    text: str, tools: Mapping[str, ToolSignature], known_names: Collection[str], *, ends_in_answer: bool = True
) -> tuple[str, dict[SourcePosition, SourcePosition]]:
    """Return the repaired text, and a map from places in it to places in the original; empty if nothing changed.

    Args:
        text: a text that parses.
        tools: signatures of the functions on offer.
        known_names: names that need no import.
        ends_in_answer: whether the program's answer is the value of its last statement.
    """
    tree = parse_module(text)
    if not _rewrite(tree, tools, known_names, ends_in_answer=ends_in_answer) or not tree.body:
        return text, {}
    try:
        repaired = ast.unparse(tree)
        reparsed = parse_module(repaired)
    except (SyntaxError, ValueError, RecursionError):
        return text, {}  # for example an f-string that this Python version cannot express
    # Both trees usually have the same shape, so their nodes correspond in the order of ast.walk, outer nodes first. The
    # pairs are reversed because the last one wins in a dict: where several nodes begin at one place, the outermost.
    pairs = [
        (get_position(new), get_position(old)) for new, old in zip(ast.walk(reparsed), ast.walk(tree), strict=False)
    ]
    return repaired, dict(reversed(pairs))


def _rewrite(
    tree: ast.Module, tools: Mapping[str, ToolSignature], known_names: Collection[str], *, ends_in_answer: bool = True
) -> bool:
    """Repair a tree in place and return whether it changed. The arguments are those of :func:`repair_program_text`."""
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

    def is_needless(node: ast.stmt) -> bool:
        if isinstance(node, ast.ImportFrom):
            return (
                all(one.name in known_names and one.asname is None for one in node.names) or node.module == "__future__"
            )
        return isinstance(node, ast.Import) and all(one.name in known_names for one in node.names)

    tree.body = [node for node in tree.body if not is_needless(node)]


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

    def __init__(self, tools: Mapping[str, ToolSignature], bound_names: Collection[str]) -> None:
        self._tools = tools
        self._bound_names = bound_names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = get_called_name(node)
        if name in self._tools:
            _name_arguments(node, list(self._tools[name].arguments))
        elif name in _TASK_WRAPPERS and node.args:
            return node.args[0]
        elif name == "next" and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return _replace_next(node.args[0], node.args[1:], has_own_first="first" in self._bound_names)
        elif name in {"asyncio.gather", "gather"}:
            node.keywords = [keyword for keyword in node.keywords if not _is_disabled_option(keyword)]
        return node


def _name_arguments(call: ast.Call, parameters: Sequence[str]) -> None:
    """Turn positional arguments, and those of a literal ``**`` dictionary, into keyword arguments.

    Keywords that differ from a parameter only in underscores and case are corrected.
    """
    keywords: list[ast.keyword] = []
    for keyword in call.keywords:
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
            pairs_as_keywords = [
                ast.keyword(name, value) for key, value in pairs if (name := _read_text(key)).isidentifier()
            ]
            keywords += pairs_as_keywords if len(pairs_as_keywords) == len(keyword.value.keys) else [keyword]
        else:
            keywords.append(keyword)
    if len(call.args) <= len(parameters) and not any(isinstance(argument, ast.Starred) for argument in call.args):
        positional = [ast.keyword(name, value) for name, value in zip(parameters, call.args, strict=False)]
        if not {keyword.arg for keyword in positional} & {keyword.arg for keyword in keywords}:
            keywords, call.args = positional + keywords, []
    used_names = {keyword.arg for keyword in keywords}
    for keyword in keywords:
        similar = [name for name in parameters if keyword.arg and _normalize_name(name) == _normalize_name(keyword.arg)]
        if keyword.arg not in parameters and len(similar) == 1 and similar[0] not in used_names:
            keyword.arg = similar[0]
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
    value = _find_result_value(last)
    if isinstance(last, ast.Assign | ast.AnnAssign) and value is not None:
        tree.body.append(ast.Expr(value))
    elif value is not None:
        tree.body[-1] = ast.Expr(value)


def _find_result_value(statement: ast.stmt) -> ast.expr | None:
    """Return the value that a statement returns, prints, consists of or assigns to a name; None if there is none."""
    match statement:
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


def _ends_in_value(statement: ast.stmt) -> bool:
    """Return whether each branch of a statement ends in a value or in an error."""
    blocks = _list_branches(statement)
    return bool(blocks) and all(
        block
        and (isinstance(block[-1], ast.Raise) or _find_result_value(block[-1]) is not None or _ends_in_value(block[-1]))
        for block in blocks
    )


def _name_branch_values(statement: ast.stmt, name: str) -> None:
    """Assign the value at the end of each branch to a name."""
    for block in _list_branches(statement):
        value = _find_result_value(block[-1])
        if value is None:
            _name_branch_values(block[-1], name)
            continue
        if not isinstance(block[-1], ast.Assign | ast.AnnAssign):
            block.pop()
        block.append(ast.Assign([ast.Name(name, ast.Store())], value))


def _list_branches(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks in which a statement can end; empty for a statement without branches."""
    match statement:
        case ast.If():
            return [statement.body, statement.orelse]
        case ast.Try():
            return [statement.orelse or statement.body, *(handler.body for handler in statement.handlers)]
        case ast.Match():
            return [case.body for case in statement.cases]
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

    class AwaitInserter(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            return ast.Await(node) if node in unawaited else node

    AwaitInserter().visit(tree)


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
        for keyword in node.keywords:
            if keyword.arg == "key":
                keyword.value = _wrap_in_lambda(keyword.value)
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
                    _fold_sets(node, method, [first, *rest])
                elif not isinstance(first, ast.Starred):
                    node.func, node.args = ast.Attribute(first, method, ast.Load()), rest
            case ast.Call(func=ast.Attribute(value=one, attr=method), args=[first, *rest], keywords=[]) if (
                method in _SET_METHODS and (rest or isinstance(first, ast.Starred))
            ):
                _fold_sets(node, method, [one, first, *rest])
            case _:
                continue


def _fold_sets(call: ast.Call, method: str, sets: list[ast.expr]) -> None:
    """Replace a call by ``reduce`` of a set method over several sets."""
    names = [ast.arg("one_"), ast.arg("other_")]
    accumulated, next_set = (ast.Name(name.arg, ast.Load()) for name in names)
    step = ast.Call(ast.Attribute(accumulated, method, ast.Load()), [next_set], [])
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


MAX_LENGTH = 20_000
"""Longest text accepted, in characters. Programs that models write have a few hundred."""
_MAX_NODES = 6_000
_MAX_DEPTH = 60
_PLAIN_STRING = re.compile(r"[rRuUbB]*['\"]")
"""Beginning of a string literal that contains no names."""
_INVISIBLE = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f\ufeff\u2028\u2029]")
_FSTRING_START = re.compile(r"(?<!\w)[fF][rR]?(\"(?!\"\")|'(?!''))|(?<!\w)[rR][fF](\"(?!\"\")|'(?!''))")
_OTHER_QUOTE = {'"': "'", "'": '"'}


@dataclass(frozen=True, slots=True)
class UnreadableProgram:
    """Reason why a text is no program, and the position of the error."""

    complaint: str
    """The reason, in a sentence."""
    line: int = 0
    """Line, from 1; 0 if unknown."""
    column: int = 0
    """Column in characters, from 1; 0 if unknown."""


def read_program_text(text: str, max_length: int = MAX_LENGTH) -> str | UnreadableProgram:
    """Return the text as it is to be run, or why it is no program.

    Line endings are unified, nested quotes in f-strings are replaced if Python 3.11 cannot parse them, and a text that
    two parsers might read differently is normalized. ``max_length``: limit in characters; the limit of nodes is
    proportional to it.
    """
    if len(text) > max_length:
        return UnreadableProgram(f"The program is longer than {max_length} characters: write a shorter one.")
    unified = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    try:
        source = _parse_with_requoting(unified)
        if not source.fits_within(_MAX_NODES * max_length // MAX_LENGTH, _MAX_DEPTH):
            return UnreadableProgram("The program is too large or too deeply nested: write it more simply.")
        if _is_ambiguous(source.text):
            source = parse_source(normalize_source(source.text))
    except SyntaxError as error:
        message = f"Line {error.lineno or 0} is no Python: {error.msg}{_format_line(error.text)}"
        return UnreadableProgram(message, error.lineno or 0, max(error.offset or 0, 0))
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return UnreadableProgram("The program cannot be read: write it more simply.")
    if not source.statements:
        return UnreadableProgram("There is no program: write Python code.")
    return source.text


def _parse_with_requoting(text: str) -> SourceText:
    """Parse a text; if that fails, retry with other quotes inside f-strings."""
    try:
        return parse_source(text)
    except SyntaxError:
        requoted = _replace_nested_quotes(text)
        if requoted == text:
            raise
        return parse_source(requoted)


def _is_ambiguous(text: str) -> bool:
    """Return whether a text has invisible characters, or names that Python normalizes to others (NFKC).

    The sandbox has a parser of its own, which might read such a text differently.
    """
    if _INVISIBLE.search(text):
        return True
    return unicodedata.normalize("NFKC", text) != text and any(
        unicodedata.normalize("NFKC", token.string) != token.string
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type != tokenize.COMMENT and not (token.type == tokenize.STRING and _PLAIN_STRING.match(token.string))
    )


def _format_line(line: str | None) -> str:
    """Format the faulty line for a message."""
    return f": {line.strip()[:80]}" if line and line.strip() else "."


def _replace_nested_quotes(text: str) -> str:
    """Change inner quotes in f-strings that reuse the outer ones, as in ``f"{x["name"]}"``.

    Python allows this only since 3.12 (PEP 701), but models write it. Tried only for texts that do not parse.
    """
    parts: list[str] = []
    position = 0
    while opening := _FSTRING_START.search(text, position):
        quote = opening[1] or opening[2]
        parts.append(text[position : opening.end()])
        body, position = _read_string_body(text, opening.end(), quote)
        parts.append(body)
    return "".join((*parts, text[position:]))


def _read_string_body(text: str, position: int, quote: str) -> tuple[str, int]:
    """Return the text from after an opening quote to the end of its string, and the position behind it."""
    parts: list[str] = []
    depth = 0
    while position < len(text) and text[position] != "\n":
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            parts.append(text[position : position + 2])
            position += 2
        elif depth and char in _OTHER_QUOTE:
            inner = _read_inner_string(text, position)
            parts.append(_change_quotes(inner, quote))
            position += len(inner)
        elif char == quote:
            return "".join((*parts, char)), position + 1
        elif not depth and text[position : position + 2] in ("{{", "}}"):
            parts.append(text[position : position + 2])
            position += 2
        else:
            depth = max(depth + (char in "{[(") - (char in "}])"), 0) if depth or char == "{" else 0
            parts.append(char)
            position += 1
    return "".join(parts), position


def _read_inner_string(text: str, start: int) -> str:
    """Return the string literal inside braces that begins here."""
    end = start + 1
    while end < len(text) and text[end] not in (text[start], "\n"):
        end += 1 + (text[end] == "\\")
    return text[start : end + 1]


def _change_quotes(literal: str, quote: str) -> str:
    """Return a string literal with the other kind of quotes, if it uses ``quote`` and needs no escapes."""
    other = _OTHER_QUOTE[quote]
    if literal[0] != quote or literal[-1] != quote or other in literal or "\\" in literal or len(literal) == 1:
        return literal
    return other + literal[1:-1] + other
