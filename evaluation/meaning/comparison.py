"""Compare programs as solutions, without running them: by their calls with arguments, and by their answers.

A library stores one text for programs that are the same by ``agent/programs/analysis/canonical_form.py``. This
comparison is wider: a loop for a comprehension, another order of independent calls or a guard for an empty result make
another program, but the same solution. docs/evaluation.md lists what makes no difference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.python_source import parse_module
from domain.tool import ToolId
from evaluation.meaning import terms
from evaluation.meaning.expressions import ToolCallTerm
from evaluation.meaning.statements import StatementReader
from evaluation.meaning.terms import Term, build_list, constant, group, open_list, rewrite, substitute, term

Link = tuple[ToolId, frozenset[ToolId]]
"""A tool that is called, with the tools whose responses go directly into its arguments."""


@dataclass(frozen=True, slots=True)
class ProgramMeaning:
    """What a program calls, and what its answer states."""

    calls: frozenset[ToolCallTerm] = frozenset()
    """Calls of tools, each once, with their arguments and the conditions they are made under."""
    answer_terms: frozenset[Term] = frozenset()
    """Data from calls that the answer states; empty if the program ends without an answer."""

    @property
    def links(self) -> frozenset[Link]:
        """The path of the solution: the tools that are called, and which feeds which."""
        return frozenset((_get_tool(one.call), frozenset(_find_feeding_tools(one.call))) for one in self.calls)

    def covers(self, other: "ProgramMeaning") -> bool:
        """Return whether it makes exactly the other's calls and its answer states all that the other's does.

        A program without an answer is compared by its calls alone.
        """
        return self.calls == other.calls and (not self.answer_terms or other.answer_terms <= self.answer_terms)


def derive_meaning(
    cells: Sequence[Program], values: Mapping[str, object] | None = None, inputs: Iterable[str] = ()
) -> ProgramMeaning:
    """Derive the meaning of a program from its cells; text that cannot be read has an empty meaning.

    Args:
        cells: the cells of the program, in order.
        values: values of names that are set before it runs.
        inputs: names that are set to unknown values.

    Raises:
        UsageError: a term of the program grows too large.
    """
    program = cells[-1].combine_with(cells) if cells else Program(text="", tools={})
    held = {name: constant(value) for name, value in (values or {}).items()}
    held |= {name: term("input", name) for name in inputs if name not in held}
    reader = StatementReader(tools=program.tools, arguments=program.arguments, held=held)
    try:
        for cell in cells:
            reader.last = terms.NOTHING
            reader.read_block(parse_module(cell.text).body)
    except (SyntaxError, ValueError, RecursionError):
        return ProgramMeaning()
    calls = {
        ToolCallTerm(_simplify(one.call), tuple(group("where", map(_simplify, one.where)).subterms()))
        for one in reader.calls
    }
    answer_terms = {_simplify(one) for one in _collect_answer_terms(_select_answer(reader.last))}
    return _number_inputs(ProgramMeaning(frozenset(calls), frozenset(answer_terms)), inputs)


def is_same_solution(left: ProgramPlan, right: ProgramPlan) -> bool:
    """Return whether two plans do the same with their inputs, whatever these are called."""
    first, second = (derive_meaning([plan.program], inputs=plan.inputs) for plan in (left, right))
    return bool(first.calls) and first == second


def derive_plan_meaning(plan: ProgramPlan, values: JsonObject | None = None) -> ProgramMeaning:
    """Return the meaning of a plan with these values of its inputs."""
    return derive_meaning([plan.program], {**plan.values, **(values or {})}, plan.inputs)


def _select_answer(value: Term) -> Term:
    """Return the part of a program's last value that is its answer: the field ``answer`` of a dict, else all of it."""
    if value.kind == "dict" and any(entry.parts[0] == constant("answer") for entry in value.subterms()):
        return terms.field(value, "answer")
    if value.kind == "if":
        test, one, other = value.subterms()
        return term("if", test, _select_answer(one), _select_answer(other))
    return value


