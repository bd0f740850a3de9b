"""Build the endings of drafts: stated fields, counts, sums, averages and differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.grammar.sentence import Calculate, Figure, ForEach, Join, Listed, Ranked, Step, Where
from graph.identifiers import split_words
from offline.sentences.drafts import AvailableField, SentenceDraft
from offline.sentences.sentence_context import SentenceContext

_MAX_FIELDS = 4
"""Fields that an answer may state."""
_MAX_WHOLE = 12
"""Fields that may be stated of a thing that is asked for as a whole."""
_MIN_GAIN = 0.5
"""What a further field must add to how well the answer says the words asked about."""


@dataclass(frozen=True, slots=True)
class SentenceEnding:
    """A complete sentence: a draft with an answer."""

    draft: SentenceDraft
    steps: tuple[Step, ...]
    """The draft's steps, and those that the answer needs."""
    text: str
    """Template of the answer."""
    answers: tuple[AvailableField, ...]
    """The fields that the answer states, or that its figure is computed from."""
    figure: str = ""
    """Kind of the number that is computed; empty if none is."""
    label: tuple[AvailableField, ...] = ()
    """The field that names the thing in the answer, if there is one."""


def find_endings(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceEnding]:
    """Yield the ways to answer from what is at hand."""
    if draft.list_path:
        yield from _end_list(draft, context)
    else:
        yield from _end_single(draft, context)


def _end_single(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceEnding]:
    """Yield the endings that state fields of one thing."""
    yield from _count_values(draft, context)
    last = len(draft.functions) - 1
    selections = _select_answers(draft.available, context, last)
    for picked in selections:
        stated = [*picked, *_find_ranking_field(draft, picked)]
        stated += _find_other_fields(draft, stated, context)
        text = (
            "; ".join(f"{_render_label(one)}: {{{one.path}}}" for one in stated)
            if len(stated) > 1
            else f"{{{stated[0].path}}}"
        )
        label = next(
            (one for one in _find_labels(draft) if one.call_number == picked[0].call_number and one not in stated), None
        )
        value_path = _find_chosen_value(draft)
        if label:
            text = f"{{{label.path}}}: {text}"
        elif value_path and not any(one.field.is_name for one in stated):
            text = f"{{{value_path}}}: {text}"
        steps, difference_text = _build_difference(draft, context)
        yield SentenceEnding(
            draft,
            (*draft.steps, *steps),
            f"{text}{difference_text}",
            picked,
            "difference" if difference_text else "",
            label=(label,) if label else (),
        )


def _find_chosen_value(draft: SentenceDraft) -> str:
    """Return the path of the request's value with the extreme result.

    Empty unless one call was made for each of several values of the request, and their results were ranked.
    """
    ranking_step = next((step for step in draft.steps if isinstance(step, Ranked)), None)
    if ranking_step is None:
        return ""
    steps_by_name = {step.name: step for step in draft.steps}
    path, list_step = ranking_step.name, steps_by_name.get(ranking_step.of)
    while isinstance(list_step, (ForEach, Where)):
        path += ".item" if isinstance(list_step, ForEach) else ""
        list_step = steps_by_name.get(list_step.of)
    return path if isinstance(list_step, Listed) else ""


def _find_labels(draft: SentenceDraft) -> list[AvailableField]:
    """Find the fields that can name a thing: its name, else its day."""
    scalar_fields = [one for one in draft.available if "[]" not in one.path and not one.field.is_listed]
    name_fields = [one for one in scalar_fields if one.field.is_name]
    return name_fields + [one for one in scalar_fields if one.field.need.kind == "date"]


def _find_ranking_field(draft: SentenceDraft, picked: Sequence[AvailableField]) -> list[AvailableField]:
    """Find the number by which a thing was chosen, unless it is stated already."""
    is_ranked = any(step.do in ("most", "least") for step in draft.steps)
    return [
        one
        for one in draft.available
        if is_ranked and one.field in draft.deciding_fields and one.field.is_numeric and one not in picked
    ][-1:]


