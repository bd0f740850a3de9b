"""Narrow the list at hand to what a request means: by tests of its items, by an ordinal, or by the most or least."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.programs.grammar.sentence import FieldOf, Ranked, Value, Where
from graph.identifiers import singularize
from offline.nlp.asked_words import count_matches, find_synonyms
from offline.nlp.entities import Span
from offline.nlp.superlatives import RankCriterion
from offline.sentences.drafts import AvailableField, SentenceDraft, to_single
from offline.sentences.fields import AnswerField
from offline.sentences.input_filling import are_neighbours, score_naming_word
from offline.sentences.kind_nouns import find_head_noun, find_list_noun, is_of_kind
from offline.sentences.parsed_request import AskedUnit, ParsedRequest
from offline.sentences.sentence_context import SentenceContext

_MIN_NAME_STRENGTH = 0.8
"""Score from which a field counts as measuring what a superlative ranks by."""
_BIRTH_WORDS = frozenset({"birth", "born", "founded"})
"""Words of beginnings: the higher the age of a thing, the earlier it began."""
_MIN_FILTER_SCORE = 0.5
"""Score from which a value of the request may be tested against a field."""


def select_from_list(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceDraft]:
    """Yield the drafts whose list is narrowed by one more step."""
    if not draft.list_path or draft.is_search_result:
        return
    yield from _filter_by_bounds(draft, context.parsed)
    yield from _filter_by_values(draft, context)
    yield from _select_by_ordinal(draft, context.parsed)
    for number, rank in enumerate(context.parsed.ranks):
        if number in draft.used_ranks:
            continue
        scored_fields = [
            (score_measure(candidate.field, rank.fields, most=is_most_meant(candidate.field, rank)), candidate)
            for candidate in draft.available
            if "[]" not in candidate.path
        ]
        for strength, candidate in sorted(scored_fields, key=lambda pair: -pair[0])[:2]:
            if strength > 0:
                name, most = draft.make_name("best"), is_most_meant(candidate.field, rank)
                step = Ranked(
                    do="most" if most else "least", name=name, of=draft.list_path, field=candidate.path, how_many=1
                )
                after = replace(
                    draft,
                    steps=(*draft.steps, step),
                    used_ranks=draft.used_ranks
                    | {number}
                    | _find_equivalent_ranks(candidate.field, context.parsed.ranks, most=most),
                    deciding_fields=(*draft.deciding_fields, candidate.field),
                    loss=draft.loss + 0.5 * (1 - strength),
                )
                yield to_single(after, name)


def _select_by_ordinal(draft: SentenceDraft, parsed: ParsedRequest) -> Iterator[SentenceDraft]:
    """Pick the item at the index that an ordinal of the request means, if its noun is one for the list."""
    kinds = find_list_noun(draft.list_path) or find_head_noun(draft.functions[-1].doc.api)
    for number, ordinal in enumerate(parsed.ordinals):
        if (
            number in draft.used_ordinals
            or draft.is_paired
            or draft.list_path.endswith("[]")
            or not is_of_kind(ordinal.noun, kinds)
        ):
            continue
        name = draft.make_name("the")
        step = FieldOf(do="field", name=name, of=f"{draft.list_path}[{ordinal.index}]")
        yield to_single(replace(draft, steps=(*draft.steps, step), used_ordinals=draft.used_ordinals | {number}), name)


def is_most_meant(field: AnswerField, rank: RankCriterion) -> bool:
    """Return whether the thing with the most of a field is meant: who was born *first* has the *highest* age."""
    is_birth = bool(rank.fields & _BIRTH_WORDS)
    return rank.most != (is_birth and "age" in field.name_words and not rank.fields <= {"age"})


def _find_equivalent_ranks(field: AnswerField, ranks: Sequence[RankCriterion], *, most: bool) -> frozenset[int]:
    """Return the indexes of the superlatives that say the same in other words."""
    return frozenset(
        number
        for number, rank in enumerate(ranks)
        if is_most_meant(field, rank) == most and score_measure(field, rank.fields, most=most) > 0
    )


def score_measure(field: AnswerField, measure_words: frozenset[str], *, most: bool) -> float:
    """Score how well a field measures something; 0 if it is neither a number nor a date, or not near enough.

    With ``most``, a maximum is preferred to a minimum, and the other way round.
    """
    if not (field.is_numeric or _is_dated(field)):
        return 0.0
    meanings = measure_words.union(*map(find_synonyms, measure_words))
    strength = AskedUnit(measure_words, meanings).score_match(
        field.name_words, field.description_words, field.description_noun
    )
    end_bonus = 0.1 * ("maximum" in field.name_words) - 0.1 * ("minimum" in field.name_words)
    return strength + (end_bonus if most else -end_bonus) if strength >= _MIN_NAME_STRENGTH else 0.0


def _is_dated(field: AnswerField) -> bool:
    return field.output.type == "string" and field.need.kind in ("date", "time", "year")


def _filter_by_bounds(draft: SentenceDraft, parsed: ParsedRequest) -> Iterator[SentenceDraft]:
    """Filter the items by a number or day that the request bounds."""
    for number, bound in enumerate(parsed.bounds):
        if number in draft.used_bounds or not draft.is_free(bound.span):
            continue
        nearby_words = frozenset((*bound.span.before, *bound.span.after, bound.span.unit))
        for candidate in draft.available:
            fits = _score_bound(candidate.field, bound.span, nearby_words) if "[]" not in candidate.path else 0.0
            if fits > 0:
                yield _add_filter(
                    draft,
                    candidate,
                    bound.test,
                    _convert_bound(candidate.field, bound.span),
                    (bound.span,),
                    0.5 * (1 - fits),
                    number,
                )


def _score_bound(field: AnswerField, span: Span, near: frozenset[str]) -> float:
    """Score how well a field can be tested against a bound, from 0 to 1.

    ``near``: words around the bound, and its unit.
    """
    has_year = field.need.kind == "year" or "year" in field.name_words
    if span.kind == "number":
        is_year = len(span.value) == 4 and span.value[:2] in ("18", "19", "20") and not span.unit
        if is_year:
            return 1.0 if has_year else 0.6 if _is_dated(field) else 0.0
        if not field.is_numeric:
            return 0.0
        return (
            1.0
            if count_matches(" ".join(field.name_words), near)
            else 0.7
            if count_matches(" ".join(field.description_words), near)
            else 0.2
        )
    return 0.9 if _is_dated(field) and field.need.kind == span.kind else 0.0


def _convert_bound(field: AnswerField, span: Span) -> Value:
    if span.kind == "number" and field.is_numeric:
        number = float(span.value)
        return int(number) if number.is_integer() else number
    return span.value


def _filter_by_values(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceDraft]:
    """Filter the items by text fields: for a name, a kind of thing, or words of the request."""
    label_field = _find_label(draft)
    yield from _filter_by_flags(draft, context)
    for candidate in draft.available:
        if (
            candidate.field.is_identity
            or candidate.field.is_numeric
            or candidate.field.output.type != "string"
            or candidate.path.count("[]")
        ):
            continue
        for reading in context.find_readings(candidate.field):
            is_enumerated = any(are_neighbours(reading.span, span, context.parsed.request) for span in draft.used_spans)
            if reading.score >= _MIN_FILTER_SCORE and draft.is_free(reading.span) and not is_enumerated:
                yield _add_filter(
                    draft,
                    candidate,
                    "contains",
                    str(reading.value),
                    (reading.span,),
                    0.2 + 0.5 * (1 - reading.score) - score_naming_word(reading.span, candidate.field.name_words),
                )
        for span in context.whole_names if candidate is label_field else ():
            is_read = any(own.span.overlaps(span) for own in context.find_readings(candidate.field))
            if draft.is_free(span) and not is_read:
                yield _add_filter(
                    draft,
                    candidate,
                    "contains",
                    span.text,
                    (span,),
                    0.5 - score_naming_word(span, candidate.field.name_words),
                )
        for phrase in context.find_phrases(candidate.field):
            if draft.is_free(phrase) and not candidate.field.is_name:
                yield _add_filter(draft, candidate, "contains", phrase.text, (phrase,), 0.4)
        for phrase in context.parsed.classes if candidate.field.is_class else ():
            if draft.is_free(phrase):
                yield _add_filter(draft, candidate, "contains", singularize(phrase.text.lower()), (phrase,), 0.4)


def _filter_by_flags(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceDraft]:
    """Filter the items by a flag that a word of the request names: the *remote* jobs, the *evergreen* species."""
    for candidate in draft.available:
        is_open_flag = (
            candidate.field.output.type == "boolean"
            and candidate.path.count("[]") == 0
            and candidate.field not in draft.deciding_fields
        )
        if is_open_flag and any(strength == 1 for strength in context.score_field(candidate.field)):
            yield _add_filter(draft, candidate, "=", True, (), 0.2)


def _find_label(draft: SentenceDraft) -> AvailableField | None:
    """Find the field that names an item where no field is called a name; None if there is such a field.

    It is the first text that is no identifier, no class and no date.
    """
    plain = [
        one
        for one in draft.available
        if one.call_number == draft.last_call
        and one.field.output.type == "string"
        and not one.field.is_identity
        and "[]" not in one.path
    ]
    texts = [one for one in plain if not one.field.is_class and not _is_dated(one.field)]
    return None if any(one.field.is_name for one in plain) else next(iter(texts), None)


def _add_filter(
    draft: SentenceDraft,
    candidate: AvailableField,
    test: str,
    value: Value,
    spans: tuple[Span, ...],
    loss: float,
    bound: int = -1,
) -> SentenceDraft:
    """Append a filter step to a draft; ``bound`` is the index of the request's bound, -1 for none."""
    name = draft.make_name("fitting")
    step = Where.model_validate(
        {"do": "where", "name": name, "of": draft.list_path, "field": candidate.path, "test": test, "value": value}
    )
    return replace(
        draft, list_path=name, steps=(*draft.steps, step), used_spans=(*draft.used_spans, *spans), deciding_fields=(*draft.deciding_fields, candidate.field), loss=draft.loss + loss,
        used_bounds=draft.used_bounds | ({bound} if bound >= 0 else frozenset()),
    )  # fmt: skip
