"""Programs as sequences of calls: the calls that are made exactly once, and where their arguments come from.

:func:`find_other_effects` finds what a program does besides making such calls.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from pydantic.types import JsonValue

from agent.programs.analysis.constants import NotConstantError, evaluate_constant
from agent.programs.analysis.definition_reader import unpack_value
from agent.programs.analysis.program_flow import Site
from domain.program import Program
from domain.python_source import collect_bound_names
from domain.source_text import SourceExpression, parse_source, parse_sources

AnswerPlace = tuple[Site | int, str]
"""A call site, or the number of an earlier result from 1, and a field of its answer.

The field is a path such as ``items[0].lat``, or ``items[].lat`` for an item that the request names.
"""

_PLAIN_STATEMENTS = ast.Expr | ast.Assign | ast.AnnAssign
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONDITIONAL_NODES = (*_COMPREHENSIONS, ast.Lambda, ast.IfExp, ast.BoolOp, ast.NamedExpr)
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_STOP_FUNCTIONS = frozenset({"ask", "look"})
_EXITS = ast.Raise | ast.Assert | ast.Return
_MUTATING_METHODS = frozenset(
    ("add", "append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popitem", "popleft", "remove")
) | {"reverse", "setdefault", "sort", "update"}
"""Methods that change their object."""
_NEW_CONTAINERS = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
_EARLIER_NAME = re.compile(r"earlier_(\d+)")
_EMPTY_DEFAULTS = ("None", "{}", "[]")
_MODULES = frozenset({"asyncio", "json"})
_RESERVED_NAMES = _MODULES | {"fill", "float"}
"""Names besides those of tools that a linear program may use, and therefore must not rebind."""


class LinearProgram:
    """Reader of the calls that a program makes exactly once, and of their arguments.

    Values are followed only through names that are assigned once and never changed.
    """

    def __init__(self, cells: Mapping[int, Program], *, has_run: bool = False) -> None:
        """Read all cells of a program.

        Args:
            cells: the cells by their numbers.
            has_run: whether the program has run. Then defaults such as the one of ``get`` are ignored, since the caller
                knows the values that were really used.

        Raises:
            SyntaxError: a text cannot be parsed.
            ValueError: a text cannot be parsed, for example because it contains null bytes.
            RecursionError: a text is nested too deeply.
        """
        self._has_run = has_run
        self._cells = cells
        numbers = sorted(cells)
        self._sources = dict(
            zip(numbers, parse_sources([cells[cell_number].text for cell_number in numbers]), strict=True)
        )
        self._values_by_name: dict[str, ast.expr] = {}
        self._sites: dict[ast.AST, Site] = {}
        self._assignment_counts = Counter[str]()
        self._resolving = set[ast.expr]()
        all_calls: dict[ast.Call, Site] = {}
        for number, source in self._sources.items():
            tools = cells[number].tools
            self._assignment_counts += source.assignment_counts + Counter(
                source.bound_names - source.assignment_counts.keys()
            )
            all_calls |= {call: (number, source.get_span(call)[0]) for call in _find_tool_calls(source.tree, tools)}
            for statement in (node for node in source.tree.body if isinstance(node, _PLAIN_STATEMENTS)):
                self._record_assignment(statement)
                self._sites |= {
                    call: all_calls[call] for call in _find_tool_calls(statement, tools, _CONDITIONAL_NODES)
                }
        self.calls = {site: call for call, site in self._sites.items() if isinstance(call, ast.Call)}
        """Calls of tools that are made exactly once, in order."""
        self.other_calls = {
            site: _get_function_name(call) for call, site in all_calls.items() if call not in self._sites
        }
        """Functions of the other calls of tools, which may be made never or repeatedly."""

    def _record_assignment(self, statement: ast.stmt) -> None:
        """Record the values that a statement assigns to names."""
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._values_by_name[name] = value
            case ast.Assign([ast.Tuple(targets) | ast.List(targets)], value) if len(targets) == len(
                unpack_value(value)
            ):
                for target, part in zip(targets, unpack_value(value), strict=True):
                    if isinstance(target, ast.Name):
                        self._values_by_name[target.id] = part
            case _:
                return

    def _find_held_value(self, name: str) -> ast.expr | None:
        """Return the value of a name that is assigned once and never changed; None for any other name."""
        is_fixed = self._assignment_counts[name] == 1 and name not in self._changed[0]
        return self._values_by_name.get(name) if is_fixed else None

    def _resolve_value(self, value: ast.expr) -> ast.expr:
        """Return the expression that a chain of names stands for; any other expression stands for itself."""
        seen = set[str]()
        while (
            isinstance(value, ast.Name)
            and value.id not in seen
            and (next_value := self._find_held_value(value.id)) is not None
        ):
            seen.add(value.id)
            value = next_value
        return value

    def find_external_name(self, value: SourceExpression) -> str:
        """Return the name that a value is read from if the program does not define it; else empty."""
        resolved = self._resolve_value(value.node)
        return resolved.id if isinstance(resolved, ast.Name) and not self._assignment_counts[resolved.id] else ""

    def list_arguments(self, site: Site) -> list[tuple[str, SourceExpression]]:
        """Return the arguments of a call, each with the tool's parameter."""
        call, source = self.calls[site], self._sources[site[0]]
        names = self._cells[site[0]].arguments.get(_get_function_name(call), {})
        return [
            (names.get(keyword.arg, keyword.arg), source.to_expression(keyword.value))
            for keyword in call.keywords
            if keyword.arg
        ]

    def find_function_name(self, site: Site) -> str:
        """Return the name of the function that is called at a site."""
        return _get_function_name(self.calls[site])

    def read_constant(self, value: SourceExpression) -> JsonValue:
        """Return the value of a constant expression, following names.

        Raises:
            NotConstantError: the expression is not constant.
        """
        return evaluate_constant(value.node, self._find_held_value)

    def find_answer_place(self, value: SourceExpression) -> AnswerPlace | None:
        """Return the field of an answer that a value is read from; None if it is anything else."""
        return self._find_answer_place(value.node)

    def _find_answer_place(self, value: ast.expr) -> AnswerPlace | None:
        resolved = self._resolve_value(value)
        if resolved in self._resolving:
            return None  # a name that refers to itself, directly or in a cycle
        self._resolving.add(resolved)
        place = self._match_answer_place(resolved)
        self._resolving.discard(resolved)
        return place

    def _match_answer_place(self, resolved: ast.expr) -> AnswerPlace | None:
        """Match the forms in which a field of an answer can be written."""
        match resolved:
            case ast.Await(inner):
                return self._find_answer_place(inner)
            case ast.Name(name):
                earlier = _EARLIER_NAME.fullmatch(name) if self._has_run else None  # in old stored programs
                return (int(earlier[1]), "") if earlier and not self._assignment_counts[name] else None
            case ast.Call() if resolved in self._sites:
                return self._sites[resolved], ""
            case ast.Call(ast.Name("named" | "first" as chosen), [held, *default], []) if (
                self._is_empty_default(default) and not self._assignment_counts[chosen]
            ):
                return _append_field(self._find_answer_place(held), "[]" if chosen == "named" else "[0]")
            case ast.Call(ast.Attribute(held, "get"), [ast.Constant(part), *default], []) if self._is_empty_default(
                default
            ):
                return _enter_field(self._find_answer_place(held), part)
            case ast.Subscript(ast.Name("earlier"), ast.Constant(int() as number)) if not self._assignment_counts[
                "earlier"
            ]:
                return (number + 1, "") if number >= 0 else None
            case ast.Subscript(held, ast.Constant(int() as number)) if parts := unpack_value(self._resolve_value(held)):
                return self._find_answer_place(parts[number]) if 0 <= number < len(parts) else None
            case ast.Subscript(held, ast.Constant(part)):
                return _enter_field(self._find_answer_place(held), part)
            case _:
                return None

    def is_unchanged(self, place: AnswerPlace) -> bool:
        """Return whether the program never changes the answer that a place is in."""
        changed_answers = self._changed[1]
        return None not in changed_answers and place[0] not in changed_answers

    def _is_empty_default(self, defaults: Sequence[ast.expr]) -> bool:
        """Return whether a default adds no value of its own."""
        return self._has_run or all(ast.unparse(expression) in _EMPTY_DEFAULTS for expression in defaults)

    @cached_property
    def _changed(self) -> tuple[frozenset[str], frozenset[Site | int | None]]:
        """Names and answers that are changed in place; None among the answers means any answer."""
        names, answers = set[str](), set[Site | int | None]()
        # Finding places below reads this property again: meanwhile nothing counts as changed, which ends the
        # recursion.
        self.__dict__["_changed"] = (frozenset[str](), frozenset[Site | int | None]())
        for changed in (expression for node in self._iterate_nodes() for expression in _find_mutations(node)):
            place = self._find_answer_place(changed)
            if isinstance(changed, ast.Name):
                names.add(changed.id)
            if place is not None:
                answers.add(place[0])
            elif not isinstance(changed, ast.Name) or not isinstance(
                self._values_by_name.get(changed.id), _NEW_CONTAINERS
            ):
                answers.add(None)
        return frozenset(names), frozenset(answers)

    def find_line(self, site: Site) -> int:
        """Return the line, from 1, that a call is on in its text."""
        return self._cells[site[0]].text.encode()[: site[1]].count(b"\n") + 1

    def find_interruptions(self) -> Iterator[tuple[int, str]]:
        """Yield the lines where the program may end early or waits for somebody, each with a description."""
        functions = {node for node in self._iterate_nodes() if isinstance(node, _FUNCTIONS)}
        function_returns = {
            node for function in functions for node in ast.walk(function) if isinstance(node, ast.Return)
        }
        last_statements = {source.tree.body[-1] for source in self._sources.values() if source.tree.body}
        for node in self._iterate_nodes():
            if isinstance(node, _EXITS) and node not in function_returns | last_statements:
                yield node.lineno, "may end the program before its end"
            elif (
                isinstance(node, ast.Call)
                and _get_function_name(node) in _STOP_FUNCTIONS
                and not self._assignment_counts[_get_function_name(node)]
            ):
                yield node.lineno, f"calls {_get_function_name(node)}"

    def is_left_open(self, value: SourceExpression) -> bool:
        """Return whether a value is left open with ``fill()``."""
        resolved = self._resolve_value(value.node)
        return (
            isinstance(resolved, ast.Call)
            and _get_function_name(resolved) == "fill"
            and not self._assignment_counts["fill"]
        )

    @property
    def has_own_answer(self) -> bool:
        """True if the program ends in an answer of its own, other than the answers of its calls."""
        last = self._sources[max(self._sources)].tree.body[-1:]
        value = last[0].value if last and isinstance(last[0], ast.Expr | ast.Return) else None
        return value is not None and not self._is_only_calls(value)

    def _iterate_nodes(self) -> Iterator[ast.AST]:
        """Iterate over the nodes of all cells."""
        return (node for source in self._sources.values() for node in ast.walk(source.tree))

    def _is_only_calls(self, value: ast.expr) -> bool:
        """Return whether a value is the whole answer of a call, or a tuple or list of such answers."""
        parts = unpack_value(value)
        return self._find_answer_place(value) in {(site, "") for site in self._sites.values()} or (
            bool(parts) and all(map(self._is_only_calls, parts))
        )


