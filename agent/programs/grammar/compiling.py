"""Compilation of a sentence to the text of a program."""

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
"""Values that are no answer; zero and false are answers."""


@dataclass(frozen=True, slots=True)
class CompiledSentence:
    """Result of compiling a sentence."""

    text: str
    """Program; empty if there are complaints."""
    complaints: tuple[str, ...] = ()
    """Messages that can be shown to the author of the sentence."""


def compile_sentence(
    sentence: Sentence, offer: OfferText, held_names: Collection[str] = (), *, certain: bool = True
) -> CompiledSentence:
    """Compile a sentence over the functions of an offer.

    ``held_names``: names that already hold earlier results. A step that needs something which may not exist (the first item of an empty list, a
    field that is null) guards all steps after it: if it does not exist, the program answers *no*. With ``certain`` false, it is not sure that
    the sentence is what was asked. Then the program raises an error in that case, and also if its answer, or a list in it, is empty: its
    author may have another sentence.
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
    """Write the result of the program; return complaints."""
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
    """Store the answer in a variable, so that the end can check that there is one; return complaints."""
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
    """Yield the lists whose figure is uncertain if they are empty: those found by a name or cut to one.

    That no item is above a bound is certain knowledge, so such a list may be empty.
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
    """Return the message for a step that finds nothing; it holds no value, since none is certain to exist."""
    parts = split_pieces(sentence.missing)
    if sentence.missing.strip() and not any(isinstance(part, ValuePath) for part in parts):
        return "".join(map(str, parts))
    return "nothing was found that fits"
