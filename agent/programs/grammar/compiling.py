"""A sentence as the text of a program."""

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
"""What is no answer. Nought and false are."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """``text``: of the program; empty where there are ``complaints``, each fit to be told to who wrote the sentence."""

    text: str
    complaints: tuple[str, ...] = ()


def compiled(sentence: Sentence, offer: OfferText, given: Collection[str] = (), *, certain: bool = True) -> Compiled:
    """The program of a sentence over the functions of an offer. ``given``: names that hold earlier results already.

    A step that needs something which may not be there (the first of an empty list, a field that is null) guards all that follow it: where
    it is not, the program answers *no*. Where it is not ``certain`` that the sentence is what was asked, it breaks off instead, as it does where its
    answer, or a list in it, comes out empty: its author may have another.
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
    """Write what the program comes to; what is wrong with it."""
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
    """Hold the answer, for the end to see whether there is one; what is wrong with it."""
    try:
        answer = value(sentence.answer, scope.find)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.need(answer.needs)
    scope.line(f"{_RESULT} = {answer.text}")
    return []


def _guarded(sentence: Sentence, scope: Scope) -> str:
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
    """The lists of which a figure is uncertain where they are empty: found by a name, or cut to one. That none is above a bound is known."""
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
    """Whether a value is made of what was found before."""
    return isinstance(given, str) and any(isinstance(part, Path) for part in pieces(given))


def _whole(sentence: Sentence, scope: Scope) -> str:
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
    """What is told where a step finds nothing: no value may be in it, since none is there for certain."""
    parts = pieces(sentence.missing)
    if sentence.missing.strip() and not any(isinstance(part, Path) for part in parts):
        return "".join(map(str, parts))
    return "nothing was found that fits"