def _find_other_fields(
    draft: SentenceDraft, stated: Sequence[AvailableField], context: SentenceContext
) -> list[AvailableField]:
    """Find the other fields of a thing that is asked for as a whole.

    That is so if a word of the request names the last call, and none of its fields by itself.
    """
    function = draft.functions[-1]
    rows = [context.score_field(one) for one in function.fields]
    whole_units = [
        at
        for at, unit in enumerate(context.parsed.units)
        if unit.own_words
        and context.score_function(function)[at] == 1
        and max((row[at] for row in rows), default=1.0) < 1
    ]
    last = [context.score_field(one.field) for one in stated if one.call_number == draft.last_call]
    if not any(row[at] for row in last for at in whole_units) or any(max(row) >= 1 for row in last):
        return []
    input_words = {split_words(name)[-1:] for name in function.parameters}
    other_fields = [
        one
        for one in draft.available
        if one.call_number == draft.last_call
        and one.function is function
        and one not in stated
        and "[]" not in one.path
    ]
    plain_fields = [
        one
        for one in other_fields
        if not one.field.is_identity and not one.field.is_paging and split_words(one.field.name)[-1:] not in input_words
    ]
    return plain_fields[:_MAX_WHOLE]


def _build_difference(draft: SentenceDraft, context: SentenceContext) -> tuple[tuple[Step, ...], str]:
    """Build the steps and the text for the difference between the thing with the most and that with the least."""
    last = draft.steps[-1] if draft.steps else None
    if (
        "difference" not in context.parsed.figures
        or not isinstance(last, Ranked)
        or not draft.deciding_fields[-1].is_numeric
    ):
        return (), ""
    opposite = last.model_copy(
        update={"do": "least" if last.do == "most" else "most", "name": draft.make_name("other")}
    )
    field = last.field if "item." in last.field or "result" in last.field else f"item.{last.field}"
    own_path, opposite_path = (f"{{{_get_named_path(one.name, field, draft)}}}" for one in (last, opposite))
    more, less = (own_path, opposite_path) if last.do == "most" else (opposite_path, own_path)
    calculation = Calculate(do="calculate", name=draft.make_name("difference"), left=more, operator="-", right=less)
    return (opposite, calculation), f"; difference: {{{calculation.name}}}"


def _get_named_path(name: str, field: str, draft: SentenceDraft) -> str:
    """Return the path of the deciding field in a thing with a name."""
    deciding_field = draft.deciding_fields[-1]
    path = next(one.path for one in draft.available if one.field is deciding_field)
    ranked_name = next(step.name for step in reversed(draft.steps) if isinstance(step, Ranked))
    return path.replace(ranked_name, name, 1) if path.startswith(ranked_name) else f"{name}.{field}"


def _count_values(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceEnding]:
    """Yield the endings that count the values of a field that holds several."""
    for candidate in draft.available:
        has_first = any(step.do == "first" for step in draft.steps)
        if (
            candidate.field.is_listed
            and not has_first
            and candidate.call_number == draft.last_call
            and "count" in context.parsed.figures
        ):
            step = Figure(do="count", name=draft.make_name("number"), of=candidate.path)
            yield SentenceEnding(draft, (*draft.steps, step), f"{{{step.name}}}", (candidate,), "sum")


