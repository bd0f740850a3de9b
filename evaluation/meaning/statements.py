"""Read the statements of a program: the values of its names, the results of its loops, and its last value."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.meaning import terms
from evaluation.meaning.calls import CallExpressionReader
from evaluation.meaning.conditions import is_presence_test, negate, split_conditions
from evaluation.meaning.expressions import LoopScope
from evaluation.meaning.terms import EMPTY, NOTHING, Term, build_list, constant, pick_item, substitute, term


@dataclass(frozen=True, slots=True)
class LoopState:
    """A loop that has been read once, and the names that it rebinds."""

    new: Mapping[str, Term]
    """The value of each name after one iteration; ``carried`` stands for its value before the iteration."""
    before: Mapping[str, Term]
    """The value of each name before the loop."""
    through: tuple[Term, ...]
    """The items that the loop goes through."""
    where: tuple[Term, ...]
    """The conditions on these items."""


def resolve_loop(loop: LoopState) -> dict[str, Term]:
    """Return the values of the names after a loop."""
    return {name: _resolve_name(name, value, loop) for name, value in loop.new.items()}


def _resolve_name(name: str, value: Term, loop: LoopState) -> Term:
    """Return the value of a name after a loop.

    A name that every iteration rebinds has its last value. If it is rebound under a condition, it is the item with the
    most or least (the condition compares with the value so far), the first match (the loop ends there, or nothing was
    found so far), or the last match.
    """
    if value == term("carried", name):
        return loop.before[name]
    test, new_value = _split_choice(name, value)
    if new_value is None:
        values = build_list(value, loop.through, loop.where)
        return pick_item("last", values)
    own = [one for one in _split_parts(test) if not _has_carried(one)]
    ranks = [found for one in _split_parts(test) for found in [_find_rank(one, new_value, name, loop)] if found]
    where = (*loop.where, *(one for part in own for one in split_conditions(part)))
    if ranks:
        how, key = ranks[0]
        return pick_item(how, build_list(new_value, loop.through, where), key)
    first = new_value.kind == "found" or any(_has_carried(one) and is_presence_test(one) for one in _split_parts(test))
    item = next(new_value.subterms()) if new_value.kind == "found" else new_value
    return pick_item("first" if first else "last", build_list(item, loop.through, where))


def _split_choice(name: str, value: Term) -> tuple[Term, Term | None]:
    """Return the condition under which an iteration rebinds a name, and the new value; None for any other form."""
    if value.kind == "if" and value.parts[2] == term("carried", name):
        test, new_value = value.parts[0], value.parts[1]
        if isinstance(test, Term) and isinstance(new_value, Term):
            return test, new_value
    return value, None


def _find_rank(test: Term, new_value: Term, name: str, loop: LoopState) -> tuple[str, Term] | None:
    """Return what a condition compares the current item with the best one so far by.

    Returns:
        ``most`` or ``least``, and the key; None if the condition makes no such comparison.
    """
    for part in test.subterms() if test.kind == "either" else (test,):
        less, turned = (next(part.subterms()), True) if part.kind == "not" else (part, False)
        if less.kind != "less":
            continue
        left, right = less.subterms()
        kept_value, key = (left, right) if _has_carried(left) else (right, left)
        if _has_carried(kept_value) and not _has_carried(key) and _is_same_rank(kept_value, key, new_value, name, loop):
            most = (kept_value is left) is not turned
            return ("most" if most else "least"), key
    return None


def _is_same_rank(held: Term, key: Term, new_value: Term, name: str, loop: LoopState) -> bool:
    """Return whether the value compared with is the key of the best item so far.

    Either it is a name of its own that is rebound to the key, or it is the key of the item in the name.
    """
    if held.kind == "carried":
        value = loop.new.get(str(held.parts[0]))
        return value is not None and _split_choice(str(held.parts[0]), value)[1] == key
    return substitute(key, new_value, term("carried", name)) == held


def _split_parts(test: Term) -> Iterator[Term]:
    return test.subterms() if test.kind == "both" else iter((test,))


def _has_carried(value: Term) -> bool:
    """Return whether a term depends on a name's value before the iteration."""
    return any(one.kind == "carried" for one in value.walk())


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
"""Statements that leave their block."""
_LISTS = frozenset({"items", "list", "joined", "unique", "order"})
"""Kinds of terms that are lists."""


