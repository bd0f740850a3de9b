"""Write programs without a model: the sentence that says what the request says, compiled to a program."""

import re
from collections.abc import Collection, Mapping
from datetime import date

from agent.programs.grammar.compiling import compiled
from agent.programs.grammar.sentence import Sentence, Step
from agent.programs.offer_text import OfferText
from agent.programs.protocol import Attempt, ProgramQuestion, WrittenProgram
from domain.tool import ToolDoc
from offline.change_words import may_call
from offline.planning_time import OutOfPlanningTimeError, PlanningClock
from offline.sentences.inputs import Function
from offline.sentences.said import said_in
from offline.sentences.scene import Scene
from offline.sentences.search import Meant, sentences

_TRIED = 200
_PATH = re.compile(r"(?<!\{)\{([^{}]+)\}")
_ROOT = re.compile(r"[^\W\d]\w*")


def written(clock: PlanningClock, question: ProgramQuestion) -> WrittenProgram:
    """Write a program, or none if no sentence covers enough of the request; after a failure the next best.

    It runs in a thread of its own. No text is parsed here, since CPython's parser counts its depth for all threads
    together.
    """
    if (
        question.goes_on
        or question.answers
        or len(question.attempts) > 1
        or any(one.stands or one.changed for one in question.attempts)
    ):
        return WrittenProgram("", "rules write no program that goes on from what was found before")
    if any(not one.safe and may_call(one, question.request) for one in question.docs.values()):
        return WrittenProgram("", "it may order a change, which no sentence makes")
    path = frozenset(question.docs) if question.of_path else frozenset[str]()
    tried = [_dead_end(one, question.docs) for one in question.attempts]
    try:
        found = candidates(question, clock)
    except OutOfPlanningTimeError:
        return WrittenProgram(
            "",
            f"no sentence was found in {clock.seconds:g} s of processor time; ask in fewer words, or raise FOOTPATH_PLANNING_SECONDS",
        )
    for meant in found[:_TRIED]:
        if not meant.certain or not path <= meant.calls:
            continue
        text = text_of(meant, question.offer)
        if text and not any(one in text for one in tried):
            return WrittenProgram(text)
    return WrittenProgram("", "no sentence over the offered functions says what the request says")


def _dead_end(attempt: Attempt, functions: Collection[str]) -> str:
    """Return text that no further program may hold: the call that failed, else the first call.

    Whatever begins with the same first call would fail too.
    """
    failed = next((one for one in functions if f"call of {one} failed" in attempt.told), "")
    return f"{failed}(" if failed else f"await {attempt.text.partition('await ')[2].partition(chr(10))[0]}"


def candidates(question: ProgramQuestion, clock: PlanningClock | None = None) -> list[Meant]:
    """Return the candidate sentences, best first.

    Raises:
        OutOfPlanningTimeError: the clock has run out.
    """
    offered = functions(question.offer, question.docs)
    vocabulary = frozenset(word for one in offered for word in one.vocabulary)
    kinds = frozenset(kind for one in offered for kind in one.kinds)
    clock = clock or PlanningClock()
    clock.check()
    said = said_in(question.request, date.fromisoformat(question.today), vocabulary, kinds)
    return sentences(Scene(said, offered, clock))


def functions(offer: OfferText, docs: Mapping[str, ToolDoc]) -> list[Function]:
    """List the offered functions that only read, in the order of the offer."""
    known = [(place, one) for place, one in enumerate(offer.signatures) if one.name in docs]
    return [Function(one, docs[one.name], place) for place, one in known if docs[one.name].safe]


def text_of(meant: Meant, offer: OfferText) -> str:
    """Compile the program of one sentence, or of two in sequence."""
    steps: list[Step] = []
    answers: list[str] = []
    for number, end in enumerate(meant.ends):
        renamed = {step.name: f"{step.name}_{number + 1}" if number else step.name for step in end.steps}
        steps += [_renamed(step, renamed) for step in end.steps]
        answers.append(_in_path(end.text, renamed))
    answer = "\n".join(answers)
    return compiled(Sentence(steps=steps, answered="yes", answer=answer, missing=""), offer, certain=False).text


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    """Rename a step, and the steps that it refers to."""
    fields = step.model_dump()
    for key in ("of", "left", "right", "like", "value"):
        if isinstance(fields.get(key), str):
            fields[key] = _in_path(fields[key], names) if key != "of" else _root(fields[key], names)
    for argument in fields.get("arguments", ()):
        if isinstance(argument["value"], str):
            argument["value"] = _in_path(argument["value"], names)
    return type(step).model_validate({**fields, "name": names[step.name]})


def _in_path(text: str, names: Mapping[str, str]) -> str:
    return _PATH.sub(lambda found: f"{{{_root(found[1], names)}}}", text)


def _root(path: str, names: Mapping[str, str]) -> str:
    found = _ROOT.match(path)
    return f"{names.get(found[0], found[0])}{path[found.end() :]}" if found else path
