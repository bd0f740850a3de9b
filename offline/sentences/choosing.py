"""Select from the list at hand: by tests of its items, by ordinals, or by the most or the least."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.programs.grammar.sentence import FieldOf, Ranked, Value, Where
from graph.identifiers import singular
from offline.nlp.asked_words import match, synonyms
from offline.nlp.entities import Span
from offline.nlp.superlatives import Rank
from offline.sentences.drafts import Draft, Seen, single
from offline.sentences.fields import Field
from offline.sentences.inputs import called_so, enumerated
from offline.sentences.kinds import goes_by, head_of, of_list
from offline.sentences.said import Said, Unit
from offline.sentences.scene import Scene

_BY_NAME = 0.8
_SINCE = frozenset({"birth", "born", "founded"})
"""Words of beginnings: the higher the age of a thing, the earlier it began."""
_FILTERS = 0.5


def chosen(draft: Draft, scene: Scene) -> Iterator[Draft]:
    """Yield drafts whose list is narrowed by the request: tests first, then the most or the least."""
    if not draft.many or draft.hits:
        return
    yield from _bounded(draft, scene.said)
    yield from _filtered(draft, scene)
    yield from _at_place(draft, scene.said)
    for number, rank in enumerate(scene.said.ranks):
        if number in draft.ranked:
            continue
        fits = [
            (measures(one.field, rank.fields, most=most_meant(one.field, rank)), one)
            for one in draft.seen
            if "[]" not in one.path
        ]
        for strength, one in sorted(fits, key=lambda pair: -pair[0])[:2]:
            if strength > 0:
                name, most = draft.name("best"), most_meant(one.field, rank)
                step = Ranked(do="most" if most else "least", name=name, of=draft.many, field=one.path, how_many=1)
                after = replace(
                    draft,
                    steps=(*draft.steps, step),
                    ranked=draft.ranked | {number} | _alike(one.field, scene.said.ranks, most=most),
                    decided=(*draft.decided, one.field),
                    loss=draft.loss + 0.5 * (1 - strength),
                )
                yield single(after, name)


def _at_place(draft: Draft, said: Said) -> Iterator[Draft]:
    """Select the second of a list, if the request has that ordinal with a noun for the list."""
    kinds = of_list(draft.many) or head_of(draft.functions[-1].doc.api)
    for number, place in enumerate(said.places):
        if number in draft.placed or draft.paired or draft.many.endswith("[]") or not goes_by(place.noun, kinds):
            continue
        name = draft.name("the")
        step = FieldOf(do="field", name=name, of=f"{draft.many}[{place.index}]")
        yield single(replace(draft, steps=(*draft.steps, step), placed=draft.placed | {number}), name)


def most_meant(one: Field, rank: Rank) -> bool:
    """Return whether the most of a field is meant: who was born first has the highest age."""
    since = bool(rank.fields & _SINCE)
    return rank.most != (since and "age" in one.own and not rank.fields <= {"age"})


def _alike(one: Field, ranks: Sequence[Rank], *, most: bool) -> frozenset[int]:
    """Find the superlatives that say the same in other words."""
    return frozenset(
        number
        for number, rank in enumerate(ranks)
        if most_meant(one, rank) == most and measures(one, rank.fields, most=most) > 0
    )


def measures(one: Field, wanted: frozenset[str], *, most: bool) -> float:
    """Score how well a field tells how much of something a thing has."""
    if not (one.numeric or _dated(one)):
        return 0.0
    meant = wanted.union(*map(synonyms, wanted))
    strength = Unit(wanted, meant).strength(one.own, one.told, one.sort)
    end = 0.1 * ("maximum" in one.own) - 0.1 * ("minimum" in one.own)
    return strength + (end if most else -end) if strength >= _BY_NAME else 0.0


def _dated(one: Field) -> bool:
    return one.output.type == "string" and one.need.kind in ("date", "time", "year")


def _bounded(draft: Draft, said: Said) -> Iterator[Draft]:
    """Filter items by a number or day that the request bounds."""
    for number, bound in enumerate(said.bounds):
        if number in draft.bounded or not draft.free(bound.span):
            continue
        near = frozenset((*bound.span.before, *bound.span.after, bound.span.unit))
        for one in draft.seen:
            fits = _bound_fits(one.field, bound.span, near) if "[]" not in one.path else 0.0
            if fits > 0:
                yield _where(
                    draft, one, bound.test, _bound_value(one.field, bound.span), (bound.span,), 0.5 * (1 - fits), number
                )


def _bound_fits(one: Field, span: Span, near: frozenset[str]) -> float:
    """Score how well a field can be tested against a bound, from 0 to 1."""
    year = one.need.kind == "year" or "year" in one.own
    if span.kind == "number":
        is_year = len(span.value) == 4 and span.value[:2] in ("18", "19", "20") and not span.unit
        if is_year:
            return 1.0 if year else 0.6 if _dated(one) else 0.0
        if not one.numeric:
            return 0.0
        return 1.0 if match(" ".join(one.own), near) else 0.7 if match(" ".join(one.told), near) else 0.2
    return 0.9 if _dated(one) and one.need.kind == span.kind else 0.0


def _bound_value(one: Field, span: Span) -> Value:
    if span.kind == "number" and one.numeric:
        number = float(span.value)
        return int(number) if number.is_integer() else number
    return span.value


def _filtered(draft: Draft, scene: Scene) -> Iterator[Draft]:
    """Filter items by fields that say what the request says: a name, a kind, words."""
    label = _label_of(draft)
    yield from _being(draft, scene)
    for one in draft.seen:
        if one.field.identity or one.field.numeric or one.field.output.type != "string" or one.path.count("[]"):
            continue
        for reading in scene.readings(one.field):
            beside = any(enumerated(reading.span, span, scene.said.request) for span in draft.used)
            if reading.score >= _FILTERS and draft.free(reading.span) and not beside:
                yield _where(
                    draft,
                    one,
                    "contains",
                    str(reading.value),
                    (reading.span,),
                    0.2 + 0.5 * (1 - reading.score) - called_so(reading.span, one.field.own),
                )
        for span in scene.spoken_names if one is label else ():
            read = any(own.span.overlaps(span) for own in scene.readings(one.field))
            if draft.free(span) and not read:
                yield _where(draft, one, "contains", span.text, (span,), 0.5 - called_so(span, one.field.own))
        for phrase in scene.phrases(one.field):
            if draft.free(phrase) and not one.field.names:
                yield _where(draft, one, "contains", phrase.text, (phrase,), 0.4)
        for phrase in scene.said.classes if one.field.classifies else ():
            if draft.free(phrase):
                yield _where(draft, one, "contains", singular(phrase.text.lower()), (phrase,), 0.4)


def _being(draft: Draft, scene: Scene) -> Iterator[Draft]:
    """Filter items by a flag that a word of the request names: the remote jobs, the evergreen species."""
    for one in draft.seen:
        told = one.field.output.type == "boolean" and one.path.count("[]") == 0 and one.field not in draft.decided
        if told and any(strength == 1 for strength in scene.of_field(one.field)):
            yield _where(draft, one, "=", True, (), 0.2)


def _label_of(draft: Draft) -> Seen | None:
    """Find the field that labels an item if none is called a name.

    It is the first text that is no identifier, no class and no day.
    """
    plain = [
        one
        for one in draft.seen
        if one.call == draft.last
        and one.field.output.type == "string"
        and not one.field.identity
        and "[]" not in one.path
    ]
    texts = [one for one in plain if not one.field.classifies and not _dated(one.field)]
    return None if any(one.field.names for one in plain) else next(iter(texts), None)


def _where(
    draft: Draft, one: Seen, test: str, value: Value, spans: tuple[Span, ...], loss: float, bound: int = -1
) -> Draft:
    """Append a filter step to a draft."""
    name = draft.name("fitting")
    step = Where.model_validate(
        {"do": "where", "name": name, "of": draft.many, "field": one.path, "test": test, "value": value}
    )
    return replace(
        draft, many=name, steps=(*draft.steps, step), used=(*draft.used, *spans), decided=(*draft.decided, one.field), loss=draft.loss + loss,
        bounded=draft.bounded | ({bound} if bound >= 0 else frozenset()),
    )  # fmt: skip
