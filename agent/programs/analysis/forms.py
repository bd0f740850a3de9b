"""Canonical forms of programs: when two programs are equal, and texts rewritten with other names.

Two programs are equal if their texts differ only in

- layout, comments, quotes and parentheses, and how a constant is written (``1_000``, ``"a" "b"``);
- names that the text itself binds: variables, functions, their parameters, targets of loops, comprehensions and
  ``except``, and an import's ``as``; scopes are respected, so two scopes may share a name in one text and not in the other;
- names of functions and arguments on offer, which count as the tools and parameters that they stand for;
- names of the program's inputs, which are told apart by where they are first used;
- the order of keyword arguments and of the keys of a literal dict, and annotations.

Everything else counts: which calls, with which arguments, in which order; constants with their types (``1``, ``1.0``
and ``"1"`` differ); defaults of inputs; whether a name has a value before it is used. With ``wording`` false, the
words around the values of an answer's f-strings do not count either, while the values and their order do: ``f"{n}
papers"`` equals ``f"She wrote {n}."``.
"""

import ast
import json
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from dataclasses import field as of
from typing import Any, cast

from agent.programs.analysis.constants import ANSWER
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.python_source import called, parse_module
from domain.source_text import SourceText, Statement

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True, slots=True)
class Form:
    """Canonical form of a program: two programs are equal if their ``text`` is."""

    text: str
    """The program without everything that does not count."""
    inputs: tuple[str, ...]
    """Names of its inputs, in the order of their first use; unused ones come last."""


def same_program(one: ProgramPlan, other: ProgramPlan, *, wording: bool = True) -> bool:
    """Return whether two programs are equal; one that cannot be read equals only itself."""
    return form_of(one, wording=wording).text == form_of(other, wording=wording).text


def form_of(plan: ProgramPlan, *, wording: bool = True) -> Form:
    """Return the canonical form of a program; one that cannot be read stands for itself."""
    try:
        tree = parse_module(plan.program.text)  # the reading below changes it
        reading = _Reading(plan.program, plan.inputs, wording=wording)
        text = reading.of(tree)
    except (SyntaxError, ValueError, RecursionError):
        return Form(plan.program.text, tuple(plan.inputs))
    inputs = (*reading.inputs, *(name for name in plan.inputs if name not in reading.inputs))
    defaults = [[plan.inputs[name]["default"]] if "default" in plan.inputs[name] else [] for name in inputs]
    return Form(f"{text}\n{json.dumps(defaults, sort_keys=True)}", inputs)