def _end_list(draft: SentenceDraft, context: SentenceContext) -> Iterator[SentenceEnding]:
    """Yield the endings that join, count, sum or average the items of a list."""
    last = len(draft.functions) - 1
    items = tuple(candidate for candidate in draft.available)
    for picked in _select_answers(items, context, last):
        name_field = next(
            (candidate for candidate in reversed(items) if candidate.field.is_name and "[]" not in candidate.path), None
        )
        stated = ([name_field] if name_field and name_field not in picked else []) + list(picked)
        text = (
            ": ".join((f"{{{stated[0].path}}}", ", ".join(f"{{{candidate.path}}}" for candidate in stated[1:])))
            if len(stated) > 1
            else f"{{{stated[0].path}}}"
        )
        join_step = Join(do="join", name=draft.make_name("told"), of=draft.list_path, text=text, by="; ")
        yield SentenceEnding(
            draft, (*draft.steps, join_step), f"{{{join_step.name}}}", picked, label=(name_field,) if name_field else ()
        )
    if "count" in context.parsed.figures:
        count_step = Figure(do="count", name=draft.make_name("number"), of=draft.list_path)
        yield SentenceEnding(draft, (*draft.steps, count_step), f"{{{count_step.name}}}", (), "count")
    for kind in ("sum", "average"):
        if kind in context.parsed.figures:
            for candidate in items:
                if (
                    candidate.field.is_numeric
                    and "[]" not in candidate.path
                    and (values_path := _get_values_path(draft, candidate))
                ):
                    step = Figure.model_validate({"do": kind, "name": draft.make_name(kind), "of": values_path})
                    yield SentenceEnding(draft, (*draft.steps, step), f"{{{step.name}}}", (candidate,), kind)


def _get_values_path(draft: SentenceDraft, candidate: AvailableField) -> str:
    """Return the path of a field over all items of the list at hand."""
    list_path = draft.list_path if draft.list_path.endswith("[]") else f"{draft.list_path}[]"
    field_path = candidate.path if draft.is_paired else candidate.path.removeprefix("item").removeprefix(".")
    return f"{list_path}.{field_path}" if field_path else list_path


def _select_answers(
    seen: Sequence[AvailableField], context: SentenceContext, last: int
) -> Iterator[tuple[AvailableField, ...]]:
    """Yield selections of fields to state, for up to four good first fields.

    Each selection begins with a field and those that say the same words equally well. It then grows by the field that
    adds most, as long as that is enough. Fields of calls before the last count a little less. A name alone comes last.
    """
    rated_fields = [
        (
            candidate,
            [
                strength * (1.0 if candidate.call_number == last else 0.9)
                for strength in context.score_field(candidate.field)
            ],
        )
        for candidate in seen
        if not candidate.field.is_paging
        and (not candidate.field.is_machine_value or _is_asked_by_name(candidate, context))
    ]
    if not rated_fields:
        return
    best_rated = sorted(rated_fields, key=lambda pair: -sum(pair[1]))[:4]
    for candidate, strengths in best_rated:
        if max(strengths, default=0.0) <= 0.0:
            continue
        equals = [
            other
            for other, addition in rated_fields
            if addition == strengths and other.call_number == candidate.call_number and not other.field.is_identity
        ]
        picked, covered = equals[:_MAX_FIELDS] if candidate in equals else [candidate], list(strengths)
        yield tuple(picked)
        while len(picked) < _MAX_FIELDS:
            gains = [
                (sum(max(0.0, b - a) for a, b in zip(covered, other, strict=True)), seen_)
                for seen_, other in rated_fields
                if seen_ not in picked
            ]
            gain, addition = max(gains, key=lambda pair: pair[0], default=(0.0, candidate))
            if gain < _MIN_GAIN:
                break
            picked.append(addition)
            covered = [
                max(a, b)
                for a, b in zip(covered, next(other for seen_, other in rated_fields if seen_ is addition), strict=True)
            ]
            yield tuple(picked)
    name_fields = [
        candidate for candidate, _ in rated_fields if candidate.field.is_name or candidate.field.path in ("", "[]")
    ]
    if name_fields:
        yield (name_fields[-1],)


def _is_asked_by_name(candidate: AvailableField, context: SentenceContext) -> bool:
    """Return whether the request asks for an identifier by the last word of its name."""
    last_word = frozenset(split_words(candidate.field.name)[-1:])
    return any(unit.own_words & last_word for unit in context.parsed.units)


def _render_label(candidate: AvailableField) -> str:
    return " ".join(split_words(candidate.field.name))