def _get_function_name(call: ast.Call) -> str:
    """Return the name of the called function; empty if it is no plain name."""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _find_tool_calls(
    node: ast.AST, tools: Collection[str], excluded: Sequence[type[ast.AST]] = ()
) -> Iterator[ast.Call]:
    """Yield the calls of tools under a node, inner calls first. ``excluded``: types of nodes that are skipped."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, tuple(excluded)):
            yield from _find_tool_calls(child, tools, excluded)
    if isinstance(node, ast.Call) and _get_function_name(node) in tools:
        yield node


def _find_mutations(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a node changes in place."""
    match node:
        case ast.Call(ast.Attribute(held, method)) if method in _MUTATING_METHODS:
            yield held
        case ast.AugAssign(target):
            yield target
        case ast.Subscript(held, ctx=ast.Store() | ast.Del()) | ast.Attribute(held, ctx=ast.Store() | ast.Del()):
            yield held
        case _:
            return


def _append_field(place: AnswerPlace | None, part: str) -> AnswerPlace | None:
    """Return a place with a part appended to its field."""
    return None if place is None else (place[0], f"{place[1]}{part}")


def _enter_field(place: AnswerPlace | None, part: object) -> AnswerPlace | None:
    """Return the place of an item or key of the value at a place; None if a path cannot express the key."""
    match part:
        case bool() | float() | complex() | bytes() | None:
            return None
        case int() if part >= 0:
            return _append_field(place, f"[{part}]")
        case str() if part and not re.search(r"[.\[\]]", part):
            return _append_field(place, f".{part}" if place and place[1] else part)
        case _:
            return None


