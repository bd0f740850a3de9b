"""Search the sentences over the offered functions, best first, for one that says what the request says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from agent.programs.grammar.sentence import Listed
from graph.identifiers import split_words
from offline.nlp.clauses import split_clauses
from offline.nlp.superlatives import find_rank_criteria
from offline.sentences.drafts import AvailableField, SentenceDraft, extend_draft, start_drafts
from offline.sentences.endings import SentenceEnding, find_endings
from offline.sentences.fields import AnswerField
from offline.sentences.kind_nouns import EMPTY_NOUNS, is_most_question, is_of_kind
from offline.sentences.list_selection import is_most_meant, score_measure, select_from_list
from offline.sentences.parsed_request import COUNT_UNIT, VAGUE_WORDS, AskedUnit
from offline.sentences.sentence_context import SentenceContext

MAX_DRAFTS = 300
"""Drafts that are expanded."""
_MIN_ANSWER_STRENGTH = 0.75
"""Strength of the answer that a certain sentence needs."""
_MIN_SHARE = 0.5
"""Share of the request that a certain sentence covers."""
_SURE_STRENGTH = 0.8
"""Strength from which an answer, or a field, surely says what is asked."""
_MAX_PAIRED = 40
"""Sentences that are tried in pairs."""
_WHICH = re.compile(r"\b(?:which|who)\b", re.I)


@dataclass(frozen=True, slots=True)
class SentenceCandidate:
    """One sentence, or two about different things, rated against the request."""

    endings: tuple[SentenceEnding, ...]
    score: float
    """What is covered, less the costs; higher is better."""
    share: float
    """Share of the request that is covered."""
    answer_strength: float
    """How surely the answer is what is asked, from 0 to 1."""
    uncovered: tuple[str, ...]
    """Parts of the request that nothing covers, in words."""

    @property
    def is_certain(self) -> bool:
        """True if the sentence covers every value and order of the request, and surely answers it."""
        return self.answer_strength >= _MIN_ANSWER_STRENGTH and self.share >= _MIN_SHARE and not self.uncovered

    @property
    def called_functions(self) -> frozenset[str]:
        """Names of the functions that it calls."""
        return frozenset(one.name for end in self.endings for one in end.draft.functions)


def rank_sentences(context: SentenceContext) -> list[SentenceCandidate]:
    """Rank the sentences for a request, best first; pairs of sentences come first if only a pair covers it.

    Raises:
        OutOfPlanningTimeError: the planning time is used up.
    """
    found_endings = [end for draft in _search_drafts(context) for end in find_endings(draft, context)]
    singles = sorted((rate_endings((end,), context) for end in found_endings), key=lambda one: -one.score)
    # Pairs are costly: they are rated only if the request has two clauses and no single sentence covers it.
    if any(one.is_certain for one in singles) or len(split_clauses(context.parsed.request)) < 2:
        return singles
    return sorted(_find_pairs(singles, context), key=lambda one: -one.score) + singles


def _find_pairs(singles: Sequence[SentenceCandidate], context: SentenceContext) -> Iterator[SentenceCandidate]:
    """Yield the pairs that cover the request together, each sentence with something that the other leaves open."""
    best: dict[object, SentenceCandidate] = {}
    for first in singles:
        end = first.endings[0]
        key = (end.draft.functions, frozenset((span.start, span.end) for span in end.draft.used_spans))
        if first.answer_strength >= _SURE_STRENGTH and len(best) < _MAX_PAIRED:
            best.setdefault(key, first)
    # Of the sentences that call the same functions for the same spans, only the best is paired.
    for number, first in enumerate(list(best.values())):
        for second in list(best.values())[number + 1 :]:
            if set(first.uncovered) != set(second.uncovered) and (
                first.endings[0].answers != second.endings[0].answers
            ):
                pair = rate_endings((*first.endings, *second.endings), context)
                if pair.is_certain and _are_complementary(first, second, context):
                    yield pair


def _are_complementary(first: SentenceCandidate, second: SentenceCandidate, context: SentenceContext) -> bool:
    """Return whether each of two sentences answers a question that the other leaves open."""
    question_texts = {text for text, units in context.questions if units}
    first_open, second_open = (question_texts & set(each.uncovered) for each in (first, second))
    return bool(first_open - second_open) and bool(second_open - first_open)


def _search_drafts(context: SentenceContext) -> Iterator[SentenceDraft]:
    """Yield drafts in a best-first search, by what they cover less what they cost."""
    queue: list[tuple[float, int, SentenceDraft]] = []
    seen: set[object] = set()

    def push(draft: SentenceDraft) -> None:
        context.clock.check()
        identity = (draft.steps, draft.list_path, tuple(one.path for one in draft.available))
        # Steps hold lists, so they have no hash. The count of drafts breaks ties in the heap: drafts have no order.
        if repr(identity) not in seen:
            seen.add(repr(identity))
            heappush(queue, (-_score_promise(draft, context), len(seen), draft))

    for function in context.functions:
        for draft in start_drafts(function, context):
            push(draft)
    for _ in range(MAX_DRAFTS):
        if not queue:
            return
        draft = heappop(queue)[2]
        yield draft
        for extended in select_from_list(draft, context):
            push(extended)
        for function in context.functions:
            for extended in extend_draft(draft, function, context):
                push(extended)


def _score_promise(draft: SentenceDraft, context: SentenceContext) -> float:
    """Score a draft by what it covers, less its cost and what it has yet to choose."""
    return (
        _score_used(draft, context, _score_coverage(draft, (), context))
        - _estimate_cost(draft, context)
        - 0.9
        * (len(context.parsed.ranks) - len(draft.used_ranks) + len(context.parsed.ordinals) - len(draft.used_ordinals))
    )


def rate_endings(endings: tuple[SentenceEnding, ...], context: SentenceContext) -> SentenceCandidate:
    """Rate a sentence, or a pair, against the request.

    The score is what is covered, weighted, less the costs of the calls, uncertain choices, and whatever is stated
    without being asked for. Everything that the request says and nothing covers is listed as ``uncovered``.
    """
    context.clock.check()
    parsed = context.parsed
    drafts = [end.draft for end in endings]
    rows = [_score_ending_coverage(end, context) for end in endings]
    coverage = [max(column) for column in zip(*rows, strict=True)]
    used_spans = [span for draft in drafts for span in draft.used_spans]
    answer_strengths = [_score_answer(end, context) for end in endings]
    spans_by_value = context.map_values_to_spans(used_spans)
    value_weight = sum(parsed.values[at].weight for at in sorted(spans_by_value))
    explained = value_weight + sum(one * unit.weight for one, unit in zip(coverage, parsed.units, strict=True))
    used_ranks = frozenset[int]().union(*(draft.used_ranks for draft in drafts))
    used_ordinals = frozenset[int]().union(*(draft.used_ordinals for draft in drafts))
    explained += 1.2 * len(used_ranks) + len(used_ordinals) + sum(len(draft.used_bounds) for draft in drafts)
    cost = 0.9 * (len(parsed.ranks) - len(used_ranks) + len(parsed.ordinals) - len(used_ordinals)) + sum(
        _estimate_cost(draft, context) + _score_surplus(end, context)
        for draft, end in zip(drafts, endings, strict=True)
    )
    count_numbers = _find_count_numbers(endings)
    uncovered = [
        one.text
        for at, one in enumerate(parsed.values)
        if context.value_numbers[at] not in count_numbers
        and not (at in spans_by_value and one.is_covered_by(spans_by_value[at]))
    ]
    uncovered += _find_unanswered(endings, context)
    uncovered += [
        span.text for span in context.convertible_units if not any(span.overlaps(other) for other in used_spans)
    ]
    uncovered += ["which of its fields"] * any(_is_vague(end, context) for end in endings)
    uncovered += ["the most or the least"] * (len(parsed.ranks) - len(used_ranks))
    uncovered += [f"which {one.noun}" for number, one in enumerate(parsed.ordinals) if number not in used_ordinals]
    uncovered += [f"which {one}" for one in parsed.wanted_kinds if not any(_is_kind_named(end, one) for end in endings)]
    uncovered += [one.span.text for one in parsed.bounds if not any(one.span.overlaps(span) for span in used_spans)]
    uncovered += [one.text for one in parsed.classes if not any(one.overlaps(span) for span in used_spans)] + [
        "not"
    ] * parsed.is_negated
    uncovered += ["the difference"] * (
        "difference" in parsed.figures and all(end.figure != "difference" for end in endings)
    )
    uncovered += ["which of them"] * any(_is_arbitrary(end, context) for end in endings)
    uncovered += ["which of them are so"] * any(_is_unfiltered(end, context) for end in endings)
    uncovered += ["what there are"] * any(_has_unasked_count(end, context) for end in endings)
    uncovered += [
        get_display_word(unit)
        for unit, one, sayable in zip(parsed.units, coverage, context.sayable_units, strict=True)
        if not one and sayable and unit.own_words
    ]
    score = explained + 0.8 * sum(answer_strengths) + sum(0.45 for end in endings if _is_about_same_kind(end)) - cost
    return SentenceCandidate(
        endings, score, explained / max(parsed.total_weight, 1.0), min(answer_strengths), tuple(uncovered)
    )


def _find_unanswered(endings: Sequence[SentenceEnding], context: SentenceContext) -> list[str]:
    """Find the questions that no answer is left for; each needs one of its own.

    An answer is a field that is stated, or by which the thing was chosen.
    """
    rows = [row for end in endings for row in _score_answers(end, context)]
    answers_by_question = {
        text: [
            number
            for number, (field, row) in enumerate(rows)
            if any(row[at] for at in units) or (_has_own_words(units, context) and _is_deciding(field, text))
        ]
        for text, units in context.questions
        if units
    }
    question_by_answer: dict[int, str] = {}

    # Maximum bipartite matching by augmenting paths (Kuhn): no answer may serve two questions, and the order of the
    # questions must not decide which of them stays unanswered.
    def assign_answer(text: str, seen: set[int]) -> bool:
        for number in answers_by_question[text]:
            if number not in seen:
                seen.add(number)
                if number not in question_by_answer or assign_answer(question_by_answer[number], seen):
                    question_by_answer[number] = text
                    return True
        return False

    return [text for text in answers_by_question if not assign_answer(text, set())]


def _has_own_words(units: Sequence[int], context: SentenceContext) -> bool:
    """Return whether a question names what it asks for.

    *Where* alone does not: it asks for a place, whatever is compared.
    """
    return any(context.parsed.units[at].own_words for at in units)


def _is_deciding(field: AnswerField | None, text: str) -> bool:
    """Return whether a field measures what a question compares."""
    return field is not None and any(
        score_measure(field, rank.fields, most=is_most_meant(field, rank)) > 0 for rank in find_rank_criteria(text)
    )


def _score_answers(
    end: SentenceEnding, context: SentenceContext
) -> Iterator[tuple[AnswerField | None, tuple[float, ...]]]:
    """Yield how well each answer says each thing asked about.

    A deciding field is yielded with its scores; any other answer with None.
    """
    units = context.parsed.units
    fields = [field.field for field in end.answers if field.field not in end.draft.echoed_fields]
    for field in (*fields, *end.draft.deciding_fields):
        is_count = field.is_numeric and field in fields
        yield (
            (field if field in end.draft.deciding_fields else None),
            tuple(
                max(strength, float(is_count)) if unit is COUNT_UNIT else strength
                for unit, strength in zip(units, context.score_field(field), strict=True)
            ),
        )
    if class_words := _find_named_class(end, context):
        yield None, tuple(float(bool(unit.own_words & class_words)) for unit in units)
    if end.figure:
        function_scores = context.score_function(end.draft.functions[-1])
        yield (
            None,
            tuple(1.0 if unit is COUNT_UNIT else field for unit, field in zip(units, function_scores, strict=True)),
        )


def _find_count_numbers(endings: Sequence[SentenceEnding]) -> frozenset[float]:
    """Return the numbers that a request may state only to say how many things it names."""
    list_sizes = [len(step.values) for end in endings for step in end.steps if isinstance(step, Listed)]
    return frozenset(map(float, (*list_sizes, len(endings))))


def _is_vague(end: SentenceEnding, context: SentenceContext) -> bool:
    """Return whether an unstated field answers a *where* or *when* of the request as well as a stated one."""
    answers = [one.field for one in end.answers]
    for at, unit in enumerate(context.parsed.units):
        if unit.own_words or "name" in unit.meanings or not any(context.score_field(one)[at] for one in answers):
            continue
        functions = [one.function for one in end.answers if one.function and context.score_field(one.field)[at]]
        fields = (one for function in functions for one in function.fields if not one.is_machine_value)
        strong_fields = [one for one in fields if context.score_field(one)[at] >= _SURE_STRENGTH]
        if any(one not in answers for one in strong_fields) and not any(
            max(context.score_field(one)) >= 1 for one in answers
        ):
            return True
    return False


def _score_answer(end: SentenceEnding, context: SentenceContext) -> float:
    """Score how well the answer says something that is asked, from 0 to 1."""
    if end.figure == "count":
        return _get_best_strength(context.score_function(end.draft.functions[-1]), context)
    strengths = (
        _get_best_strength(context.score_field(one.field), context) * (one.field not in end.draft.echoed_fields)
        for one in end.answers
    )
    has_named = _is_best_named(end, context) or any(
        _is_kind_named(end, one) for one in context.parsed.wanted_kinds if one not in VAGUE_WORDS
    )
    has_named = has_named or bool(_find_named_class(end, context))
    return max((*strengths, _SURE_STRENGTH * has_named), default=0.0)


def _is_best_named(end: SentenceEnding, context: SentenceContext) -> bool:
    """Return whether the name of the thing with the most is stated, and asked for: "which is longer?"."""
    has_name = any(one.field.is_name for one in end.answers) and bool(end.draft.used_ranks)
    return has_name and any(
        (_WHICH.search(text) or is_most_question(text, end.draft.functions[-1].kinds))
        and any(_is_deciding(one, text) for one in end.draft.deciding_fields)
        for text, _ in context.questions
    )


def _find_named_class(end: SentenceEnding, context: SentenceContext) -> frozenset[str]:
    """Return the words for the class of things asked for, if things were searched by it and their names are stated."""
    has_name = any(one.field.is_name for one in (*end.answers, *end.label))
    used_classes = (
        one for one in context.parsed.classes if has_name and any(one.overlaps(span) for span in end.draft.used_spans)
    )
    return frozenset(word for one in used_classes for word in split_words(one.text))


def _is_kind_named(end: SentenceEnding, noun: str) -> bool:
    """Return whether something of the kind that *which* asks for is stated, and not merely repeated from the request.

    Either its name is stated, or a field that the kind names.
    """
    stated = (one for one in (*end.answers, *end.label) if one.field not in end.draft.echoed_fields)
    return any(
        is_of_kind(noun, one.field.name_words | one.field.description_noun)
        or (_is_identifying(one) and any(is_of_kind(noun, kinds) for kinds in _find_kinds(one, end)))
        for one in stated
    )


def _is_identifying(candidate: AvailableField) -> bool:
    """Return whether a field tells which thing is meant: its name, or any field if the response has no names."""
    return candidate.field.is_name or (
        candidate.function is not None and not any(field.is_name for field in candidate.function.fields)
    )


def _find_kinds(candidate: AvailableField, end: SentenceEnding) -> Iterator[frozenset[str]]:
    """Yield nouns for the thing that a field belongs to: of its holder, else of what its call returns.

    A thing that was looked up by a name is also of the kind that the call before it returned.
    """
    holder_words = candidate.field.name_words - set(split_words(candidate.field.name)) - EMPTY_NOUNS
    if holder_words or candidate.function is None:
        yield holder_words
        return
    yield candidate.function.kinds
    if candidate.call_number and any(split_words(name)[-1:] == ("name",) for name in candidate.function.parameters):
        yield end.draft.functions[candidate.call_number - 1].kinds


def _score_ending_coverage(end: SentenceEnding, context: SentenceContext) -> list[float]:
    """Score how well a sentence with its answer says each thing asked about, from 0 to 1."""
    coverage = _score_coverage(end.draft, tuple(one.field for one in end.answers), context)
    if end.figure or any(one.field.is_numeric for one in end.answers):
        coverage = [
            one if unit is not COUNT_UNIT else max(one, 0.8)
            for unit, one in zip(context.parsed.units, coverage, strict=True)
        ]
    return coverage


def _is_arbitrary(end: SentenceEnding, context: SentenceContext) -> bool:
    """Return whether a sentence takes the first of several things where the request means many, or states it."""
    first_steps = [at for at, step in enumerate(end.draft.steps) if step.do == "first"]
    wants_several = context.parsed.asks_for_list or "count" in context.parsed.figures
    return bool(first_steps) and (
        wants_several or not any(step.do == "call" for step in end.draft.steps[first_steps[-1] :])
    )


def _is_unfiltered(end: SentenceEnding, context: SentenceContext) -> bool:
    """Return whether a flag is stated for every item, where the items that have it are asked for."""
    flags = (
        one.field
        for one in end.answers
        if one.field.output.type == "boolean" and one.field not in end.draft.deciding_fields
    )
    return bool(end.draft.list_path and context.parsed.wanted_kinds) and any(
        1 in context.score_field(one) for one in flags
    )


def _has_unasked_count(end: SentenceEnding, context: SentenceContext) -> bool:
    """Return whether a count is stated that nobody asked for."""
    return "count" not in context.parsed.figures and any(
        one.field.is_numeric and one.field.name_words & COUNT_UNIT.own_words for one in end.answers
    )


def _score_surplus(end: SentenceEnding, context: SentenceContext) -> float:
    """Return the cost of what an ending states without being asked, and of calls that the answer does not use."""
    parsed, draft = context.parsed, end.draft
    strengths = [
        _get_best_strength(context.score_field(one.field), context) * (one.field not in draft.echoed_fields)
        for one in end.answers
    ]
    cost = sum(0.3 for one in strengths if one < 0.5) + 0.1 * max(0, len(strengths) - 1) - 0.9 * bool(end.figure)
    if not end.figure and "count" in parsed.figures and not any(one.field.is_numeric for one in end.answers):
        cost += 0.8
    if _has_unasked_count(end, context):
        cost += 0.6
    if draft.list_path and any(one.field.output.type == "boolean" for one in end.answers):
        cost += 1  # what is so is asked for, and not of each whether it is
    if parsed.asks_for_list and not draft.list_path and not any(one.field.is_listed for one in end.answers):
        cost += 0.5
    is_idle = end.figure != "count" and not any(one.call_number == draft.last_call for one in end.answers)
    return cost + 0.8 * (is_idle and not any(one in draft.functions[-1].fields for one in draft.deciding_fields))


def _is_about_same_kind(end: SentenceEnding) -> bool:
    """Return whether the answer is about a thing of the kind that was searched by name."""
    kinds = {field.need.kind for field in end.draft.echoed_fields}
    functions = [one.function for one in end.answers if one.function]
    return any(field.is_name and field.need.kind in kinds for one in functions for field in one.fields)


def get_display_word(unit: AskedUnit) -> str:
    """Return a word of a unit that can be shown."""
    return min(unit.own_words or unit.meanings)


def _get_best_strength(strengths: Sequence[float], context: SentenceContext) -> float:
    """Return the best of the strengths; the count unit names nothing and is left out."""
    return max(
        (one for one, unit in zip(strengths, context.parsed.units, strict=True) if unit is not COUNT_UNIT), default=0.0
    )


def _score_used(draft: SentenceDraft, context: SentenceContext, covered: Sequence[float]) -> float:
    """Return the weight of the request's parts that a draft uses."""
    parsed = context.parsed
    value_weight = sum(parsed.values[at].weight for at in sorted(context.map_values_to_spans(draft.used_spans)))
    unit_weight = sum(one * unit.weight for one, unit in zip(covered, parsed.units, strict=True))
    return value_weight + unit_weight + 1.2 * len(draft.used_ranks) + len(draft.used_bounds) + len(draft.used_ordinals)