def called_as(text: str, names: Mapping[str, str]) -> str:
    """Return a text with its functions renamed by ``names``; unchanged if no name differs."""
    if all(name == other for name, other in names.items()):
        return text
    tree = parse_module(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def written_for_all(text: str, names: Mapping[str, str], told: Callable[[str], str], tools: Collection[str]) -> str:
    """Return a text with other names and without annotations, so that it can be shared.

    Args:
        text: a text that parses.
        names: new names by old ones.
        told: redacts the words that the answer puts around its values.
        tools: functions whose arguments are left as they are.
    """
    return ast.unparse(_ForAll(names, told, tools).visit(parse_module(text)))


def bare_statements(source: SourceText, tools: Collection[str]) -> Iterator[tuple[Statement, str]]:
    """Yield each statement by itself, without nested statements and without the arguments of its calls of ``tools``.

    Statements that only make a call, or assign its result, are left out.
    """
    for statement in source.statements:
        bare = _Bare(tools).visit(copy(statement.node))
        if not isinstance(bare, ast.Expr | ast.Assign) or not isinstance(bare.value, ast.Await):
            yield statement, ast.unparse(bare).removesuffix("\n    pass")


@dataclass(slots=True)
class _Scope:
    """Names of one scope of a text."""

    bound: frozenset[str]
    """Names that the scope binds."""
    known: dict[str, str] = of(default_factory=dict[str, str])
    """Labels that replace the names seen so far."""


class _Reading(ast.NodeTransformer):
    """Transformer that numbers names in the order of the tree and sorts whatever has no order.

    Its dump is the same for equal programs.
    """

    def __init__(self, program: Program, inputs: Mapping[str, JsonObject], *, wording: bool) -> None:
        self.inputs: list[str] = []
        self._program = program
        self._named = inputs
        self._wording = wording
        self._saying = False
        self._scopes: list[_Scope] = []
        self._parameters: dict[str, _Scope] = {}
        self._names = 0

    def of(self, tree: ast.Module) -> str:
        """Return the canonical dump of a module."""
        with self._scope(_bound(tree.body)):
            return ast.dump(self.visit(tree))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._meant(node.id), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        meant = self._meant(name) if name else ""
        tool = meant.startswith(_TOOL)
        arguments = self._program.arguments.get(name, {}) if tool else {}
        if meant in self._parameters:
            arguments = self._parameters[meant].known
        with self._said(self._saying and not tool):
            func, args = self.visit(node.func), self._all(node.args)
            named = [(arguments.get(one.arg, one.arg) if one.arg else None, one.value) for one in node.keywords]
            named.sort(key=lambda pair: (pair[0] is None, pair[0] or ""))
            return ast.Call(func, args, [ast.keyword(name, self.visit(value)) for name, value in named])

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        pairs = list(zip(node.keys, node.values, strict=True))
        if all(isinstance(key, ast.Constant) for key in node.keys):
            pairs.sort(key=lambda pair: repr(cast("ast.Constant", pair[0]).value))
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in pairs:
            keys.append(self.visit(key) if key else None)
            with self._said(self._saying or (isinstance(key, ast.Constant) and key.value == ANSWER)):
                values.append(self.visit(value))
        return ast.Dict(keys, values)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        kept = [one for one in node.values if self._wording or not self._saying or not isinstance(one, ast.Constant)]
        return ast.JoinedStr([self.visit(one) for one in kept])

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        value = self.visit(node.value)
        with self._said(now=False):
            form = self.visit(node.format_spec) if node.format_spec else None
        return ast.FormattedValue(value, node.conversion, form)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign([self.visit(node.target)], self.visit(node.value))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        arguments = self._without_defaults(node.args)
        with self._scope(_parameters(node.args)):
            return ast.Lambda(self._arguments(node.args, arguments), self.visit(node.body))

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        name = self._meant(node.name) if node.name else None
        return ast.ExceptHandler(self.visit(node.type) if node.type else None, name, self._all(node.body))

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        return ast.MatchAs(self.visit(node.pattern) if node.pattern else None, self._meant(node.name or "") or None)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        return ast.MatchStar(self._meant(node.name or "") or None)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        keys, patterns = self._all(node.keys), self._all(node.patterns)
        return ast.MatchMapping(keys, patterns, self._meant(node.rest or "") or None)

    def visit_alias(self, node: ast.alias) -> ast.AST:
        return ast.alias(node.name, self._meant(node.asname) if node.asname else None)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Global([self._meant(name) for name in node.names])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        return ast.Nonlocal([self._meant(name) for name in node.names])

    def _function(self, node: _Function) -> ast.AST:
        name = self._meant(node.name)
        decorators = self._all(node.decorator_list)
        defaults = self._without_defaults(node.args)
        with self._scope(_parameters(node.args) | _bound(node.body)) as own:
            self._parameters[name] = own
            arguments, body = self._arguments(node.args, defaults), self._all(node.body)
        kind = cast("Any", type(node))
        return kind(name=name, args=arguments, body=body, decorator_list=decorators, returns=None)

    def _without_defaults(self, node: ast.arguments) -> tuple[list[ast.expr], list[ast.expr | None]]:
        """Visit the defaults of a function, which belong to the scope around it."""
        return self._all(node.defaults), [self.visit(one) if one else None for one in node.kw_defaults]

    def _arguments(self, node: ast.arguments, given: tuple[list[ast.expr], list[ast.expr | None]]) -> ast.arguments:
        """Return the renamed parameters, without annotations. ``given``: defaults that were visited before, outside."""
        defaults, by_name = given

        def own(one: ast.arg) -> ast.arg:
            return ast.arg(self._meant(one.arg))

        return ast.arguments(
            posonlyargs=[own(one) for one in node.posonlyargs],
            args=[own(one) for one in node.args],
            vararg=own(node.vararg) if node.vararg else None,
            kwonlyargs=[own(one) for one in node.kwonlyargs],
            kw_defaults=by_name,
            kwarg=own(node.kwarg) if node.kwarg else None,
            defaults=defaults,
        )

    def _comprehension(self, node: _Comprehension) -> ast.AST:
        """Visit a comprehension: it binds its own targets, but its first iterable is evaluated outside."""
        first = self.visit(node.generators[0].iter)
        bound = frozenset(name for one in node.generators for name in _stored(one.target))
        with self._scope(bound):
            loops = [
                ast.comprehension(
                    target=self.visit(one.target),
                    iter=self.visit(one.iter) if number else first,
                    ifs=self._all(one.ifs),
                    is_async=one.is_async,
                )
                for number, one in enumerate(node.generators)
            ]
            if isinstance(node, ast.DictComp):
                return ast.DictComp(self.visit(node.key), self.visit(node.value), loops)
            return type(node)(self.visit(node.elt), loops)

    def _all(self, nodes: Sequence[Any]) -> list[Any]:
        """Visit nodes in order."""
        return [self.visit(one) for one in nodes]

    def _meant(self, name: str) -> str:
        """Return the label of a name.

        It is that of the innermost scope that binds it, else of an input or a tool, else the name itself. An input
        stays an input even if the module assigns its name.
        """
        for scope in reversed(self._scopes):
            if name in scope.bound and not (scope is self._scopes[0] and name in self._named):
                if name not in scope.known:
                    self._names += 1
                    scope.known[name] = f"{_OWN}{self._names}"
                return scope.known[name]
        if name in self._named:
            if name not in self.inputs:
                self.inputs.append(name)
            return f"{_INPUT}{self.inputs.index(name) + 1}"
        return f"{_TOOL}{self._program.tools[name]}" if name in self._program.tools else name

    @contextmanager
    def _scope(self, bound: frozenset[str]) -> Generator[_Scope]:
        """Enter a scope that binds these names."""
        self._scopes.append(_Scope(bound))
        yield self._scopes[-1]
        self._scopes.pop()

    @contextmanager
    def _said(self, now: bool) -> Generator[None]:
        """Set for a block whether nodes belong to the answer, whose wording may not count."""
        before, self._saying = self._saying, now
        yield
        self._saying = before


_OWN, _INPUT, _TOOL = "own ", "input ", "tool "
"""Prefixes of labels; no name of a text begins like these."""


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    """Return the names of all parameters."""
    several = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return frozenset(one.arg for one in several if one is not None)


def _stored(target: ast.AST) -> set[str]:
    """Return the names that a target assigns."""
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _bound(body: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names that the statements of a scope bind, without those of scopes within it."""
    found: set[str] = set()
    others: set[str] = set()
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                found.update(
                    name for one in ast.walk(node) if isinstance(one, ast.NamedExpr) for name in _stored(one.target)
                )
                continue
            case ast.Name(ctx=ast.Store() | ast.Del()):
                found.add(node.id)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)) | ast.alias(asname=str(name)):
                found.add(name)
            case ast.Global() | ast.Nonlocal():
                others.update(node.names)
            case _:
                pass
        left += ast.iter_child_nodes(node)
    return frozenset(found - others)


class _ForAll(ast.NodeTransformer):
    """Transformer that renames names, drops annotations and redacts the words of the answer."""

    def __init__(self, names: Mapping[str, str], told: Callable[[str], str], tools: Collection[str]) -> None:
        self._names = names
        self._told = told
        self._tools = tools

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._names.get(node.arg, node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign([self.visit(node.target)], self.visit(node.value), lineno=node.lineno)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = self._names.get(node.name, node.name), None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.name, node.returns = self._names.get(node.name, node.name), None
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._names.get(node.name, node.name) if node.name else None
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == ANSWER:
                self._quieten(value)
        return self.generic_visit(node)

    def _quieten(self, node: ast.AST) -> None:
        """Redact the literal words of f-strings.

        Arguments of tools and format specifications stay, since they are no words to people.
        """
        if isinstance(node, ast.Call) and called(node) in self._tools:
            return
        if isinstance(node, ast.FormattedValue):
            self._quieten(node.value)
            return
        for one in ast.iter_child_nodes(node):
            if isinstance(node, ast.JoinedStr) and isinstance(one, ast.Constant) and isinstance(one.value, str):
                one.value = self._told(one.value)
            self._quieten(one)


class _Bare(ast.NodeTransformer):
    """Transformer of a statement: drops nested statements and the arguments of calls of tools."""

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools

    def generic_visit(self, node: ast.AST) -> ast.AST:
        changed = copy(node)
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers", "cases") and isinstance(value, list):
                setattr(changed, name, [ast.Pass()] if name == "body" else [])
            elif isinstance(value, list):
                parts = [self.visit(one) if isinstance(one, ast.AST) else one for one in cast("list[object]", value)]
                setattr(changed, name, parts)
            elif isinstance(value, ast.AST):
                setattr(changed, name, self.visit(value))
        return changed

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in self._tools:
            return ast.Call(node.func, [], [])
        return self.generic_visit(node)