def find_other_effects(program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines that do more than call tools and assign values, each with a description.

    Statements after the last call are not reported, since they only compose the answer.

    Raises:
        SyntaxError: the text cannot be parsed.
    """
    source = parse_source(program.text)
    tree = source.tree
    yield from _find_rebindings(tree, program)
    yield from _find_passed_tools(tree, program)
    checker = _LinearStatementChecker(program, source.bound_names)
    last = max((index for index, statement in enumerate(tree.body) if _has_tool_call(statement, program)), default=-1)
    for statement in tree.body[: last + 1]:
        if not checker.is_plain(statement):
            yield statement.lineno, "does more than to call, and to name answers and constants"


def _has_tool_call(statement: ast.stmt, program: Program) -> bool:
    return any(isinstance(node, ast.Call) and _is_tool(node.func, program) for node in ast.walk(statement))


def _is_tool(node: ast.AST, program: Program) -> bool:
    return isinstance(node, ast.Name) and node.id in program.tools


def _find_rebindings(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines where the program rebinds a tool or a reserved name."""
    for line, name in _find_bindings(tree):
        if name in program.tools or name in _RESERVED_NAMES:
            yield line, f"gives another meaning to {name}"


def _find_bindings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that a text binds, each with its line, except modules imported under their own names."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() if _is_plain_import(node):
                continue
            case ast.Name(ctx=ast.Store()) | ast.arg() | ast.Import() | ast.ImportFrom():
                names = collect_bound_names(node)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names = {name}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = {name}
            case ast.ExceptHandler(name=str(name)) | ast.Name(id=name, ctx=ast.Del()):
                names = {name}
            case _:
                continue
        yield from ((node.lineno, name) for name in names)


def _is_plain_import(statement: ast.Import) -> bool:
    """Return whether an import only binds known modules under their own names."""
    return all(alias.name in _MODULES and not alias.asname for alias in statement.names)


def _find_passed_tools(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines where a tool is used as a value and not called."""
    called_functions = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and _is_tool(node, program) and node not in called_functions:
            yield node.lineno, f"gives {node.id} on without a call"


class _LinearStatementChecker:
    """Checker of the statements of one program.

    Each statement must be passed to :meth:`is_plain` once and in order, since a name counts only after it is assigned.
    """

    def __init__(self, program: Program, bound: frozenset[str]) -> None:
        """Start before the first statement. ``bound``: all names that the program binds."""
        self._program = program
        self._bound = bound
        self._undefined = set(bound)

    def is_plain(self, statement: ast.stmt) -> bool:
        """Return whether the next statement only calls a tool, or assigns an answer or a constant."""
        match statement:
            case ast.Assign([target], value) | ast.AnnAssign(target, ast.Name(), ast.expr() as value):
                is_plain_value = self._is_effect_free(value)
                names = list(_find_plain_target_names(target))
                self._undefined.difference_update(names)
                return is_plain_value and bool(names)
            case ast.Expr(value) | ast.Return(ast.expr() as value):
                return self._is_effect_free(value)
            case ast.Import():
                self._undefined -= _MODULES
                return _is_plain_import(statement)
            case _:
                return isinstance(statement, ast.Pass)

    def _is_effect_free(self, value: ast.expr) -> bool:
        """Return whether a value is composed of answers, constants and assigned names, without side effects."""
        match value:
            case ast.Await(ast.Call() as call):
                return self._is_tool_call(call) or self._is_gathered_calls(call)
            case ast.Name(name):
                return name not in self._undefined
            case ast.Subscript(held, ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant())):
                return self._is_effect_free(held)
            case ast.Call(ast.Name("first" | "named" as chosen), parts, []) if chosen not in self._bound:
                return all(map(self._is_effect_free, parts))
            case ast.Call(ast.Attribute(held, "get"), parts, []):
                return all(map(self._is_effect_free, (held, *parts)))
            case ast.List(parts) | ast.Tuple(parts) | ast.JoinedStr(parts):
                return all(map(self._is_effect_free, parts))
            case ast.FormattedValue(shown, _, form):
                return self._is_effect_free(shown) and (form is None or self._is_effect_free(form))
            case ast.Dict(keys, values):
                return all(isinstance(key, ast.Constant) for key in keys) and all(map(self._is_effect_free, values))
            case _:
                return _is_constant(value)

    def _is_tool_call(self, call: ast.expr) -> bool:
        """Return whether a node calls a tool with keyword arguments only; arguments may be ``fill()``."""
        if not (isinstance(call, ast.Call) and _is_tool(call.func, self._program)) or call.args:
            return False
        return all(
            keyword.arg and (_is_left_open(keyword.value) or self._is_effect_free(keyword.value))
            for keyword in call.keywords
        )

    def _is_gathered_calls(self, call: ast.Call) -> bool:
        """Return whether a node gathers calls of tools, none of whose arguments awaits another call."""
        match call:
            case ast.Call(ast.Attribute(ast.Name("asyncio"), "gather"), made, []):
                has_await = any(isinstance(node, ast.Await) for part in made for node in ast.walk(part))
                return not has_await and all(map(self._is_tool_call, made))
            case _:
                return False


def _find_plain_target_names(target: ast.expr) -> Iterator[str]:
    """Yield the names of an assignment target; none if it contains anything but names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if all(isinstance(part, ast.Name) for part in parts):
        yield from (part.id for part in parts if isinstance(part, ast.Name))


def _is_left_open(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value) == "fill()"


def _is_constant(value: ast.expr) -> bool:
    try:
        evaluate_constant(value)
    except NotConstantError:
        return False
    return True
