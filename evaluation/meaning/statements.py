"""Statements of a program as terms: the values of names after them, the results of loops, and the final value."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evaluation.meaning import terms
from evaluation.meaning.calls import Calls
from evaluation.meaning.conditions import conditions, negated, presence
from evaluation.meaning.expressions import Scope
from evaluation.meaning.loops import Carried, settled
from evaluation.meaning.terms import EMPTY, NOTHING, Term, constant, listed, term

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_LISTS = frozenset({"items", "list", "joined", "unique", "order"})


@dataclass(slots=True)
class Statements(Calls):
    """Reads statements and keeps the terms that names stand for."""

    last: Term = NOTHING
    """The value of the latest expression that stood alone."""
    since: dict[str, Scope] = field(default_factory=dict[str, Scope])
    """The scope in which a name got its value."""
    grown: set[str] = field(default_factory=set[str])
    """Names of collections that the current branch has extended."""
    start: Scope = field(default_factory=Scope)
    """The scope in which the function being read was called."""

    def bind(self, target: ast.expr, value: Term) -> None:
        # Explicit arguments: ``slots=True`` makes a new class, which breaks ``super()`` without them.
        super(Statements, self).bind(target, value)
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                self.since[one.id] = self.scope
                self.grown.discard(one.id)

    def run(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Term:
        before, self.start = self.start, self.scope
        try:
            return self.block(function.body) or NOTHING
        finally:
            self.start = before

    def block(self, statements: Sequence[ast.stmt]) -> Term | None:
        """Read statements one after another; return the value that they return, if any."""
        for place, one in enumerate(statements):
            match one:
                case ast.Return(value=value):
                    return self._returned(self.of(value) if value else NOTHING)
                case ast.Break() | ast.Continue() | ast.Raise():
                    return None
                case ast.If() if _leaves(one.body) or _leaves(one.orelse):
                    return self._leaving(one, statements[place + 1 :])
                case ast.For() | ast.AsyncFor():
                    if (found := self._for(one)) is not None:
                        return self._or(found, self.block(statements[place + 1 :]))
                case ast.Try(body=body, orelse=rest, finalbody=final):
                    if (found := self.block([*body, *rest, *final])) is not None:
                        return found
                case _:
                    self.statement(one)
        return None

    def statement(self, node: ast.stmt) -> None:
        """Read a statement that does not leave its block."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self._assigned(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assigned([target], value)
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                self._grown_by(name, operator, self.of(value))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) as call) if (
                name in self.held and self._changed(name, method, call)
            ):
                return
            case ast.Expr(value=value):
                self.last = self.of(value)
            case ast.If():
                self._if(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.held.pop(node.name, None)
                self.functions[node.name] = node
            case ast.With(body=body) | ast.AsyncWith(body=body) | ast.While(body=body):
                self.block(body)
            case _:
                return

    def _assigned(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Lambda):
            self.functions |= {one.id: value for one in targets if isinstance(one, ast.Name)}
            return
        found = self.of(value)
        for target in targets:
            match target:
                case ast.Subscript(value=ast.Name(id=name), slice=key) if name in self.held:
                    self._put(name, self.of(key), found)
                case _:
                    self.bind(target, found)

    def _put(self, name: str, key: Term, value: Term) -> None:
        """Set a key of a dict that grows."""
        held, pair = self.held[name], term("items", key, value)
        through, where = self._inside(name)
        if through or where:
            self.held[name] = term("map", listed(pair, through, where))
        else:
            entries = held.parts if held.kind == "dict" else ()
            self.held[name] = Term("dict", tuple(sorted((*entries, term("entry", key, value)), key=repr)))
        self.grown.add(name)

    def _changed(self, name: str, method: str, call: ast.Call) -> bool:
        """Apply a method that extends or sorts a collection; return False for any other method."""
        if method in ("append", "add") and len(call.args) == 1:
            self._append(name, self.of(call.args[0]))
        elif method in ("extend", "update") and len(call.args) == 1 and self.held[name].kind in _LISTS:
            self._extend(name, self.of(call.args[0]))
        elif method == "sort":
            self.held[name] = self.ordered(self.held[name], call)
        else:
            return False
        return True

    def _append(self, name: str, item: Term) -> None:
        through, where = self._inside(name)
        held = self.held[name]
        if not through and not where and held.kind == "items":
            self.held[name] = Term("items", (*held.parts, item))
        else:
            self.held[name] = _after(held, listed(item, through, where))
        self.grown.add(name)

    def _extend(self, name: str, values: Term) -> None:
        through, where = self._inside(name)
        item, more, tests = terms.opened(values, self.scope.through)
        self.held[name] = _after(self.held[name], listed(item, (*through, *more), (*where, *tests)))
        self.grown.add(name)

    def _grown_by(self, name: str, operator: ast.operator, value: Term) -> None:
        held = self.held.get(name, NOTHING)
        through, where = self._inside(name)
        if held.kind in _LISTS:
            self._extend(name, value)
        elif through and isinstance(operator, ast.Add):
            made = terms.total(listed(value, through, where))
            self.held[name] = made if held == constant(0) else term("Add", held, made)
            self.grown.add(name)
        else:
            self.held[name] = self.worked_out(operator, held, value)

    def _inside(self, name: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Return the loops and conditions entered since a name got its value."""
        since = self.since.get(name, Scope())
        return self.scope.through[len(since.through) :], self.scope.where[len(since.where) :]

    def _returned(self, value: Term) -> Term:
        """Return the value of a ``return``; within a loop, it is the first match."""
        through = self.scope.through[len(self.start.through) :]
        return (
            terms.picked("first", listed(value, through, self.scope.where[len(self.start.where) :]))
            if through
            else value
        )

    def _or(self, found: Term, otherwise: Term | None) -> Term:
        """Combine the value that a loop returns with that of the statements after it."""
        return found if otherwise is None or not otherwise.data else term("if", term("found", found), found, otherwise)

    def _if(self, node: ast.If) -> None:
        test = self.of(node.test)
        before, said = dict(self.held), self.last
        one, one_said = self._branch(test, node.body), self.last
        self.last = said
        other, other_said = self._branch(negated(test), node.orelse), self.last
        for name in {**one, **other}:
            self.held[name] = self.chosen(
                test, *(branch.get(name, before.get(name, NOTHING)) for branch in (one, other))
            )
        self.last = self.chosen(test, one_said, other_said)

    def _branch(self, test: Term, body: Sequence[ast.stmt]) -> dict[str, Term]:
        """Return the names that a branch binds; collections that it extends stay extended afterwards."""
        before, scope, grown = dict(self.held), self.scope, self.grown
        self.scope, self.grown = Scope(scope.through, (*scope.where, *conditions(test))), set()
        self.block(body)
        changed = {
            name: value for name, value in self.held.items() if before.get(name) != value and name not in self.grown
        }
        self.held = before | {name: self.held[name] for name in self.grown}
        self.scope, self.grown = scope, grown | self.grown
        for name in changed:
            self.since[name] = self.since.get(name, scope)
        return changed

    def _leaving(self, node: ast.If, rest: Sequence[ast.stmt]) -> Term | None:
        """Read an ``if`` with a branch that leaves, and the statements that are reached otherwise."""
        test, body, after = self.of(node.test), node.body, [*node.orelse, *rest]
        if not _leaves(body):
            test, body, after = negated(test), node.orelse, [*node.body, *rest]
        calls, held, scope, said = dict(self.calls), dict(self.held), self.scope, self.last
        self.scope = Scope(scope.through, (*scope.where, *conditions(test)))
        found = self.block(body)
        changed = {name: value for name, value in self.held.items() if held.get(name) != value}
        # A guard that only leaves where nothing was found adds no condition to the statements after it.
        idle = (
            presence(test)
            and self.calls == calls
            and not any(one.data for one in (*changed.values(), found or NOTHING))
        )
        if idle:
            self.held, self.scope, self.last = held, scope, said
            return self.block(after)
        first = isinstance(body[-1], ast.Break)
        self.held |= {name: held[name] for name in changed if name in held and name not in self.grown}
        self.scope = Scope(scope.through, (*scope.where, *conditions(negated(test))))
        otherwise = self.block(after)
        for name, value in changed.items():
            if name not in self.grown:
                self.held[name] = term(
                    "if", test, term("found", value) if first else value, self.held.get(name, NOTHING)
                )
        if found is None or otherwise is None:
            return found if found is not None else otherwise
        return found if self.scope.through[len(self.start.through) :] else self.chosen(test, found, otherwise)

    def _for(self, node: ast.For | ast.AsyncFor) -> Term | None:
        before, scope = dict(self.held), self.scope
        self.enter(node.target, node.iter)
        targets = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        carried = [name for name in dict.fromkeys(_given(node.body)) if name in before and name not in targets]
        for name in carried:
            self.held[name] = term("carried", name)
        inside = self.scope
        found = self.block(node.body)
        self.scope = scope
        new = {name: self.held[name] for name in carried if name not in self.grown}
        made = settled(Carried(new, before, inside.through[len(scope.through) :], inside.where[len(scope.where) :]))
        for name, value in made.items():
            self.held[name] = value
            self.since[name] = scope
        self.block(node.orelse)
        return found


def _after(held: Term, made: Term) -> Term:
    """Return a list with another one appended."""
    if held.kind == "unique":
        return term("unique", _after(next(held.inner()), made))
    parts = held.parts if held.kind == "joined" else (held,)
    return made if held == EMPTY else Term("joined", (*parts, made))


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], _LEAVING)


def _given(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind, other than by extending a collection."""
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=targets):
                    yield from (
                        one.id
                        for target in targets
                        for one in ast.walk(target)
                        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
                    )
                case ast.AnnAssign(target=ast.Name(id=name)):
                    yield name
                case _:
                    continue
