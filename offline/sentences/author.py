"""Write programs without a model: from a stored solution, or as the sentence that fits the request."""

import re
from collections.abc import Collection, Mapping
from datetime import date

from agent.programs.grammar.sentence import Sentence, Step
from agent.programs.grammar.sentence_compiler import compile_sentence
from agent.programs.program_types import ProgramAttempt, ProgramQuestion, WrittenProgram
from agent.programs.signatures import OfferText
from domain.tool import ToolDoc
from offline.change_orders import may_call
from offline.planning_time import OutOfPlanningTimeError, PlanningClock
from offline.sentences.input_filling import OfferedFunction
from offline.sentences.parsed_request import parse_request
from offline.sentences.search import SentenceCandidate, rank_sentences
from offline.sentences.sentence_context import SentenceContext

_MAX_TRIED = 200
"""Candidates, best first, that are considered for a program."""
_PATH = re.compile(r"(?<!\{)\{([^{}]+)\}")
"""A path in braces within a text; doubled braces are plain ones."""
_ROOT = re.compile(r"[^\W\d]\w*")


def write_program(clock: PlanningClock, question: ProgramQuestion) -> WrittenProgram:
    """Write a program; an empty text with a reason if no sentence covers enough of the request.

    It runs in a thread of its own. No Python is parsed here, since CPython's parser counts its depth for all threads
    together. After a failed attempt, the next best sentence without the failed call is written.
    """
    if (
        question.has_earlier_results
        or question.answers
        or len(question.attempts) > 1
        or any(one.names_valid or one.made_changes for one in question.attempts)
    ):
        return WrittenProgram("", "rules write no program that goes on from what was found before")
    if any(not one.safe and may_call(one, question.request) for one in question.docs.values()):
        return WrittenProgram("", "it may order a change, which no sentence makes")
    path = frozenset(question.docs) if question.follows_path else frozenset[str]()
    dead_ends = [_find_dead_end(one, question.docs) for one in question.attempts]
    try:
        ranked_candidates = rank_candidates(question, clock)
    except OutOfPlanningTimeError:
        return WrittenProgram(
            "",
            f"no sentence was found in {clock.seconds:g} s of processor time; ask in fewer words, or raise FOOTPATH_PLANNING_SECONDS",
        )
    for candidate in ranked_candidates[:_MAX_TRIED]:
        if not candidate.is_certain or not path <= candidate.called_functions:
            continue
        text = compile_candidate(candidate, question.offer)
        if text and not any(one in text for one in dead_ends):
            return WrittenProgram(text)
    return WrittenProgram("", "no sentence over the offered functions says what the request says")


def _find_dead_end(attempt: ProgramAttempt, functions: Collection[str]) -> str:
    """Return text that no further program may contain: the call that failed, else the first call.

    Whatever begins with the same first call would fail again.
    """
    failed_function = next((one for one in functions if f"call of {one} failed" in attempt.feedback), "")
    return (
        f"{failed_function}("
        if failed_function
        else f"await {attempt.text.partition('await ')[2].partition(chr(10))[0]}"
    )


def rank_candidates(question: ProgramQuestion, clock: PlanningClock | None = None) -> list[SentenceCandidate]:
    """Return the candidate sentences, best first.

    Raises:
        OutOfPlanningTimeError: the clock has run out.
    """
    offered_functions = list_functions(question.offer, question.docs)
    vocabulary = frozenset(word for one in offered_functions for word in one.vocabulary)
    kinds = frozenset(kind for one in offered_functions for kind in one.kinds)
    clock = clock or PlanningClock()
    clock.check()
    parsed = parse_request(question.request, date.fromisoformat(question.today), vocabulary, kinds)
    return rank_sentences(SentenceContext(parsed, offered_functions, clock))


def list_functions(offer: OfferText, docs: Mapping[str, ToolDoc]) -> list[OfferedFunction]:
    """List the offered functions that only read, in the order of the offer."""
    known_signatures = [(place, one) for place, one in enumerate(offer.signatures) if one.name in docs]
    return [OfferedFunction(one, docs[one.name], place) for place, one in known_signatures if docs[one.name].safe]


def compile_candidate(candidate: SentenceCandidate, offer: OfferText) -> str:
    """Compile a candidate to a program; the steps of a second sentence get names of their own."""
    steps: list[Step] = []
    answers: list[str] = []
    for number, end in enumerate(candidate.endings):
        new_names = {step.name: f"{step.name}_{number + 1}" if number else step.name for step in end.steps}
        steps += [_rename_step(step, new_names) for step in end.steps]
        answers.append(_rename_in_text(end.text, new_names))
    answer = "\n".join(answers)
    return compile_sentence(Sentence(steps=steps, answered="yes", answer=answer, missing=""), offer, certain=False).text


def _rename_step(step: Step, new_names: Mapping[str, str]) -> Step:
    """Rename a step, and the names of steps that it refers to."""
    fields = step.model_dump()
    for key in ("of", "left", "right", "like", "value"):
        if isinstance(fields.get(key), str):
            fields[key] = (
                _rename_in_text(fields[key], new_names) if key != "of" else _rename_root(fields[key], new_names)
            )
    for argument in fields.get("arguments", ()):
        if isinstance(argument["value"], str):
            argument["value"] = _rename_in_text(argument["value"], new_names)
    return type(step).model_validate({**fields, "name": new_names[step.name]})


def _rename_in_text(text: str, new_names: Mapping[str, str]) -> str:
    return _PATH.sub(lambda found: f"{{{_rename_root(found[1], new_names)}}}", text)


def _rename_root(path: str, new_names: Mapping[str, str]) -> str:
    root = _ROOT.match(path)
    return f"{new_names.get(root[0], root[0])}{path[root.end() :]}" if root else path
