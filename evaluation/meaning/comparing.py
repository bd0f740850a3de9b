"""Comparison of programs as solutions, without running them: their calls with arguments, and their answers.

This is wider than being the same program, by which a library stores one text for several (``agent/programs/analysis/forms.py``): a loop
for a comprehension, another order of independent calls or a guard for an empty result make another program but the same solution.
docs/evaluation.md lists what makes no difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.python_source import parse_module
from domain.tool import ToolId
from evaluation.meaning import terms
from evaluation.meaning.expressions import Called
from evaluation.meaning.statements import Statements
from evaluation.meaning.terms import Term, constant, group, listed, opened, replaced, rewritten, term

Link = tuple[ToolId, frozenset[ToolId]]
"""A tool that is called, and the tools whose responses go into its arguments."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The calls of a program and the content of its answer."""

    calls: frozenset[Called] = frozenset()
    """Calls of tools, each once, with their arguments and the conditions they are made under."""
    said: frozenset[Term] = frozenset()
    """Found data that the answer holds; empty: the program ends without an answer."""

    @property
    def links(self) -> frozenset[Link]:
        """Which tools are called, and which feed which: the path of the solution."""
        return frozenset((_tool(one.call), frozenset(_feeding(one.call))) for one in self.calls)

    def says(self, other: "Meaning") -> bool:
        """Return whether it makes exactly the other's calls and its answer holds all of the other's.

        A program without an answer is compared by its calls alone.
        """
        return self.calls == other.calls and (not self.said or other.said <= self.said)


def meaning_of(
    cells: Sequence[Program], values: Mapping[str, object] | None = None, inputs: Iterable[str] = ()
) -> Meaning:
    """Return the meaning of a program's cells, in order; an unreadable text has an empty meaning.

    Args:
        cells: the cells of the program.
        values: values of names that are set before it runs.
        inputs: names without a value.

    Raises:
        UsageError: a term of the program grows too large.
    """
    whole = cells[-1].over(cells) if cells else Program(text="", tools={})
    held = {name: constant(value) for name, value in (values or {}).items()}
    held |= {name: term("input", name) for name in inputs if name not in held}
    reader = Statements(tools=whole.tools, arguments=whole.arguments, held=held)
    try:
        for cell in cells:
            reader.last = terms.NOTHING
            reader.block(parse_module(cell.text).body)
    except (SyntaxError, ValueError, RecursionError):
        return Meaning()
    calls = {Called(_plain(one.call), tuple(group("where", map(_plain, one.where)).inner())) for one in reader.calls}
    said = {_plain(one) for one in _said(_answer(reader.last))}
    return _numbered(Meaning(frozenset(calls), frozenset(said)), inputs)


def same_solution(one: ProgramPlan, other: ProgramPlan) -> bool:
    """Return whether two plans do the same with their inputs, whatever these are called."""
    first, second = (meaning_of([plan.program], inputs=plan.inputs) for plan in (one, other))
    return bool(first.calls) and first == second


def solution_of(plan: ProgramPlan, values: JsonObject | None = None) -> Meaning:
    """Return the meaning of a plan with these values of its inputs."""
    return meaning_of([plan.program], {**plan.values, **(values or {})}, plan.inputs)


def _answer(value: Term) -> Term:
    """Return the part of a program's last value that is its answer."""
    if value.kind == "dict" and any(entry.parts[0] == constant("answer") for entry in value.inner()):
        return terms.field(value, "answer")
    if value.kind == "if":
        test, one, other = value.inner()
        return term("if", test, _answer(one), _answer(other))
    return value


def _said(value: Term) -> set[Term]:
    """Return the found data in a value as single terms: a phrase by its parts, a list of phrases by lists."""
    match value.kind:
        case "const" | "input" | "name":
            return set()
        case "text" | "items" | "joined" | "dict":
            return {one for part in value.inner() for one in _said(part)}
        case "entry":
            last = value.parts[1]
            return _said(last) if isinstance(last, Term) else set()
        case "Add" if any(part.kind in ("const", "text") and not _number(part) for part in value.inner()):
            return {one for part in value.inner() for one in _said(part)}
        case "order" | "unique" | "map":
            return _said(next(value.inner()))
        case "list":
            item, through, where = opened(value)
            return {listed(one, through, where) for one in _said(item)}
        case "if":
            test, one, other = value.inner()
            if test.kind == "instance":  # a test of a value's type is no content
                return _said(one) | _said(other)
            return {value} if _said(one) or _said(other) else {term("if", test)}
        case _:
            return {value} if value.data else set()


def _plain(value: Term) -> Term:
    """Drop conditions that repeat an argument of the call: a search by name whose results must have that name."""
    return rewritten(value, _without_repeated)


def _without_repeated(value: Term) -> Term:
    if value.kind != "where":
        return value
    return group("where", (one for one in value.inner() if not _repeats(one)))


def _repeats(test: Term) -> bool:
    if test.kind not in ("equal", "in") or len(test.parts) != 2:
        return False
    for held, asked in (test.parts, test.parts[::-1]):
        if isinstance(held, Term) and isinstance(asked, Term) and not asked.data:
            each = next((one for one in held.walk() if one.kind == "each"), None)
            source = next((one for one in each.walk() if one.kind == "call"), None) if each is not None else None
            if source is not None and any(argument.parts[1] == asked for argument in source.inner()):
                return True
    return False


def _numbered(meaning: Meaning, inputs: Iterable[str]) -> Meaning:
    """Replace the names of inputs by numbers in the order of their uses."""
    uses = {
        name: sorted({use for one in meaning.calls for use in _uses(one.call, term("input", name))}) for name in inputs
    }
    ordered = sorted(uses, key=lambda name: (not uses[name], uses[name]))
    for number, name in enumerate(ordered):
        meaning = _renamed(meaning, term("input", name), term("input", str(number), "numbered"))
    return meaning


def _renamed(meaning: Meaning, old: Term, new: Term) -> Meaning:
    calls = {
        Called(
            replaced(one.call, old, new),
            tuple(group("where", (replaced(test, old, new) for test in one.where)).inner()),
        )
        for one in meaning.calls
    }
    return Meaning(frozenset(calls), frozenset(replaced(one, old, new) for one in meaning.said))


def _uses(value: Term, given: Term) -> set[str]:
    """Return the parameters of tools, as ``tool.parameter``, whose arguments contain the value."""
    found: set[str] = set()
    for one in value.walk():
        if one.kind == "call":
            found |= {f"{one.parts[0]}.{argument.parts[0]}" for argument in one.inner() if given in argument.walk()}
    return found


def _tool(call: Term) -> ToolId:
    return ToolId(str(call.parts[0]))


def _feeding(call: Term) -> set[ToolId]:
    """Return the tools whose responses go directly into a call."""
    found: set[ToolId] = set()
    todo = list(call.inner())
    while todo:
        one = todo.pop()
        if one.kind == "call":
            found.add(_tool(one))
        else:
            todo += one.inner()
    return found


def _number(value: Term) -> bool:
    return value.kind == "const" and not str(value.parts[0]).startswith("'")