def _estimate_cost(draft: SentenceDraft, context: SentenceContext) -> float:
    """Return the cost of a draft: uncertain choices, unused superlatives, calls and selections."""
    cost = (
        draft.loss
        + 0.9 * (len(context.parsed.ranks) - len(draft.used_ranks))
        + sum(0.55 + 0.02 * one.position for one in draft.functions)
    )
    cost += 0.15 * sum(step.do in ("where", "most", "least") for step in draft.steps)
    return cost + sum(0.5 for one in draft.functions if not any(context.score_function(one)))


def _score_coverage(draft: SentenceDraft, answers: Sequence[AnswerField], context: SentenceContext) -> list[float]:
    """Score how well a sentence says each thing asked about, from 0 to 1.

    Stated fields count most, then deciding fields, then functions and parameters. The second mention of a word counts
    only if two functions say it.
    """
    rows = [context.score_field(one) for one in answers]
    rows += [tuple(0.9 * one for one in context.score_field(field)) for field in draft.deciding_fields]
    rows += [tuple(0.8 * one for one in context.score_function(function)) for function in draft.functions]
    rows += [tuple(0.8 * one for one in context.score_parameter(*asked)) for asked in draft.filled_parameters]
    rows += [
        tuple(float(unit.own_words <= frozenset(split_words(span.text))) for unit in context.parsed.units)
        for span in draft.used_spans
        if span.kind in ("phrase", "unit")
    ]
    if not rows:
        return [0.0] * len(context.parsed.units)
    is_said_twice = [
        sum(strength > 0 for strength in column) > 1
        for column in zip(*map(context.score_function, draft.functions), strict=True)
    ]
    best = [max(column) for column in zip(*rows, strict=True)]
    return [
        one if not unit.is_repetition or more else 0.0
        for unit, one, more in zip(context.parsed.units, best, is_said_twice, strict=True)
    ]
