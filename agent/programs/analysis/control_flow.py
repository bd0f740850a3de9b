"""Control dependence: what decides whether, how often and in which order a place of a program is reached.

The result is read off the syntax and never too small: if the callers of a function are unknown, everything may
decide. Errors count where the program can continue after them or has already made calls of the same kind: the round
in which a loop stops reveals as much as a condition. The results are expressions;
:class:`agent.programs.analysis.data_flow.Gathering` follows them back to the answers that they came from.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from agent.programs.stops import LOOK
from domain.python_source import called, parents, place_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
GATHER = frozenset({"gather", "asyncio.gather"})
"""Functions that run calls concurrently."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NEAR = (ast.Return, ast.Break, ast.Continue)
"""Statements that leave only the function or loop that they stand in."""
_HOLDS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.keyword, ast.IfExp, *_COMPREHENSIONS)
_ONLY_READ = frozenset({"bool", "float", "int", "isinstance", "len", "repr", "str", LOOK})
"""Functions that remove nothing from their arguments, unlike ``next``."""
_TAKES_ALL = frozenset({"dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Functions that always go through their whole argument."""
READING_METHODS = frozenset(
    {"capitalize", "casefold", "copy", "count", "date", "encode", "endswith", "find", "format", "get"}
    | {"index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isoformat", "isspace"}
    | {"isupper", "items", "join", "keys", "ljust", "lower", "lstrip", "partition", "removeprefix"}
    | {"removesuffix", "replace", "rfind", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines"}
    | {"startswith", "strftime", "strip", "time", "title", "total_seconds", "upper", "values", "weekday"}
    | {"zfill"}
)
"""Methods of texts, lists, dictionaries and dates that change nothing."""

ANYTHING = "whatever calls it"
"""Name that stands for all answers so far."""


class ControlFlow:
    """Control dependences of the cells of one session."""

    def __init__(
        self, cells: Sequence[ast.Module], tools: Collection[str], sharing: Callable[[ast.expr], Collection[str]]
    ) -> None:
        """Index the cells.

        ``tools``: names of the functions that are tools. ``sharing``: finds the names that may hold an expression's value or a part of it.
        """
        self._tools = tools
        self._sharing = sharing
        self._removals: defaultdict[str, list[tuple[ast.AST, ...]]] | None = None
        self._above: dict[ast.AST, ast.AST] = {}
        self._cells: dict[ast.AST, ast.Module] = {}
        self._known: dict[ast.AST, list[ast.AST]] = {}
        self._left: dict[ast.AST, list[ast.AST]] = {}
        self._names: dict[ast.AST, list[ast.Name]] = {}
        self._uses: defaultdict[str, list[ast.expr]] = defaultdict(list)
        for cell in cells:
            self._above |= parents(cell)
            for node in ast.walk(cell):
                self._cells[node] = cell
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._uses[node.id].append(node)
                elif isinstance(node, ast.Attribute):
                    self._uses[f".{node.attr}"].append(node)
        self._has_classes = any(isinstance(node, ast.ClassDef) for node in self._cells)
        self._bound = {
            node.id for node in self._cells if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        functions = (node for node in self._above if isinstance(node, _FUNCTIONS))
        self._raised = [why for node in functions for why in self._ends(node)]

    def deciding(self, node: ast.AST) -> list[ast.AST]:
        """Return the expressions whose values decide whether a node is reached."""
        if node not in self._known:
            self._known[node] = self._deciding(node)
        return self._known[node]

    def _deciding(self, node: ast.AST) -> list[ast.AST]:
        """Collect the conditions of a node, of the functions around it and of their callers."""
        found: list[ast.AST] = [*self._raised]
        seen, left = set[ast.AST](), [node]
        while left:
            inner = left.pop()
            if inner in seen:
                continue
            seen.add(inner)
            if isinstance(inner, ast.Call):
                left += self._awaits(inner) or ()
                found += self._between(inner, [use for use in self._named_like(inner) if self._is_called(use)])
            # Climb to the module; at the root a node has no parent and stands for itself, which ends the loop.
            while (node := self._above.get(inner, inner)) is not inner:
                found += self._tests(inner, node)
                if isinstance(inner, ast.stmt):
                    found += self._left_before(inner, node)
                if isinstance(node, _LOOPS):
                    found += [*self._data(node), *self._leaving(node)]
                if isinstance(node, _FUNCTIONS) and inner is not node.args:
                    left += self._callers(node, found)
                inner = node
        return list(dict.fromkeys(found))

    def deciding_value(self, value: ast.AST) -> list[ast.AST]:
        """Return the expressions that decide whether a name got a value.

        A loop's target keeps its value until the loop is left, so the exits of the loop count too.
        """
        above = self._above.get(value)
        rounds = self._leaving(above) if isinstance(above, _LOOPS) else ()
        return [*self.deciding(value), *rounds]

    def deciding_contents(self, name: str) -> Iterator[ast.AST]:
        """Yield the expressions that decide what remains in a mutable value, by one of its names.

        Methods, functions and loops may have taken items out of it through any name that shares it.
        """
        if self._removals is None:
            self._removals = defaultdict(list)
            for changed, why in self._takes_out():
                for other in self._sharing(changed):
                    self._removals[other].append((changed, *why))
        for why in self._removals.get(name, ()):
            yield from why

    def _takes_out(self) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
        """Yield each expression out of whose value items may be taken, with the expressions that decide which."""
        for node in self._cells:
            match node:
                case ast.Call(func=ast.Attribute(value=held, attr=method)) if called(node) not in GATHER:
                    if self._has_classes or method not in READING_METHODS:
                        yield held, [*self.deciding(node), *_given(node)]
                    yield from self._takes_out_of_arguments(node)
                case ast.Call() if called(node) not in {*_ONLY_READ, *self._tools}:
                    if not isinstance(node.func, ast.Name) or node.func.id in self._bound:
                        yield node.func, [*self.deciding(node), *_given(node)]
                    yield from self._takes_out_of_arguments(node)
                case ast.For(iter=over) | ast.AsyncFor(iter=over) | ast.comprehension(iter=over):
                    yield over, [*self.deciding(over), *self._leaving(node)]
                case ast.Compare(left=left, ops=ops, comparators=others) if any(
                    isinstance(one, ast.In | ast.NotIn) for one in ops
                ):
                    yield from ((one, [*self.deciding(one), left, *others]) for one in others)
                case ast.Delete(targets=targets):
                    for target in targets:
                        if isinstance(target, ast.Subscript):
                            yield target.value, [*self.deciding(node), target.slice]
                case _:
                    pass

    def _takes_out_of_arguments(self, call: ast.Call) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
        """Yield the arguments of a call in the same way: where the function stops in one may depend on the others (``zip``)."""
        values = _given(call)
        takes_all = called(call) in _TAKES_ALL and not call.keywords
        for value in values:
            others = [] if takes_all else [one for one in (call.func, *values) if one is not value]
            yield value, [*self.deciding(call), *others]

    def within(self, function: ast.AST) -> Iterator[ast.AST]:
        """Return the names and calls inside a function, all of which may decide what it returns."""
        return (node for node in ast.walk(function) if isinstance(node, ast.Name | ast.Call))

    def _tests(self, inner: ast.AST, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the expressions that decide whether a child is reached once its parent is."""
        match node:
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
                    yield from (part for case in cases for part in self._named(case.pattern))
                    yield from (case.guard for case in cases if case.guard)
            case ast.Try(body=body):
                yield from (part for one in body for part in self.within(one))
            case _ if isinstance(node, _COMPREHENSIONS):
                first = node.generators[0]
                yield from (part for one in node.generators for part in ((one.iter,) if one is not inner else ()))
                yield from (test for one in node.generators for test in one.ifs)
                yield from () if inner is first else (first.iter,)
            case ast.comprehension(iter=over):
                yield from () if inner is over else (over,)
            case _:
                return

    def _left_before(self, statement: ast.stmt, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the conditions of exits among the statements before this one in its block."""
        for name in ("body", "orelse", "finalbody", "handlers"):
            among = getattr(node, name, None)
            if isinstance(among, list) and statement in among:
                for before in among[: among.index(statement)]:  # type: ignore[reportUnknownVariableType]
                    yield from self._leaving(before)  # type: ignore[reportUnknownArgumentType]

    def _leaving(self, whole: ast.AST) -> list[ast.AST]:
        """Return the conditions under which a statement, or the body of a loop, is left early."""
        if whole not in self._left:
            self._left[whole] = [
                why for node in self._own(whole) if self._leaves(node) for why in self._why(node, whole)
            ]
        return self._left[whole]

    def _ends(self, function: ast.AST) -> list[ast.AST]:
        """Return the conditions under which a function of the program ends its callers too."""
        own = [node for node in self._own(function) if self._leaves(node)]
        return [why for node in own if not isinstance(node, _NEAR) for why in self._why(node, function)]

    def _leaves(self, node: ast.AST) -> bool:
        """Return whether a node may leave its block: an exit statement, an error, an assertion or a look."""
        return isinstance(node, (*_NEAR, ast.Raise, ast.Assert)) or called(node) == LOOK

    def _why(self, node: ast.AST, whole: ast.AST) -> list[ast.AST]:
        """Return the conditions between an exit and the node that it leaves; none for an exit of an inner loop."""
        found: list[ast.AST] = [node.test] if isinstance(node, ast.Assert) else []
        inner = node
        while inner is not whole and (above := self._above.get(inner)) is not None:
            if isinstance(node, ast.Break | ast.Continue) and isinstance(above, _LOOPS) and above is not whole:
                return []
            found += self._tests(inner, above)
            inner = above
        return found

    def _own(self, whole: ast.AST) -> Iterator[ast.AST]:
        """Yield a node and all inside it, except functions that it only defines."""
        left = [whole]
        while left:
            node = left.pop()
            yield node
            left += (one for one in ast.iter_child_nodes(node) if not isinstance(one, _FUNCTIONS))

    def _data(self, whole: ast.AST) -> list[ast.Name]:
        """Return the names of values under a node at which an error may end it."""
        if whole not in self._names:
            self._names[whole] = [one for one in self._named(whole) if one.id not in self._tools]
        return self._names[whole]

    def _named(self, whole: ast.AST) -> Iterator[ast.Name]:
        """Return the names that are read under a node."""
        return (one for one in ast.walk(whole) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))

    def _callers(self, function: Function, found: list[ast.AST]) -> list[ast.AST]:
        """Return the calls that may run a function.

        What decides how often it is run in other ways is added to ``found`` directly.
        """
        above = self._above.get(function)
        if isinstance(function, ast.Lambda):
            names = [one.id for one in getattr(above, "targets", ()) if isinstance(one, ast.Name)]
            uses = [use for name in names for use in self._uses[name]]
            direct = isinstance(above, ast.Assign) and len(names) == len(above.targets)
            uses = uses if direct else [function]
        else:
            method = isinstance(above, ast.ClassDef)
            uses = self._uses[f".{function.name}" if method else function.name]
            if method or function.decorator_list:
                found.append(ast.Name(ANYTHING, ast.Load()))
        calls: list[ast.AST] = []
        for use in uses:
            call = self._above.get(use)
            if isinstance(call, ast.Call) and call.func is use:
                calls.append(call)
                if not isinstance(function, ast.Lambda) and self._awaits(call) is None:
                    found.append(ast.Name(ANYTHING, ast.Load()))
            elif isinstance(call, ast.Call):  # it is given to another function, with what that goes over
                calls.append(call)
                found += [one for one in (*call.args, *(each.value for each in call.keywords)) if one is not use]
                found.append(call.func)
                if self._awaits(call) is None:
                    found.append(ast.Name(ANYTHING, ast.Load()))
            else:
                found.append(ast.Name(ANYTHING, ast.Load()))
            found += self._between(use, uses)
        return calls

    def _awaits(self, call: ast.Call) -> list[ast.AST] | None:
        """Return where the result of a call is awaited if not in place; None if that is unknown."""
        inner: ast.AST = call
        while (node := self._above.get(inner)) is not None:
            if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and called(node) in GATHER):
                return []
            if isinstance(node, ast.Assign) and all(isinstance(one, ast.Name) for one in node.targets):
                names = [one.id for one in node.targets if isinstance(one, ast.Name)]
                return [use for name in names for use in self._uses[name]]
            if not isinstance(node, _HOLDS):
                return None
            inner = node
        return None

    def _named_like(self, call: ast.Call) -> list[ast.expr]:
        """Return all uses of the name that a call calls."""
        return self._uses[call.func.id] if isinstance(call.func, ast.Name) else []

    def _is_called(self, use: ast.expr) -> bool:
        call = self._above.get(use)
        return isinstance(call, ast.Call) and call.func is use

    def _between(self, node: ast.expr, alike: Sequence[ast.expr]) -> Iterator[ast.AST]:
        """Return the names read between the first use of this kind in the cell and this node.

        An error at one of them reveals how many calls were made.
        """
        cell, end = self._cells[node], place_of(node)
        begin = min((place_of(one) for one in alike if self._cells[one] is cell), default=end)
        return (one for one in self._data(cell) if begin < place_of(one) < end)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]
