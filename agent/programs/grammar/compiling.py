"""Compilation of a sentence of the grammar to the text of a program: its steps, its guards and its answer."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agent.programs.grammar.expressions import render_text, render_value
from agent.programs.grammar.paths import ValuePath, parse_path, split_pieces
from agent.programs.grammar.scope import CompileScope
from agent.programs.grammar.sentence import Call, Figure, ForEach, Join, Look, Sentence, Value, Where
from agent.programs.grammar.steps import write_step
from agent.programs.signatures import OfferText
from domain.errors import InvalidDecisionError

_MAX_COMPLAINTS = 5
_RESULT = "result"
_EMPTY = "(None, '', [], {})"
"""Code of the values that count as no answer. Zero and false are answers."""


@dataclass(frozen=True, slots=True)
class CompiledSentence:
    """Result of compiling a sentence."""

    text: str
    """Text of the program; empty if there are complaints."""
    complaints: tuple[str, ...] = ()
    """Messages for the author of the sentence."""


def compile_sentence(
    sentence: Sentence, offer: OfferText, held_names: Collection[str] = (), *, certain: bool = True
) -> CompiledSentence:
    """Compile a sentence that calls the functions of an offer.

    A step that uses a value which may not exist, such as the first item of a list or a field that may be null, puts all
    steps after it under a guard.

    Args:
        sentence: the sentence.
        offer: the functions that it may call.
        held_names: names that hold earlier results.
        certain: whether the sentence is known to be what was asked. If so, the program answers *no* when a guard fails.
            If not, it raises an error, also when the answer or a list in it is empty, so that its author can try
            another sentence.
    """
    scope = CompileScope({one.name: one for one in offer.signatures}, held_names)
    complaints: list[str] = []
    for number, step in enumerate(sentence.steps, start=1):
        try:
            write_step(step, scope)
        except InvalidDecisionError as error:
            complaints.append(f"step {number} ({step.name}): {error}")
            scope.give_up(step.name)
        if isinstance(step, Look) and number < len(sentence.steps):
            complaints.append(f"step {number} ({step.name}): a look is the last step")
    if not (sentence.steps and isinstance(sentence.steps[-1], Look)):
        complaints += _write_end(sentence, scope) if certain else _write_found_end(sentence, scope)
    if complaints:
        return CompiledSentence("", tuple(complaints[:_MAX_COMPLAINTS]))
    return CompiledSentence(_render_program(sentence, scope) if certain else _render_guarded(sentence, scope))


def _write_end(sentence: Sentence, scope: CompileScope) -> list[str]:
    """Write the answer of a certain sentence; return complaints."""
    if sentence.answered == "yes" and sentence.answer in ("", []):
        return ['answer is empty: where nothing can be answered, `answered` is "no"']
    try:
        answer = render_value(sentence.answer, scope.find)
        missing = render_text(sentence.missing if sentence.answered != "yes" else "", scope.find)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.require((*answer.needs, *missing.needs))
    result = f"{{'answered': {sentence.answered!r}, 'answer': {answer.text}, 'missing': {missing.text}}}"
    scope.write_line(f"{_RESULT} = {result}" if scope.depth else result)
    return []


def _write_found_end(sentence: Sentence, scope: CompileScope) -> list[str]:
    """Write the answer of an uncertain sentence into a variable, which is checked later; return complaints."""
    try:
        answer = render_value(sentence.answer, scope.find)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.require(answer.needs)
    scope.write_line(f"{_RESULT} = {answer.text}")
    return []


def _render_guarded(sentence: Sentence, scope: CompileScope) -> str:
    """Return the program of an uncertain sentence, which raises an error if its answer is empty."""
    result = f"{{'answered': {sentence.answered!r}, 'answer': {_RESULT}, 'missing': {sentence.missing!r}}}"
    before = ["import asyncio"] if scope.at_once else []
    before += [f"{_RESULT} = None"] if scope.depth else []
    joined = {step.name for step in sentence.steps if isinstance(step, Join)}
    answer = split_pieces(sentence.answer) if isinstance(sentence.answer, str) else []
    lists = [scope.find(one).text for one in answer if isinstance(one, ValuePath) and one.root in joined]
    empty = " or ".join(f"{one} in {_EMPTY}" for one in ((_RESULT, *lists) if len(answer) > 1 else (_RESULT,)))
    empty += "".join(f" or not {one}" for one in dict.fromkeys(_find_uncertain_lists(sentence, scope)))
    after = [f"if {empty}:", f"    raise ValueError({_explain_nothing_found(sentence)!r})", result]
    return "\n".join((*before, *scope.lines, *after)) + "\n"


def _find_uncertain_lists(sentence: Sentence, scope: CompileScope) -> Iterator[str]:
    """Yield the lists that a figure is computed from and that must not be empty for it to be trusted.

    These are results of calls with constant arguments, and lists filtered by equality or ``contains``: there, an empty
    list may mean that the name is not the one the API uses. A list filtered by a bound may well be empty.
    """
    steps = {one.name: one for one in sentence.steps}
    for figure in (one for one in sentence.steps if isinstance(one, Figure)):
        path = parse_path(figure.of)
        step = steps.get(path.root) if path else None
        while path and (isinstance(step, ForEach) or (isinstance(step, Where) and step.test not in ("contains", "="))):
            path = parse_path(step.of)
            step = steps.get(path.root) if path else None
        is_fixed_call = isinstance(step, Call) and not any(_uses_path(one.value) for one in step.arguments)
        if path and (is_fixed_call or isinstance(step, Where)):
            yield scope.find(path).non_null.text


def _uses_path(argument: Value) -> bool:
    """Return True if a value refers to the result of an earlier step."""
    return isinstance(argument, str) and any(isinstance(part, ValuePath) for part in split_pieces(argument))


def _render_program(sentence: Sentence, scope: CompileScope) -> str:
    """Return the program of a certain sentence, which answers *no* if a guard fails."""
    before: list[str] = []
    after: list[str] = []
    if scope.at_once:
        before.append("import asyncio")
    if scope.depth:
        otherwise = {"answered": "no", "answer": "", "missing": _explain_nothing_found(sentence)}
        before.append(f"{_RESULT} = {otherwise}")
        after.append(_RESULT)
    return "\n".join((*before, *scope.lines, *after)) + "\n"


def _explain_nothing_found(sentence: Sentence) -> str:
    """Return the message for a failed guard, without values, since none of them is certain to exist."""
    parts = split_pieces(sentence.missing)
    if sentence.missing.strip() and not any(isinstance(part, ValuePath) for part in parts):
        return "".join(map(str, parts))
    return "nothing was found that fits"
