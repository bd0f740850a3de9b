"""Compilation of a sentence to the text of a program."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agent.programs.grammar.paths import Path, path_of, pieces
from agent.programs.grammar.scope import Scope
from agent.programs.grammar.sentence import Call, Figure, ForEach, Join, Look, Sentence, Value, Where
from agent.programs.grammar.steps import written
from agent.programs.grammar.texts import text, value
from agent.programs.offer_text import OfferText
from domain.errors import InvalidDecisionError

_MOST_TOLD = 5
_RESULT = "result"
_EMPTY = "(None, '', [], {})"
"""Values that are no answer; zero and false are answers."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of compiling a sentence."""

    text: str
    """Program; empty if there are complaints."""
    complaints: tuple[str, ...] = ()
    """Messages that can be shown to the author of the sentence."""


def compiled(sentence: Sentence, offer: OfferText, given: Collection[str] = (), *, certain: bool = True) -> Compiled:
    """Compile a sentence over the functions of an offer.

    ``given``: names that already hold earlier results. A step that needs something which may not exist (the first item of an empty list, a
    field that is null) guards all steps after it: if it does not exist, the program answers *no*. With ``certain`` false, it is not sure that
    the sentence is what was asked. Then the program raises an error in that case, and also if its answer, or a list in it, is empty: its
    author may have another sentence.
    """
    scope = Scope({one.name: one for one in offer.signatures}, given)
    complaints: list[str] = []
    for number, step in enumerate(sentence.steps, start=1):
        try:
            written(step, scope)
        except InvalidDecisionError as error:
            complaints.append(f"step {number} ({step.name}): {error}")
            scope.give_up(step.name)
        if isinstance(step, Look) and number < len(sentence.steps):
            complaints.append(f"step {number} ({step.name}): a look is the last step")
    if not (sentence.steps and isinstance(sentence.steps[-1], Look)):
        complaints += _end(sentence, scope) if certain else _end_if_found(sentence, scope)
    if complaints:
        return Compiled("", tuple(complaints[:_MOST_TOLD]))
    return Compiled(_whole(sentence, scope) if certain else _guarded(sentence, scope))


def _end(sentence: Sentence, scope: Scope) -> list[str]:
    """Write the result of the program; return complaints."""
    if sentence.answered == "yes" and sentence.answer in ("", []):
        return ['answer is empty: where nothing can be answered, `answered` is "no"']
    try:
        answer = value(sentence.answer, scope.find)
        missing = text(sentence.missing if sentence.answered != "yes" else "", scope.find)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.need((*answer.needs, *missing.needs))
    told = f"{{'answered': {sentence.answered!r}, 'answer': {answer.text}, 'missing': {missing.text}}}"
    scope.line(f"{_RESULT} = {told}" if scope.depth else told)
    return []


def _end_if_found(sentence: Sentence, scope: Scope) -> list[str]:
    """Store the answer in a variable, so that the end can check that there is one; return complaints."""
    try:
        answer = value(sentence.answer, scope.find)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.need(answer.needs)
    scope.line(f"{_RESULT} = {answer.text}")
    return []


def _guarded(sentence: Sentence, scope: Scope) -> str:
    """Return the program of an uncertain sentence, which raises an error if its answer is empty."""
    told = f"{{'answered': {sentence.answered!r}, 'answer': {_RESULT}, 'missing': {sentence.missing!r}}}"
    before = ["import asyncio"] if scope.at_once else []
    before += [f"{_RESULT} = None"] if scope.depth else []
    joined = {step.name for step in sentence.steps if isinstance(step, Join)}
    answer = pieces(sentence.answer) if isinstance(sentence.answer, str) else []
    lists = [scope.find(one).text for one in answer if isinstance(one, Path) and one.root in joined]
    empty = " or ".join(f"{one} in {_EMPTY}" for one in ((_RESULT, *lists) if len(answer) > 1 else (_RESULT,)))
    empty += "".join(f" or not {one}" for one in dict.fromkeys(_counted(sentence, scope)))
    after = [f"if {empty}:", f"    raise ValueError({_otherwise(sentence)!r})", told]
    return "\n".join((*before, *scope.lines, *after)) + "\n"


def _counted(sentence: Sentence, scope: Scope) -> Iterator[str]:
    """Yield the lists whose figure is uncertain if they are empty: those found by a name or cut to one.

    That no item is above a bound is certain knowledge, so such a list may be empty.
    """
    steps = {one.name: one for one in sentence.steps}
    for figure in (one for one in sentence.steps if isinstance(one, Figure)):
        path = path_of(figure.of)
        step = steps.get(path.root) if path else None
        while path and (isinstance(step, ForEach) or (isinstance(step, Where) and step.test not in ("contains", "="))):
            path = path_of(step.of)
            step = steps.get(path.root) if path else None
        said = isinstance(step, Call) and not any(_open(one.value) for one in step.arguments)
        if path and (said or isinstance(step, Where)):
            yield scope.find(path).there.text


def _open(given: Value) -> bool:
    """Return True if a value refers to the result of an earlier step."""
    return isinstance(given, str) and any(isinstance(part, Path) for part in pieces(given))


def _whole(sentence: Sentence, scope: Scope) -> str:
    """Return the program of a certain sentence, which answers *no* if a guard fails."""
    before: list[str] = []
    after: list[str] = []
    if scope.at_once:
        before.append("import asyncio")
    if scope.depth:
        otherwise = {"answered": "no", "answer": "", "missing": _otherwise(sentence)}
        before.append(f"{_RESULT} = {otherwise}")
        after.append(_RESULT)
    return "\n".join((*before, *scope.lines, *after)) + "\n"


def _otherwise(sentence: Sentence) -> str:
    """Return the message for a step that finds nothing; it holds no value, since none is certain to exist."""
    parts = pieces(sentence.missing)
    if sentence.missing.strip() and not any(isinstance(part, Path) for part in parts):
        return "".join(map(str, parts))
    return "nothing was found that fits"