def _collect_answer_terms(value: Term) -> set[Term]:
    """Return the data that a value states as single terms: the parts of a text, and lists for a list of texts."""
    match value.kind:
        case "const" | "input" | "name":
            return set()
        case "text" | "items" | "joined" | "dict":
            return {one for part in value.subterms() for one in _collect_answer_terms(part)}
        case "entry":
            entry_value = value.parts[1]
            return _collect_answer_terms(entry_value) if isinstance(entry_value, Term) else set()
        case "Add" if any(part.kind in ("const", "text") and not _is_number(part) for part in value.subterms()):
            return {one for part in value.subterms() for one in _collect_answer_terms(part)}
        case "order" | "unique" | "map":
            return _collect_answer_terms(next(value.subterms()))
        case "list":
            item, through, where = open_list(value)
            return {build_list(one, through, where) for one in _collect_answer_terms(item)}
        case "if":
            test, one, other = value.subterms()
            if test.kind == "instance":  # a test of a value's type is no content
                return _collect_answer_terms(one) | _collect_answer_terms(other)
            return {value} if _collect_answer_terms(one) or _collect_answer_terms(other) else {term("if", test)}
        case _:
            return {value} if value.data else set()


def _simplify(value: Term) -> Term:
    """Drop conditions that repeat an argument of the call.

    A search by name needs no test that its results have the name.
    """
    return rewrite(value, _drop_repeated_conditions)


def _drop_repeated_conditions(value: Term) -> Term:
    if value.kind != "where":
        return value
    return group("where", (one for one in value.subterms() if not _is_repeated(one)))


def _is_repeated(test: Term) -> bool:
    """Return whether a test compares an item's field with an argument of the call that found the item."""
    if test.kind not in ("equal", "in") or len(test.parts) != 2:
        return False
    for held, search_value in (test.parts, test.parts[::-1]):
        if isinstance(held, Term) and isinstance(search_value, Term) and not search_value.data:
            each = next((one for one in held.walk() if one.kind == "each"), None)
            source = next((one for one in each.walk() if one.kind == "call"), None) if each is not None else None
            if source is not None and any(argument.parts[1] == search_value for argument in source.subterms()):
                return True
    return False


def _number_inputs(meaning: ProgramMeaning, inputs: Iterable[str]) -> ProgramMeaning:
    """Replace the names of inputs by numbers in the order in which calls use them, so that names make no difference."""
    uses = {
        name: sorted({use for one in meaning.calls for use in _find_uses(one.call, term("input", name))})
        for name in inputs
    }
    ordered = sorted(uses, key=lambda name: (not uses[name], uses[name]))
    for number, name in enumerate(ordered):
        meaning = _replace_input(meaning, term("input", name), term("input", str(number), "numbered"))
    return meaning


def _replace_input(meaning: ProgramMeaning, old: Term, new: Term) -> ProgramMeaning:
    calls = {
        ToolCallTerm(
            substitute(one.call, old, new),
            tuple(group("where", (substitute(test, old, new) for test in one.where)).subterms()),
        )
        for one in meaning.calls
    }
    return ProgramMeaning(frozenset(calls), frozenset(substitute(one, old, new) for one in meaning.answer_terms))


def _find_uses(value: Term, target: Term) -> set[str]:
    """Return the parameters, as ``tool.parameter``, whose arguments have a term in them."""
    uses: set[str] = set()
    for part in value.walk():
        if part.kind == "call":
            uses |= {
                f"{part.parts[0]}.{argument.parts[0]}" for argument in part.subterms() if target in argument.walk()
            }
    return uses


def _get_tool(call: Term) -> ToolId:
    return ToolId(str(call.parts[0]))


def _find_feeding_tools(call: Term) -> set[ToolId]:
    """Return the tools whose responses go directly into a call."""
    tools: set[ToolId] = set()
    todo = list(call.subterms())
    while todo:
        part = todo.pop()
        if part.kind == "call":
            tools.add(_get_tool(part))
        else:
            todo += part.subterms()
    return tools


def _is_number(value: Term) -> bool:
    return value.kind == "const" and not str(value.parts[0]).startswith("'")
