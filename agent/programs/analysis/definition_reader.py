"""Reads the definitions of a program's names from the syntax trees of its cells."""

import ast
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from agent.programs.analysis.control_flow import Function
from agent.programs.analysis.data_flow import (
    NameDefinition,
    ProgramDefinitions,
    Scope,
    ScopedName,
    StatementPosition,
    list_parameters,
)
from domain.python_source import list_argument_values

_MUTATING_METHODS = frozenset(
    ("add", "append", "appendleft", "difference_update", "extend", "extendleft", "insert", "intersection_update")
) | {"setdefault", "symmetric_difference_update", "update"}
"""Methods that put their arguments into their object."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_EXITS = (ast.Break, ast.Continue, ast.Return, ast.Raise)


def read_definitions(cells: Sequence[ast.Module]) -> ProgramDefinitions:
    """Return the definitions in the cells of a program, which are given earliest first."""
    definitions = ProgramDefinitions()
    reader = _DefinitionReader(definitions)
    for number, cell in enumerate(cells):
        reader.read_cell(number, cell)
    reader.bind_parameters()
    definitions.propagate_changes()
    return definitions


class _DefinitionReader(ast.NodeVisitor):
    """Visitor of cells that tracks the scopes, blocks, loops and tests around the current statement."""

    def __init__(self, definitions: ProgramDefinitions) -> None:
        self._definitions = definitions
        self._scopes: list[tuple[Scope, frozenset[str]]] = [((), frozenset())]
        self._position: StatementPosition = StatementPosition(0, 0)
        self._statement_count = self._scope_count = self._block_count = self._module_statement_count = 0
        self._calls: list[tuple[ast.Call, StatementPosition]] = []

    def read_cell(self, number: int, module: ast.Module) -> None:
        """Read one cell; its statements continue the block of the cells before it."""
        self._position = StatementPosition(number, self._statement_count)
        self._read_block(module.body, self._position, block=0, first=self._module_statement_count)
        self._module_statement_count += len(module.body)

    # Statements

    def _read_block(
        self, body: Sequence[ast.stmt], outer: StatementPosition, *, block: int | None = None, first: int = 0
    ) -> None:
        """Visit the statements of a block in order.

        Args:
            body: the statements.
            outer: position of the statement that contains the block.
            block: number of an earlier block that this one continues; None for a new block.
            first: index of the first statement in the block.
        """
        if block is None:
            self._block_count += 1
            block = self._block_count
        outer_place, tests = self._position, outer.tests
        for index, statement in enumerate(body, start=first):
            self._statement_count += 1
            blocks = (*outer.blocks, (block, index))
            self._position = replace(outer, order=self._statement_count, blocks=blocks, tests=tests)
            self.visit(statement)
            if isinstance(statement, ast.If) and any(
                _has_exit(branch) for branch in (statement.body, statement.orelse)
            ):
                tests = (*tests, statement.test)  # what follows runs only if the test did not exit
        self._position = outer_place

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        inside = replace(self._position, tests=(*self._position.tests, node.test))
        self._read_block(node.body, inside)
        self._read_block(node.orelse, inside)

    def visit_While(self, node: ast.While) -> None:
        position = self._position
        self._position = replace(position, loops=position.loops | {position.order})
        self.visit(node.test)
        self._read_block(node.body, replace(self._position, tests=(*position.tests, node.test)))
        self._position = position
        self._read_block(node.orelse, position)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        position = self._position
        self.visit(node.iter)
        self._bind(node.target, node.iter)
        inside = replace(position, loops=position.loops | {position.order}, iterables=(*position.iterables, node.iter))
        self._read_block(node.body, inside)
        self._read_block(node.orelse, position)

    visit_AsyncFor = visit_For  # noqa: N815  # ast's names

    def visit_Try(self, node: ast.Try) -> None:
        position = self._position
        self._read_block(node.body, position)
        for handler in node.handlers:
            if handler.name:
                self._define(
                    handler.name, NameDefinition(tuple(node.body), position, from_error=True, reaches_everywhere=True)
                )
            self._read_block(handler.body, position)
        self._read_block(node.orelse, position)
        self._read_block(node.finalbody, position)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, item.context_expr)
        self._read_block(node.body, self._position)

    visit_AsyncWith = visit_With  # noqa: N815  # ast's names

    def visit_Match(self, node: ast.Match) -> None:
        position = self._position
        self.visit(node.subject)
        for case in node.cases:
            self.visit(case.pattern)
            for part in ast.walk(case.pattern):
                captured_name = getattr(part, "rest", None) or getattr(part, "name", None)
                if isinstance(captured_name, str):
                    self._define(captured_name, NameDefinition((node.subject,), position, overwrites=False))
            tests = (node.subject, *([case.guard] if case.guard else []))
            if case.guard:
                self.visit(case.guard)
            self._read_block(case.body, replace(position, tests=(*position.tests, *tests)))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._define((alias.asname or alias.name).partition(".")[0], NameDefinition((), self._position))

    visit_ImportFrom = visit_Import  # noqa: N815  # ast's names

    # Functions

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        returned = tuple(
            inner.value for inner in _walk_own_nodes(node.body) if isinstance(inner, ast.Return) and inner.value
        )
        self._define(node.name, NameDefinition(returned, self._position))
        self._definitions.functions[self._resolve_name(node.name)] = node
        with self._enter_function(node):
            self._read_block(node.body, self._position)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # ast's names

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self._enter_function(node):
            self._position = replace(self._position, order=self._statement_count)
            self.visit(node.body)

    @contextmanager
    def _enter_function(self, node: Function) -> Generator[None]:
        """Enter a function's scope; its defaults are evaluated outside."""
        defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
        for default in defaults:
            self.visit(default)
        position, names = self._position, frozenset(parameter.arg for parameter in list_parameters(node))
        body = node.body if isinstance(node.body, list) else [node.body]
        with self._enter_scope(names | _find_assigned_names(body)) as scope:
            self._definitions.scopes[node] = scope
            # Any parameter may hold any default: a coarse rule that never misses one.
            for name in names if defaults else ():
                self._define(name, NameDefinition(tuple(defaults), position, reaches_everywhere=True))
            self._position = StatementPosition(position.cell, position.order, function=scope)
            yield
        self._position = position

    @contextmanager
    def _enter_scope(self, names: frozenset[str]) -> Generator[Scope]:
        """Enter a new scope that binds ``names``."""
        self._scope_count += 1
        scope = (*self._scopes[-1][0], self._scope_count)
        self._scopes.append((scope, names))
        yield scope
        self._scopes.pop()

    def bind_parameters(self) -> None:
        """Define the parameters of the program's functions by the arguments of their calls.

        A function that is passed to another function may get any other argument of that call. This runs after all cells
        were read, since a function may be called before the reader reaches its definition.
        """
        for call, position in self._calls:
            function = call.func if isinstance(call.func, ast.Lambda) else self._definitions.find_function(call.func)
            if function is not None:
                self._definitions.callers[self._definitions.scopes[function]].append(position)
                self._bind_parameters(function, _match_possible_arguments(function, call), position)
            values = list_argument_values(call)
            for value in values:
                passed = value if isinstance(value, ast.Lambda) else self._definitions.find_function(value)
                if passed is not None:
                    self._definitions.callers[self._definitions.scopes[passed]].append(position)
                    other_values = [other for other in (call.func, *values) if other is not value]
                    self._bind_parameters(
                        passed, ((parameter.arg, other_values) for parameter in list_parameters(passed)), position
                    )

    def _bind_parameters(
        self, function: Function, arguments: Iterator[tuple[str, list[ast.expr]]], position: StatementPosition
    ) -> None:
        for parameter, values in arguments:
            definition = NameDefinition(tuple(values), position, overwrites=False, reaches_everywhere=True)
            self._definitions.add((self._definitions.scopes[function], parameter), definition)

    # Expressions

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._definitions.positions[node] = self._position
            self._definitions.names[node] = self._resolve_name(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._definitions.positions[node] = self._position

    def visit_Call(self, node: ast.Call) -> None:
        self._definitions.positions[node] = self._position
        self._calls.append((node, self._position))
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATING_METHODS:
            values = tuple(list_argument_values(node))
            self._record_change(node.func.value, values)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._bind(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._bind(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self._define(node.target.id, NameDefinition((node.value,), self._position, overwrites=False, in_place=True))
        else:
            self._bind(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._define(
            node.target.id, NameDefinition((node.value,), self._position, overwrites=False, reaches_everywhere=True)
        )

    def _visit_comprehension(self, node: Any) -> None:
        """Visit a comprehension, whose targets have a scope of their own. One that awaits counts as a loop."""
        self.visit(node.generators[0].iter)
        names = frozenset(
            part.id
            for generator in node.generators
            for part in ast.walk(generator.target)
            if isinstance(part, ast.Name)
        )
        position = self._position
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        if any(
            isinstance(inner, ast.Await) for part in parts for inner in ast.walk(part)
        ):  # a comprehension that awaits runs its calls one after the other, as a loop does
            self._position = replace(position, loops=position.loops | {position.order})
        with self._enter_scope(names):
            for index, generator in enumerate(node.generators):
                if index:
                    self.visit(generator.iter)
                self._bind(generator.target, generator.iter, anywhere=True)
                self._position = replace(self._position, iterables=(*self._position.iterables, generator.iter))
                for test in generator.ifs:
                    self.visit(test)
                self._position = replace(self._position, tests=(*self._position.tests, *generator.ifs))
            for part in parts:
                self.visit(part)
        self._position = position

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815  # ast's names

    # Names

    def _resolve_name(self, name: str) -> ScopedName:
        """Return the scoped name that an identifier refers to in the current scope."""
        scope = next((scope for scope, names in reversed(self._scopes) if name in names), ())
        return scope, name

    def _define(self, name: str, definition: NameDefinition) -> None:
        self._definitions.add(self._resolve_name(name), definition)

    def _bind(self, target: ast.expr, value: ast.expr, *, anywhere: bool = False) -> None:
        """Define the names of an assignment target; for an item or attribute, record a change of its object."""
        match target:
            case ast.Name():
                definition = NameDefinition((value,), self._position, reaches_everywhere=anywhere)
                self._define(target.id, definition)
                if isinstance(value, ast.Lambda):
                    self._definitions.functions[self._resolve_name(target.id)] = value
            case ast.Tuple() | ast.List():
                parts = unpack_value(value)
                is_matched = len(parts) == len(target.elts) and not _has_starred(target.elts)
                for index, element in enumerate(target.elts):
                    self._bind(element, parts[index] if is_matched else value, anywhere=anywhere)
            case ast.Starred():
                self._bind(target.value, value, anywhere=anywhere)
            case ast.Subscript():
                self.visit(target)
                self._record_change(target.value, (value,), target.slice)
            case ast.Attribute():
                self.visit(target)
                self._record_change(target.value, (value,))
            case _:
                self.visit(target)

    def _record_change(self, container: ast.expr, values: tuple[ast.expr, ...], key: ast.expr | None = None) -> None:
        """Record that values are put into the object that an expression refers to."""
        for name in _find_root_names(container):
            self._define(name.id, NameDefinition(values, self._position, overwrites=False, in_place=True, key=key))


def _find_root_names(container: ast.expr) -> Iterator[ast.Name]:
    """Yield the names of the objects that the value of an expression may be a part of."""
    match container:
        case ast.Name():
            yield container
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Await(value=inner):
            yield from _find_root_names(inner)
        case ast.Call(func=ast.Attribute(value=inner)):
            yield from _find_root_names(inner)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_find_root_names(one), *_find_root_names(other))
        case ast.BoolOp(values=values):
            yield from (name for value in values for name in _find_root_names(value))
        case _:
            return


def unpack_value(value: ast.expr) -> Sequence[ast.expr]:
    """Return the items of a tuple or list literal or of gathered calls; empty if the text does not show them."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = parts
        case ast.Await(ast.Call(ast.Attribute(attr="gather") | ast.Name("gather"), parts, [])):
            items = parts
        case _:
            return ()
    return () if _has_starred(items) else items


def _has_starred(parts: Sequence[ast.expr]) -> bool:
    return any(isinstance(part, ast.Starred) for part in parts)


def _match_possible_arguments(function: Function, call: ast.Call) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield each parameter with the arguments that it may get in a call.

    Arguments whose parameter is unclear go to every parameter that they may mean.
    """
    names = [parameter.arg for parameter in list_parameters(function)]
    for index, value in enumerate(call.args):
        parameters = names[index : index + 1] if not _has_starred(call.args) else names
        yield from ((name, [value]) for name in parameters or names[-1:])
    for keyword in call.keywords:
        parameters = [keyword.arg] if keyword.arg in names else names if keyword.arg is None else names[-1:]
        yield from ((name, [keyword.value]) for name in parameters if name)


def _has_exit(body: Sequence[ast.stmt]) -> bool:
    """Return whether a block contains a statement that leaves it early, outside of nested functions."""
    return any(isinstance(node, _EXITS) for node in _walk_own_nodes(body))


def _walk_own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of a body, without the bodies of functions in it."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            pending += ast.iter_child_nodes(node)


def _find_assigned_names(body: Sequence[ast.AST]) -> frozenset[str]:
    """Return the local names of a function, without its parameters."""
    assigned, outer = set[str](), set[str]()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                assigned.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                assigned.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                assigned.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer.update(names)
            case _ if isinstance(node, _COMPREHENSIONS):
                inner = {
                    part.id for gen in node.generators for part in ast.walk(gen.target) if isinstance(part, ast.Name)
                }
                assigned |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)} - inner
                continue
            case _:
                pass
        pending += ast.iter_child_nodes(node)
    return frozenset(assigned - outer)