@dataclass(slots=True)
class StatementReader(CallExpressionReader):
    """Reads statements, and follows the terms that names stand for."""

    last: Term = NOTHING
    """The value of the latest expression that stood alone: the answer, if it is the program's last."""
    bound_in: dict[str, LoopScope] = field(default_factory=dict[str, LoopScope])
    """For each name, the scope in which it got its value."""
    grown: set[str] = field(default_factory=set[str])
    """Names of collections that the current branch has added to."""
    start: LoopScope = field(default_factory=LoopScope)
    """The scope in which the function that is being read was called."""

    def bind(self, target: ast.expr, value: Term) -> None:
        """Bind a target, and note the scope in which its names got their values."""
        # Explicit arguments: ``slots=True`` makes a new class, which breaks ``super()`` without them.
        super(StatementReader, self).bind(target, value)
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.bound_in[node.id] = self.scope
                self.grown.discard(node.id)

    def run(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Term:
        before, self.start = self.start, self.scope
        try:
            return self.read_block(function.body) or NOTHING
        finally:
            self.start = before

    def read_block(self, statements: Sequence[ast.stmt]) -> Term | None:
        """Read statements in order; return the value of a ``return`` among them, or None."""
        for place, statement in enumerate(statements):
            match statement:
                case ast.Return(value=value):
                    return self._build_return(self.to_term(value) if value else NOTHING)
                case ast.Break() | ast.Continue() | ast.Raise():
                    return None
                case ast.If() if _is_leaving(statement.body) or _is_leaving(statement.orelse):
                    return self._read_leaving_if(statement, statements[place + 1 :])
                case ast.For() | ast.AsyncFor():
                    if (returned := self._read_for(statement)) is not None:
                        return self._combine_returns(returned, self.read_block(statements[place + 1 :]))
                case ast.Try(body=body, orelse=rest, finalbody=final):
                    if (returned := self.read_block([*body, *rest, *final])) is not None:
                        return returned
                case _:
                    self.read_statement(statement)
        return None

    def read_statement(self, node: ast.stmt) -> None:
        """Read a statement that does not leave its block."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign([target], value)
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                self._augment(name, operator, self.to_term(value))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) as call) if (
                name in self.held and self._apply_list_method(name, method, call)
            ):
                return
            case ast.Expr(value=value):
                self.last = self.to_term(value)
            case ast.If():
                self._read_if(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.held.pop(node.name, None)
                self.functions[node.name] = node
            case ast.With(body=body) | ast.AsyncWith(body=body) | ast.While(body=body):
                self.read_block(body)
            case _:
                return

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Lambda):
            self.functions |= {one.id: value for one in targets if isinstance(one, ast.Name)}
            return
        assigned = self.to_term(value)
        for target in targets:
            match target:
                case ast.Subscript(value=ast.Name(id=name), slice=key) if name in self.held:
                    self._put(name, self.to_term(key), assigned)
                case _:
                    self.bind(target, assigned)

    def _put(self, name: str, key: Term, value: Term) -> None:
        """Set a key of a dict; within a loop the dict becomes a map over the loop's items."""
        held, pair = self.held[name], term("items", key, value)
        through, where = self._get_inner_scope(name)
        if through or where:
            self.held[name] = term("map", build_list(pair, through, where))
        else:
            entries = held.parts if held.kind == "dict" else ()
            self.held[name] = Term("dict", tuple(sorted((*entries, term("entry", key, value)), key=repr)))
        self.grown.add(name)

    def _apply_list_method(self, name: str, method: str, call: ast.Call) -> bool:
        """Apply a method that adds to or sorts a collection; return False for any other method."""
        if method in ("append", "add") and len(call.args) == 1:
            self._append(name, self.to_term(call.args[0]))
        elif method in ("extend", "update") and len(call.args) == 1 and self.held[name].kind in _LISTS:
            self._extend(name, self.to_term(call.args[0]))
        elif method == "sort":
            self.held[name] = self.order_list(self.held[name], call)
        else:
            return False
        return True

    def _append(self, name: str, item: Term) -> None:
        """Append an item; within a loop, a list over the loop's items."""
        through, where = self._get_inner_scope(name)
        held = self.held[name]
        if not through and not where and held.kind == "items":
            self.held[name] = Term("items", (*held.parts, item))
        else:
            self.held[name] = _append_list(held, build_list(item, through, where))
        self.grown.add(name)

    def _extend(self, name: str, values: Term) -> None:
        """Append the items of another list."""
        through, where = self._get_inner_scope(name)
        item, more, tests = terms.open_list(values, self.scope.through)
        self.held[name] = _append_list(self.held[name], build_list(item, (*through, *more), (*where, *tests)))
        self.grown.add(name)

    def _augment(self, name: str, operator: ast.operator, value: Term) -> None:
        """Apply an augmented assignment: lists grow, and numbers added up in a loop become a sum."""
        held = self.held.get(name, NOTHING)
        through, where = self._get_inner_scope(name)
        if held.kind in _LISTS:
            self._extend(name, value)
        elif through and isinstance(operator, ast.Add):
            added = terms.sum_items(build_list(value, through, where))
            self.held[name] = added if held == constant(0) else term("Add", held, added)
            self.grown.add(name)
        else:
            self.held[name] = self.apply_operator(operator, held, value)

    def _get_inner_scope(self, name: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Return the loops and conditions that have been entered since a name got its value."""
        since = self.bound_in.get(name, LoopScope())
        return self.scope.through[len(since.through) :], self.scope.where[len(since.where) :]

    def _build_return(self, value: Term) -> Term:
        """Build the value of a ``return``; from within a loop it is the first match."""
        through = self.scope.through[len(self.start.through) :]
        return (
            terms.pick_item("first", build_list(value, through, self.scope.where[len(self.start.where) :]))
            if through
            else value
        )

    def _combine_returns(self, returned: Term, otherwise: Term | None) -> Term:
        """Combine the value that a loop returns with what the statements after the loop return."""
        return (
            returned
            if otherwise is None or not otherwise.data
            else term("if", term("found", returned), returned, otherwise)
        )

    def _read_if(self, node: ast.If) -> None:
        """Read both branches of an ``if``, and bind what they bind to a choice."""
        test = self.to_term(node.test)
        before, previous_last = dict(self.held), self.last
        body_values, body_last = self._read_branch(test, node.body), self.last
        self.last = previous_last
        else_values, else_last = self._read_branch(negate(test), node.orelse), self.last
        for name in {**body_values, **else_values}:
            self.held[name] = self.choose(
                test, *(branch.get(name, before.get(name, NOTHING)) for branch in (body_values, else_values))
            )
        self.last = self.choose(test, body_last, else_last)

    def _read_branch(self, test: Term, body: Sequence[ast.stmt]) -> dict[str, Term]:
        """Return the names that a branch binds; collections that it adds to stay changed."""
        before, scope, grown = dict(self.held), self.scope, self.grown
        self.scope, self.grown = LoopScope(scope.through, (*scope.where, *split_conditions(test))), set()
        self.read_block(body)
        changed = {
            name: value for name, value in self.held.items() if before.get(name) != value and name not in self.grown
        }
        # An item that a branch adds has the branch's condition already; other bindings are combined by the caller.
        self.held = before | {name: self.held[name] for name in self.grown}
        self.scope, self.grown = scope, grown | self.grown
        for name in changed:
            self.bound_in[name] = self.bound_in.get(name, scope)
        return changed

    def _read_leaving_if(self, node: ast.If, rest: Sequence[ast.stmt]) -> Term | None:
        """Read an ``if`` with a branch that leaves the block, and the statements after it as the other branch."""
        test, body, after = self.to_term(node.test), node.body, [*node.orelse, *rest]
        if not _is_leaving(body):
            test, body, after = negate(test), node.orelse, [*node.body, *rest]
        calls, held, scope, previous_last = dict(self.calls), dict(self.held), self.scope, self.last
        self.scope = LoopScope(scope.through, (*scope.where, *split_conditions(test)))
        returned = self.read_block(body)
        changed = {name: value for name, value in self.held.items() if held.get(name) != value}
        # A guard that only leaves where nothing was found adds no condition to the statements after it.
        idle = (
            is_presence_test(test)
            and self.calls == calls
            and not any(one.data for one in (*changed.values(), returned or NOTHING))
        )
        if idle:
            self.held, self.scope, self.last = held, scope, previous_last
            return self.read_block(after)
        first = isinstance(body[-1], ast.Break)
        self.held |= {name: held[name] for name in changed if name in held and name not in self.grown}
        self.scope = LoopScope(scope.through, (*scope.where, *split_conditions(negate(test))))
        otherwise = self.read_block(after)
        for name, value in changed.items():
            if name not in self.grown:
                self.held[name] = term(
                    "if", test, term("found", value) if first else value, self.held.get(name, NOTHING)
                )
        if returned is None or otherwise is None:
            return returned if returned is not None else otherwise
        return returned if self.scope.through[len(self.start.through) :] else self.choose(test, returned, otherwise)

    def _read_for(self, node: ast.For | ast.AsyncFor) -> Term | None:
        """Read a loop once with the names that it rebinds as ``carried``, and resolve them; return what it returns."""
        before, scope = dict(self.held), self.scope
        self.enter(node.target, node.iter)
        targets = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        carried = [
            name for name in dict.fromkeys(_find_assigned_names(node.body)) if name in before and name not in targets
        ]
        # The body is read once, with placeholders for what an iteration gets from the one before it.
        for name in carried:
            self.held[name] = term("carried", name)
        inside = self.scope
        returned = self.read_block(node.body)
        self.scope = scope
        new = {name: self.held[name] for name in carried if name not in self.grown}
        resolved = resolve_loop(
            LoopState(new, before, inside.through[len(scope.through) :], inside.where[len(scope.where) :])
        )
        for name, value in resolved.items():
            self.held[name] = value
            self.bound_in[name] = scope
        self.read_block(node.orelse)
        return returned


def _append_list(held: Term, addition: Term) -> Term:
    """Build a list with another one appended."""
    if held.kind == "unique":
        return term("unique", _append_list(next(held.subterms()), addition))
    parts = held.parts if held.kind == "joined" else (held,)
    return addition if held == EMPTY else Term("joined", (*parts, addition))


def _is_leaving(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], _LEAVING)


def _find_assigned_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that assignments in these statements bind."""
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
