"""Search the sentences over the offered functions for the one that says what a request says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from agent.programs.grammar.sentence import Listed
from graph.identifiers import words
from offline.nlp.clauses import clauses
from offline.nlp.superlatives import ranks
from offline.sentences.choosing import chosen, measures, most_meant
from offline.sentences.drafts import Draft, Seen, begun, called_next
from offline.sentences.ends import End, ends
from offline.sentences.fields import Field
from offline.sentences.kinds import EMPTY, asks_for_most, goes_by
from offline.sentences.said import COUNTED, VAGUE, Unit
from offline.sentences.scene import Scene

MOST_DRAFTS = 300
_TOLD = 0.75
_ENOUGH = 0.5
_SURE = 0.8
_PAIRED = 40
_WHICH = re.compile(r"\b(?:which|who)\b", re.I)


@dataclass(frozen=True, slots=True)
class Meant:
    """One sentence, or two about different things, rated against the request."""

    ends: tuple[End, ...]
    score: float
    share: float
    """Share of the request that is covered."""
    told: float
    """How surely the answer is what is asked, from 0 to 1."""
    left: tuple[str, ...]
    """Parts of the request, named or ordered, that nothing covers."""

    @property
    def certain(self) -> bool:
        """True if everything that the request names or orders is covered, and the answer is what was asked."""
        return self.told >= _TOLD and self.share >= _ENOUGH and not self.left

    @property
    def calls(self) -> frozenset[str]:
        """Names of the functions that it calls."""
        return frozenset(one.name for end in self.ends for one in end.draft.functions)


def sentences(scene: Scene) -> list[Meant]:
    """Rank what can be said: single sentences, and pairs if no single sentence covers the request."""
    ended = [end for draft in _drafts(scene) for end in ends(draft, scene)]
    found = sorted((rated((end,), scene) for end in ended), key=lambda one: -one.score)
    # Pairs are costly: they are rated only if the request has two clauses and no single sentence covers it.
    if any(one.certain for one in found) or len(clauses(scene.said.request)) < 2:
        return found
    return sorted(_pairs(found, scene), key=lambda one: -one.score) + found


def _pairs(found: Sequence[Meant], scene: Scene) -> Iterator[Meant]:
    """Yield pairs of sentences that cover the request together, each about something that the other does not cover."""
    best: dict[object, Meant] = {}
    for one in found:
        end = one.ends[0]
        key = (end.draft.functions, frozenset((span.start, span.end) for span in end.draft.used))
        if one.told >= _SURE and len(best) < _PAIRED:
            best.setdefault(key, one)
    for number, one in enumerate(list(best.values())):
        for other in list(best.values())[number + 1 :]:
            if set(one.left) != set(other.left) and (one.ends[0].answers != other.ends[0].answers):
                both = rated((*one.ends, *other.ends), scene)
                if both.certain and _apart(one, other, scene):
                    yield both


def _apart(one: Meant, other: Meant, scene: Scene) -> bool:
    """Return whether each of two sentences answers a question that the other does not."""
    asked = {text for text, units in scene.questions if units}
    left, others = (asked & set(each.left) for each in (one, other))
    return bool(left - others) and bool(others - left)


def _drafts(scene: Scene) -> Iterator[Draft]:
    """Yield drafts, those that cover most of the request first."""
    left: list[tuple[float, int, Draft]] = []
    made: set[object] = set()

    def put(draft: Draft) -> None:
        scene.clock.check()
        same = (draft.steps, draft.many, tuple(one.path for one in draft.seen))
        # Steps hold lists, so they have no hash. The count of drafts breaks ties in the heap: drafts have no order.
        if repr(same) not in made:
            made.add(repr(same))
            heappush(left, (-_promise(draft, scene), len(made), draft))

    for function in scene.functions:
        for draft in begun(function, scene):
            put(draft)
    for _ in range(MOST_DRAFTS):
        if not left:
            return
        draft = heappop(left)[2]
        yield draft
        for more in chosen(draft, scene):
            put(more)
        for function in scene.functions:
            for more in called_next(draft, function, scene):
                put(more)


def _promise(draft: Draft, scene: Scene) -> float:
    """Score a draft: what it covers of the request, less its cost."""
    return (
        _taken_up(draft, scene, _covered(draft, (), scene))
        - _cost(draft, scene)
        - 0.9 * (len(scene.said.ranks) - len(draft.ranked) + len(scene.said.places) - len(draft.placed))
    )


def rated(ended: tuple[End, ...], scene: Scene) -> Meant:
    """Rate one or two endings: what they cover of the request, less what of them is not asked for."""
    scene.clock.check()
    said = scene.said
    drafts = [end.draft for end in ended]
    rows = [_covered_by(end, scene) for end in ended]
    covered = [max(column) for column in zip(*rows, strict=True)]
    used = [span for draft in drafts for span in draft.used]
    told = [_told(end, scene) for end in ended]
    held = scene.values_held(used)
    values = sum(said.values[at].weight for at in sorted(held))
    explained = values + sum(one * unit.weight for one, unit in zip(covered, said.units, strict=True))
    ranked = frozenset[int]().union(*(draft.ranked for draft in drafts))
    placed = frozenset[int]().union(*(draft.placed for draft in drafts))
    explained += 1.2 * len(ranked) + len(placed) + sum(len(draft.bounded) for draft in drafts)
    cost = 0.9 * (len(said.ranks) - len(ranked) + len(said.places) - len(placed)) + sum(
        _cost(draft, scene) + _surplus(end, scene) for draft, end in zip(drafts, ended, strict=True)
    )
    counts = _counts(ended)
    left = [
        one.text
        for at, one in enumerate(said.values)
        if scene.numbers[at] not in counts and not (at in held and one.told_by(held[at]))
    ]
    left += _unanswered(ended, scene)
    left += [span.text for span in scene.convertible if not any(span.overlaps(other) for other in used)]
    left += ["which of its fields"] * any(_vague(end, scene) for end in ended)
    left += ["the most or the least"] * (len(said.ranks) - len(ranked))
    left += [f"which {one.noun}" for number, one in enumerate(said.places) if number not in placed]
    left += [f"which {one}" for one in said.wanted if not any(_names_kind(end, one) for end in ended)]
    left += [one.span.text for one in said.bounds if not any(one.span.overlaps(span) for span in used)]
    left += [one.text for one in said.classes if not any(one.overlaps(span) for span in used)] + ["not"] * said.negated
    left += ["the difference"] * ("difference" in said.figures and all(end.figure != "difference" for end in ended))
    left += ["which of them"] * any(_arbitrary(end, scene) for end in ended)
    left += ["which of them are so"] * any(_unsifted(end, scene) for end in ended)
    left += ["what there are"] * any(_numbers_unasked(end, scene) for end in ended)
    left += [
        word(unit)
        for unit, one, sayable in zip(said.units, covered, scene.sayable, strict=True)
        if not one and sayable and unit.own
    ]
    score = explained + 0.8 * sum(told) + sum(0.45 for end in ended if _about_the_same(end)) - cost
    return Meant(ended, score, explained / max(said.total, 1.0), min(told), tuple(left))


def _unanswered(ended: Sequence[End], scene: Scene) -> list[str]:
    """Find the questions that nothing answers; each needs an answer of its own.

    An answer is a field that is stated, or by which the thing was chosen.
    """
    rows = [row for end in ended for row in _answering(end, scene)]
    fits = {
        text: [
            number
            for number, (field, row) in enumerate(rows)
            if any(row[at] for at in units) or (_own(units, scene) and _decides(field, text))
        ]
        for text, units in scene.questions
        if units
    }
    answered: dict[int, str] = {}

    # Maximum bipartite matching by augmenting paths (Kuhn): no answer may serve two questions, and the order of the
    # questions must not decide which of them stays unanswered.
    def given(text: str, seen: set[int]) -> bool:
        for number in fits[text]:
            if number not in seen:
                seen.add(number)
                if number not in answered or given(answered[number], seen):
                    answered[number] = text
                    return True
        return False

    return [text for text in fits if not given(text, set())]


def _own(units: Sequence[int], scene: Scene) -> bool:
    """Return whether a question names what it asks by words of its own.

    *Where* asks for a place, whatever is compared.
    """
    return any(scene.said.units[at].own for at in units)


def _decides(field: Field | None, text: str) -> bool:
    """Return whether a field measures what a question compares."""
    return field is not None and any(
        measures(field, rank.fields, most=most_meant(field, rank)) > 0 for rank in ranks(text)
    )


def _answering(end: End, scene: Scene) -> Iterator[tuple[Field | None, tuple[float, ...]]]:
    """Yield how well each stated or deciding field says each of the words that ask for something."""
    units = scene.said.units
    fields = [one.field for one in end.answers if one.field not in end.draft.echoed]
    for one in (*fields, *end.draft.decided):
        counts = one.numeric and one in fields
        yield (
            (one if one in end.draft.decided else None),
            tuple(
                max(strength, float(counts)) if unit is COUNTED else strength
                for unit, strength in zip(units, scene.of_field(one), strict=True)
            ),
        )
    if classed := _names_class(end, scene):
        yield None, tuple(float(bool(unit.own & classed)) for unit in units)
    if end.figure:
        function = scene.of_function(end.draft.functions[-1])
        yield None, tuple(1.0 if unit is COUNTED else one for unit, one in zip(units, function, strict=True))


def _counts(ended: Sequence[End]) -> frozenset[float]:
    """Return the numbers that only say how many things a request names."""
    listed = [len(step.values) for end in ended for step in end.steps if isinstance(step, Listed)]
    return frozenset(map(float, (*listed, len(ended))))


def _vague(end: End, scene: Scene) -> bool:
    """Return whether a field that is not stated answers a *where* or *when* as well."""
    answers = [one.field for one in end.answers]
    for at, unit in enumerate(scene.said.units):
        if unit.own or "name" in unit.meant or not any(scene.of_field(one)[at] for one in answers):
            continue
        functions = [one.function for one in end.answers if one.function and scene.of_field(one.field)[at]]
        fields = (one for function in functions for one in function.fields if not one.machine)
        fit = [one for one in fields if scene.of_field(one)[at] >= _SURE]
        if any(one not in answers for one in fit) and not any(max(scene.of_field(one)) >= 1 for one in answers):
            return True
    return False


def _told(end: End, scene: Scene) -> float:
    """Score how well the answer says something that is asked."""
    if end.figure == "count":
        return _said_by(scene.of_function(end.draft.functions[-1]), scene)
    said = (_said_by(scene.of_field(one.field), scene) * (one.field not in end.draft.echoed) for one in end.answers)
    named = _names_the_best(end, scene) or any(_names_kind(end, one) for one in scene.said.wanted if one not in VAGUE)
    named = named or bool(_names_class(end, scene))
    return max((*said, _SURE * named), default=0.0)


def _names_the_best(end: End, scene: Scene) -> bool:
    """Return whether it names the thing with the most, where that is asked: which is longer?"""
    named = any(one.field.names for one in end.answers) and bool(end.draft.ranked)
    return named and any(
        (_WHICH.search(text) or asks_for_most(text, end.draft.functions[-1].kinds))
        and any(_decides(one, text) for one in end.draft.decided)
        for text, _ in scene.questions
    )


def _names_class(end: End, scene: Scene) -> frozenset[str]:
    """Return the words of the class of things that is asked for, if the class was searched and its names are stated."""
    told = any(one.field.names for one in (*end.answers, *end.label))
    taken = (one for one in scene.said.classes if told and any(one.overlaps(span) for span in end.draft.used))
    return frozenset(word for one in taken for word in words(one.text))


def _names_kind(end: End, noun: str) -> bool:
    """Return whether something of the kind that *which* asks for is stated, and was not said in the request.

    Its name states it, or a field that is named by the kind.
    """
    told = (one for one in (*end.answers, *end.label) if one.field not in end.draft.echoed)
    return any(
        goes_by(noun, one.field.own | one.field.sort)
        or (_stands_for(one) and any(goes_by(noun, kinds) for kinds in _kinds(one, end)))
        for one in told
    )


def _stands_for(one: Seen) -> bool:
    """Return whether a field tells which thing is meant: its name, or any field where nothing has a name."""
    return one.field.names or (one.function is not None and not any(field.names for field in one.function.fields))


def _kinds(one: Seen, end: End) -> Iterator[frozenset[str]]:
    """Yield nouns for a thing: of what holds it, else of what its call returns.

    A thing that was looked up by its name is also of the kind that gave the name.
    """
    holder = one.field.own - set(words(one.field.name)) - EMPTY
    if holder or one.function is None:
        yield holder
        return
    yield one.function.kinds
    if one.call and any(words(name)[-1:] == ("name",) for name in one.function.parameters):
        yield end.draft.functions[one.call - 1].kinds


def _covered_by(end: End, scene: Scene) -> list[float]:
    covered = _covered(end.draft, tuple(one.field for one in end.answers), scene)
    if end.figure or any(one.field.numeric for one in end.answers):
        covered = [
            one if unit is not COUNTED else max(one, 0.8) for unit, one in zip(scene.said.units, covered, strict=True)
        ]
    return covered


def _arbitrary(end: End, scene: Scene) -> bool:
    """Return whether the first of several is stated, or used further, though many are asked for."""
    firsts = [at for at, step in enumerate(end.draft.steps) if step.do == "first"]
    several = scene.said.many or "count" in scene.said.figures
    return bool(firsts) and (several or not any(step.do == "call" for step in end.draft.steps[firsts[-1] :]))


def _unsifted(end: End, scene: Scene) -> bool:
    """Return whether it states a flag for each of a list, where those that have the flag are asked for."""
    truths = (
        one.field for one in end.answers if one.field.output.type == "boolean" and one.field not in end.draft.decided
    )
    return bool(end.draft.many and scene.said.wanted) and any(1 in scene.of_field(one) for one in truths)


def _numbers_unasked(end: End, scene: Scene) -> bool:
    """Return whether it states a count that nobody asked for."""
    return "count" not in scene.said.figures and any(
        one.field.numeric and one.field.own & COUNTED.own for one in end.answers
    )


def _surplus(end: End, scene: Scene) -> float:
    """Score what of an ending is not asked for."""
    said, draft = scene.said, end.draft
    strengths = [_said_by(scene.of_field(one.field), scene) * (one.field not in draft.echoed) for one in end.answers]
    cost = sum(0.3 for one in strengths if one < 0.5) + 0.1 * max(0, len(strengths) - 1) - 0.9 * bool(end.figure)
    if not end.figure and "count" in said.figures and not any(one.field.numeric for one in end.answers):
        cost += 0.8
    if _numbers_unasked(end, scene):
        cost += 0.6
    if draft.many and any(one.field.output.type == "boolean" for one in end.answers):
        cost += 1  # what is so is asked for, and not of each whether it is
    if said.many and not draft.many and not any(one.field.listed for one in end.answers):
        cost += 0.5
    idle = end.figure != "count" and not any(one.call == draft.last for one in end.answers)
    return cost + 0.8 * (idle and not any(one in draft.functions[-1].fields for one in draft.decided))


def _about_the_same(end: End) -> bool:
    """Return whether the answer is about a thing of the kind that the request names."""
    kinds = {field.need.kind for field in end.draft.echoed}
    functions = [one.function for one in end.answers if one.function]
    return any(field.names and field.need.kind in kinds for one in functions for field in one.fields)


def word(unit: Unit) -> str:
    """Return a word of a unit that can be shown."""
    return min(unit.own or unit.meant)


def _said_by(strengths: Sequence[float], scene: Scene) -> float:
    """Return the best of the strengths; the count unit names nothing and is left out."""
    return max((one for one, unit in zip(strengths, scene.said.units, strict=True) if unit is not COUNTED), default=0.0)


def _taken_up(draft: Draft, scene: Scene, covered: Sequence[float]) -> float:
    said = scene.said
    values = sum(said.values[at].weight for at in sorted(scene.values_held(draft.used)))
    units = sum(one * unit.weight for one, unit in zip(covered, said.units, strict=True))
    return values + units + 1.2 * len(draft.ranked) + len(draft.bounded) + len(draft.placed)


def _cost(draft: Draft, scene: Scene) -> float:
    cost = (
        draft.loss
        + 0.9 * (len(scene.said.ranks) - len(draft.ranked))
        + sum(0.55 + 0.02 * one.place for one in draft.functions)
    )
    cost += 0.15 * sum(step.do in ("where", "most", "least") for step in draft.steps)
    return cost + sum(0.5 for one in draft.functions if not any(scene.of_function(one)))


def _covered(draft: Draft, answers: Sequence[Field], scene: Scene) -> list[float]:
    """Score how well a sentence says each of the words that ask for something, from 0 to 1."""
    rows = [scene.of_field(one) for one in answers]
    rows += [tuple(0.9 * one for one in scene.of_field(field)) for field in draft.decided]
    rows += [tuple(0.8 * one for one in scene.of_function(function)) for function in draft.functions]
    rows += [tuple(0.8 * one for one in scene.of_parameter(*asked)) for asked in draft.asked]
    rows += [
        tuple(float(unit.own <= frozenset(words(span.text))) for unit in scene.said.units)
        for span in draft.used
        if span.kind in ("phrase", "unit")
    ]
    if not rows:
        return [0.0] * len(scene.said.units)
    twice = [
        sum(strength > 0 for strength in column) > 1
        for column in zip(*map(scene.of_function, draft.functions), strict=True)
    ]
    once = [max(column) for column in zip(*rows, strict=True)]
    return [
        one if not unit.again or more else 0.0 for unit, one, more in zip(scene.said.units, once, twice, strict=True)
    ]
