"""Control dependence: what decides whether, how often and in which order a node of a program is reached.

The analysis is syntactic and conservative: it may report too many conditions but never too few. If the callers of a
function are unknown, :data:`UNKNOWN_CONDITION` is reported. Errors count where the program can continue after them or has
already made calls of the same kind, since the iteration in which a loop stops reveals as much as a condition. The
results are expressions; :class:`agent.programs.analysis.data_flow.ValueTracer` traces them to the answers that they
came from.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from agent.programs.sandbox_cell import LOOK
from domain.python_source import get_called_name, get_position, list_argument_values, map_parents

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
GATHER = frozenset({"gather", "asyncio.gather"})
"""Functions that run calls concurrently."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOCAL_EXITS = (ast.Return, ast.Break, ast.Continue)
"""Statements that leave only the function or loop around them."""
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.keyword, ast.IfExp, *_COMPREHENSIONS)
_NON_CONSUMING_FUNCTIONS = frozenset({"bool", "float", "int", "isinstance", "len", "repr", "str", LOOK})
"""Functions that remove nothing from their arguments, unlike ``next``."""
_EXHAUSTING_FUNCTIONS = frozenset({"dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Functions that always iterate over their whole argument."""
_PURE_METHODS = frozenset(
    {"capitalize", "casefold", "copy", "count", "date", "encode", "endswith", "find", "format", "get"}
    | {"index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isoformat", "isspace"}
    | {"isupper", "items", "join", "keys", "ljust", "lower", "lstrip", "partition", "removeprefix"}
    | {"removesuffix", "replace", "rfind", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines"}
    | {"startswith", "strftime", "strip", "time", "title", "total_seconds", "upper", "values", "weekday"}
    | {"zfill"}
)
"""Methods of strings, lists, dicts and dates that change nothing."""

UNKNOWN_CONDITION = "whatever calls it"
"""Name in place of a condition that is unknown; it stands for all answers so far."""


class ControlFlow:
    """Control dependences of the cells of one session."""

    def __init__(
        self,
        cells: Sequence[ast.Module],
        tools: Collection[str],
        find_sharing_names: Callable[[ast.expr], Collection[str]],
    ) -> None:
        """Index the cells.

        Args:
            cells: cells of the session, earliest first.
            tools: names of the functions that are tools.
            find_sharing_names: returns the names that may hold the value of an expression or a part of it.
        """
        self._tools = tools
        self._find_sharing_names = find_sharing_names
        self._parents: dict[ast.AST, ast.AST] = {}
        self._cell_of_node: dict[ast.AST, ast.Module] = {}
        self._conditions_by_node: dict[ast.AST, list[ast.AST]] = {}
        self._exits_by_node: dict[ast.AST, list[ast.AST]] = {}
        self._data_by_node: dict[ast.AST, list[ast.Name]] = {}
        self._uses_by_name: defaultdict[str, list[ast.expr]] = defaultdict(list)
        for cell in cells:
            self._parents |= map_parents(cell)
            for node in ast.walk(cell):
                self._cell_of_node[node] = cell
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._uses_by_name[node.id].append(node)
                elif isinstance(node, ast.Attribute):
                    self._uses_by_name[f".{node.attr}"].append(node)
        self._has_classes = any(isinstance(node, ast.ClassDef) for node in self._cell_of_node)
        self._bound_names = {
            node.id for node in self._cell_of_node if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        functions = (node for node in self._parents if isinstance(node, _FUNCTIONS))
        self._exit_conditions = [why for node in functions for why in self._find_caller_exits(node)]

    def find_conditions(self, node: ast.AST) -> list[ast.AST]:
        """Return the expressions whose values decide whether a node is reached."""
        if node not in self._conditions_by_node:
            self._conditions_by_node[node] = self._collect_conditions(node)
        return self._conditions_by_node[node]

    def _collect_conditions(self, node: ast.AST) -> list[ast.AST]:
        """Collect the conditions of a node, of the functions around it and of their callers."""
        conditions: list[ast.AST] = [*self._exit_conditions]
        seen, pending = set[ast.AST](), [node]
        while pending:
            inner = pending.pop()
            if inner in seen:
                continue
            seen.add(inner)
            if isinstance(inner, ast.Call):
                pending += self._find_await_uses(inner) or ()
                conditions += self._find_names_read_between(
                    inner, [use for use in self._find_uses_of_callee(inner) if self._is_called(use)]
                )
            # Climb to the module; at the root a node has no parent and stands for itself, which ends the loop.
            while (node := self._parents.get(inner, inner)) is not inner:
                conditions += self._find_branch_conditions(inner, node)
                if isinstance(inner, ast.stmt):
                    conditions += self._find_earlier_exits(inner, node)
                if isinstance(node, _LOOPS):
                    conditions += [*self._find_data_names(node), *self._find_exit_conditions(node)]
                if isinstance(node, _FUNCTIONS) and inner is not node.args:
                    pending += self._find_callers(node, conditions)
                inner = node
        return list(dict.fromkeys(conditions))

    def find_value_conditions(self, value: ast.AST) -> list[ast.AST]:
        """Return the expressions that decide whether a value was assigned to a name.

        ``value``: expression that is assigned, or iterated over by a loop. The target of a loop keeps its last value,
        so the conditions under which the loop is left count too.
        """
        parent = self._parents.get(value)
        exits = self._find_exit_conditions(parent) if isinstance(parent, _LOOPS) else ()
        return [*self.find_conditions(value), *exits]

    def find_content_conditions(self, name: str) -> Iterator[ast.AST]:
        """Yield the expressions that decide which items remain in the mutable value of a name.

        Methods, functions and loops may remove items through any name that shares the value. An iterator loses the
        items that a loop or a membership test consumes.
        """
        for removal in self._removals_by_name.get(name, ()):
            yield from removal

    @cached_property
    def _removals_by_name(self) -> Mapping[str, Sequence[tuple[ast.AST, ...]]]:
        """Removals by name: for each name that may share a value, the value and what decides which items it loses."""
        removals = defaultdict[str, list[tuple[ast.AST, ...]]](list)
        for changed, conditions in self._find_removals():
            for name in self._find_sharing_names(changed):
                removals[name].append((changed, *conditions))
        return removals

    def _find_removals(self) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
        """Yield each expression whose value may lose items, with the expressions that decide which items."""
        for node in self._cell_of_node:
            match node:
                case ast.Call(func=ast.Attribute(value=held, attr=method)) if get_called_name(node) not in GATHER:
                    if self._has_classes or method not in _PURE_METHODS:
                        yield held, [*self.find_conditions(node), *list_argument_values(node)]
                    yield from self._find_argument_removals(node)
                case ast.Call() if get_called_name(node) not in {*_NON_CONSUMING_FUNCTIONS, *self._tools}:
                    if not isinstance(node.func, ast.Name) or node.func.id in self._bound_names:
                        yield node.func, [*self.find_conditions(node), *list_argument_values(node)]
                    yield from self._find_argument_removals(node)
                case ast.For(iter=over) | ast.AsyncFor(iter=over) | ast.comprehension(iter=over):
                    yield over, [*self.find_conditions(over), *self._find_exit_conditions(node)]
                case ast.Compare(left=left, ops=ops, comparators=others) if any(
                    isinstance(operator, ast.In | ast.NotIn) for operator in ops
                ):
                    yield from ((container, [*self.find_conditions(container), left, *others]) for container in others)
                case ast.Delete(targets=targets):
                    for target in targets:
                        if isinstance(target, ast.Subscript):
                            yield target.value, [*self.find_conditions(node), target.slice]
                case _:
                    pass

    def _find_argument_removals(self, call: ast.Call) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
        """Yield the arguments of a call that may lose items, with the expressions that decide which.

        How far the function iterates over one argument may depend on the others, as in ``zip``.
        """
        values = list_argument_values(call)
        exhausts_all = get_called_name(call) in _EXHAUSTING_FUNCTIONS and not call.keywords
        for value in values:
            others = [] if exhausts_all else [other for other in (call.func, *values) if other is not value]
            yield value, [*self.find_conditions(call), *others]

    def find_names_and_calls(self, function: ast.AST) -> Iterator[ast.AST]:
        """Return the names and calls inside a function; each of them may decide what it returns."""
        return (node for node in ast.walk(function) if isinstance(node, ast.Name | ast.Call))

    def _find_branch_conditions(self, inner: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
        """Yield the expressions that decide whether a child is reached once its parent is."""
        match parent:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield from () if inner is test else (test,)
            case ast.For(iter=over) | ast.AsyncFor(iter=over):
                yield from () if inner is over else (over,)
            case ast.BoolOp(values=values):
                yield from values[: values.index(inner)] if inner in values else ()  # type: ignore[arg-type]
            case ast.Compare(left=left, comparators=others):
                yield from () if inner is left else (left, *others[:-1])
            case ast.Match(subject=subject, cases=cases):
                if inner is not subject:
                    yield subject
                    yield from (part for case in cases for part in self._find_loaded_names(case.pattern))
                    yield from (case.guard for case in cases if case.guard)
            case ast.Try(body=body):
                yield from (part for statement in body for part in self.find_names_and_calls(statement))
            case _ if isinstance(parent, _COMPREHENSIONS):
                first = parent.generators[0]
                yield from (
                    part
                    for generator in parent.generators
                    for part in ((generator.iter,) if generator is not inner else ())
                )
                yield from (test for generator in parent.generators for test in generator.ifs)
                yield from () if inner is first else (first.iter,)
            case ast.comprehension(iter=over):
                yield from () if inner is over else (over,)
            case _:
                return

    def _find_earlier_exits(self, statement: ast.stmt, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the conditions of early exits in the statements before this one in its block."""
        for name in ("body", "orelse", "finalbody", "handlers"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statement in statements:
                for earlier in statements[: statements.index(statement)]:  # type: ignore[reportUnknownVariableType]
                    yield from self._find_exit_conditions(earlier)  # type: ignore[reportUnknownArgumentType]

    def _find_exit_conditions(self, root: ast.AST) -> list[ast.AST]:
        """Return the conditions under which a statement, or the body of a loop, is left early."""
        if root not in self._exits_by_node:
            self._exits_by_node[root] = [
                why
                for node in self._walk_own_nodes(root)
                if self._is_exit(node)
                for why in self._find_conditions_between(node, root)
            ]
        return self._exits_by_node[root]

    def _find_caller_exits(self, function: ast.AST) -> list[ast.AST]:
        """Return the conditions of exits that a function passes on to its callers: errors, assertions and looks."""
        exits = [node for node in self._walk_own_nodes(function) if self._is_exit(node)]
        return [
            why
            for node in exits
            if not isinstance(node, _LOCAL_EXITS)
            for why in self._find_conditions_between(node, function)
        ]

    def _is_exit(self, node: ast.AST) -> bool:
        """Return whether a node may leave its block: an exit statement, an error, an assertion or a look."""
        return isinstance(node, (*_LOCAL_EXITS, ast.Raise, ast.Assert)) or get_called_name(node) == LOOK

    def _find_conditions_between(self, node: ast.AST, root: ast.AST) -> list[ast.AST]:
        """Return the conditions between an exit and the node that it leaves.

        A ``break`` or ``continue`` of an inner loop does not leave the node and has none.
        """
        conditions: list[ast.AST] = [node.test] if isinstance(node, ast.Assert) else []
        inner = node
        while inner is not root and (parent := self._parents.get(inner)) is not None:
            if isinstance(node, ast.Break | ast.Continue) and isinstance(parent, _LOOPS) and parent is not root:
                return []
            conditions += self._find_branch_conditions(inner, parent)
            inner = parent
        return conditions

    def _walk_own_nodes(self, root: ast.AST) -> Iterator[ast.AST]:
        """Yield a node and its descendants, but nothing inside functions that it defines."""
        pending = [root]
        while pending:
            node = pending.pop()
            yield node
            pending += (child for child in ast.iter_child_nodes(node) if not isinstance(child, _FUNCTIONS))

    def _find_data_names(self, root: ast.AST) -> list[ast.Name]:
        """Return the names read under a node, without tools; an operation on one of them may raise an error."""
        if root not in self._data_by_node:
            self._data_by_node[root] = [name for name in self._find_loaded_names(root) if name.id not in self._tools]
        return self._data_by_node[root]

    def _find_loaded_names(self, root: ast.AST) -> Iterator[ast.Name]:
        """Return the names that are read under a node."""
        return (node for node in ast.walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))

    def _find_callers(self, function: Function, conditions: list[ast.AST]) -> list[ast.AST]:
        """Return the calls that may run a function.

        Conditions that do not follow from the position of a call are added to ``conditions``: the arguments of
        functions that the function is passed to, and :data:`UNKNOWN_CONDITION` where it may be called from elsewhere.
        """
        parent = self._parents.get(function)
        if isinstance(function, ast.Lambda):
            names = [target.id for target in getattr(parent, "targets", ()) if isinstance(target, ast.Name)]
            uses = [use for name in names for use in self._uses_by_name[name]]
            is_assigned = isinstance(parent, ast.Assign) and len(names) == len(parent.targets)
            uses = uses if is_assigned else [function]
        else:
            is_method = isinstance(parent, ast.ClassDef)
            uses = self._uses_by_name[f".{function.name}" if is_method else function.name]
            if is_method or function.decorator_list:
                conditions.append(ast.Name(UNKNOWN_CONDITION, ast.Load()))
        calls: list[ast.AST] = []
        for use in uses:
            call = self._parents.get(use)
            if isinstance(call, ast.Call) and call.func is use:
                calls.append(call)
                if not isinstance(function, ast.Lambda) and self._find_await_uses(call) is None:
                    conditions.append(ast.Name(UNKNOWN_CONDITION, ast.Load()))
            elif isinstance(call, ast.Call):  # passed on: the other arguments decide how often it is called
                calls.append(call)
                conditions += [value for value in list_argument_values(call) if value is not use]
                conditions.append(call.func)
                if self._find_await_uses(call) is None:
                    conditions.append(ast.Name(UNKNOWN_CONDITION, ast.Load()))
            else:
                conditions.append(ast.Name(UNKNOWN_CONDITION, ast.Load()))
            conditions += self._find_names_read_between(use, uses)
        return calls

    def _find_await_uses(self, call: ast.Call) -> list[ast.AST] | None:
        """Return the names through which the result of a call may be awaited.

        Empty if the call itself is awaited or gathered; None if it is unknown where the result is awaited.
        """
        inner: ast.AST = call
        while (node := self._parents.get(inner)) is not None:
            if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and get_called_name(node) in GATHER):
                return []
            if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                return [use for name in names for use in self._uses_by_name[name]]
            if not isinstance(node, _CONTAINERS):
                return None
            inner = node
        return None

    def _find_uses_of_callee(self, call: ast.Call) -> list[ast.expr]:
        """Return all uses of the name that a call calls."""
        return self._uses_by_name[call.func.id] if isinstance(call.func, ast.Name) else []

    def _is_called(self, use: ast.expr) -> bool:
        call = self._parents.get(use)
        return isinstance(call, ast.Call) and call.func is use

    def _find_names_read_between(self, node: ast.expr, uses: Sequence[ast.expr]) -> Iterator[ast.AST]:
        """Return the names read between the first of ``uses`` in the node's cell and the node.

        An error at one of them reveals how many calls were made before it.
        """
        cell, end = self._cell_of_node[node], get_position(node)
        begin = min((get_position(use) for use in uses if self._cell_of_node[use] is cell), default=end)
        return (name for name in self._find_data_names(cell) if begin < get_position(name) < end)
