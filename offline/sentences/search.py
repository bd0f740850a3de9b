"""Which sentence over the offered functions says what a request says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from graph.identifiers import words
from offline.sentences.drafts import Draft, begun, called_next, chosen
from offline.sentences.ends import End, ends
from offline.sentences.fields import Field
from offline.sentences.said import COUNTED, Unit, Value
from offline.sentences.scene import Scene

MOST_DRAFTS = 300
_TOLD = 0.65
_ENOUGH = 0.6


@dataclass(frozen=True, slots=True)
class Meant:
    """A sentence with what speaks for it. ``share``: of what the request says, how much it takes up."""

    end: End
    score: float
    share: float
    open: tuple[str, ...]
    told: float

    @property
    def certain(self) -> bool:
        """Whether nothing that a request names or orders is left, and what is told is what was asked."""
        return self.told >= _TOLD and self.share >= _ENOUGH and not self.open_values

    open_values: tuple[str, ...] = ()


def sentences(scene: Scene) -> list[Meant]:
    """The sentences that can be said, the best first."""
    found = [rated(end, scene) for draft in _drafts(scene) for end in ends(draft, scene)]
    return sorted(found, key=lambda one: -one.score)


def _drafts(scene: Scene) -> Iterator[Draft]:
    """Drafts, those that take up most of the request first."""
    left: list[tuple[float, int, Draft]] = []
    made = 0

    def put(draft: Draft) -> None:
        nonlocal made
        made += 1
        heappush(left, (-_promise(draft, scene), made, draft))

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
    """What a draft takes up of the request, less what it costs."""
    return _taken_up(draft, scene, _covered(draft, (), scene)) - _cost(draft, scene)


def rated(end: End, scene: Scene) -> Meant:
    """What a sentence takes up of the request, less what of it is not asked for."""
    draft, said = end.draft, scene.said
    covered = _covered(draft, tuple(one.field for one in end.answers), scene)
    if end.figure or any(one.field.numeric for one in end.answers):
        covered = [one if unit is not COUNTED else max(one, 0.8) for unit, one in zip(said.units, covered, strict=True)]
    explained = _taken_up(draft, scene, covered)
    answered = [_said_by(scene.of_field(one.field), scene) * (one.field not in draft.echoed) for one in end.answers]
    if end.figure == "count":
        answered = [_said_by(scene.of_function(draft.functions[-1]), scene)]
    told = 0.8 * max(answered, default=0.0)
    cost = _cost(draft, scene) + sum(0.3 for one in answered if one < 0.5) + 0.1 * max(0, len(answered) - 1)
    if end.figure:
        told += 0.9
    elif "count" in said.figures and not any(one.field.numeric for one in end.answers):
        cost += 0.8
    surplus = "count" not in said.figures and any(
        one.field.numeric and one.field.own & COUNTED.own for one in end.answers
    )
    if surplus:
        cost += 0.6
    if said.many and not draft.many and not any(one.field.listed for one in end.answers):
        cost += 0.5
    if _about_the_same(end):
        told += 0.45
    left = [one.text for one in said.values if not _taken(one, draft) and (one.weight > 1 or one.text[:1].isdigit())]
    left += [one.text for one in said.classes if draft.free(one)] + ["not"] * said.negated
    if (
        end.figure != "count"
        and not any(one.call == draft.last for one in end.answers)
        and not any(one in draft.functions[-1].fields for one in draft.decided)
    ):
        cost += 0.8
    firsts = any(step.do == "first" for step in draft.steps)
    left += ["which of them"] * (firsts and (said.many or "count" in said.figures))
    left += ["the difference"] * ("difference" in said.figures and end.figure != "difference")
    left += ["what there are"] * surplus
    left += ["the most or the least"] * (len(said.ranks) - len(draft.ranked)) + ["a bound"] * (
        len(said.bounds) - len(draft.bounded)
    )
    left += [
        word(unit)
        for unit, one, sayable in zip(said.units, covered, scene.sayable, strict=True)
        if not one and sayable and unit.own
    ]
    open_ones = [word(unit) for unit, one in zip(said.units, covered, strict=True) if not one]
    return Meant(
        end,
        explained + told - cost,
        explained / max(said.total, 1.0),
        tuple(open_ones),
        max(answered, default=0.0),
        tuple(left),
    )


def _about_the_same(end: End) -> bool:
    """Whether what answers is told of a thing of the kind that the request names."""
    kinds = {field.need.kind for field in end.draft.echoed}
    functions = [one.function for one in end.answers if one.function]
    return any(field.names and field.need.kind in kinds for one in functions for field in one.fields)


def word(unit: Unit) -> str:
    return min(unit.own or unit.meant)


def _said_by(strengths: Sequence[float], scene: Scene) -> float:
    """How well the best of the words that name something is said; that there are many is no name."""
    return max((one for one, unit in zip(strengths, scene.said.units, strict=True) if unit is not COUNTED), default=0.0)


def _taken(value: Value, draft: Draft) -> bool:
    return any(value.holds(span) for span in draft.used)


def _taken_up(draft: Draft, scene: Scene, covered: Sequence[float]) -> float:
    said = scene.said
    values = sum(one.weight for one in said.values if _taken(one, draft))
    units = sum(one * unit.weight for one, unit in zip(covered, said.units, strict=True))
    return values + units + 1.2 * len(draft.ranked) + len(draft.bounded)


def _cost(draft: Draft, scene: Scene) -> float:
    cost = (
        draft.loss
        + 0.9 * (len(scene.said.ranks) - len(draft.ranked))
        + sum(0.55 + 0.02 * one.place for one in draft.functions)
    )
    cost += 0.15 * sum(step.do in ("where", "most", "least") for step in draft.steps)
    return cost + sum(0.5 for one in draft.functions if not any(scene.of_function(one)))


def _covered(draft: Draft, answers: Sequence[Field], scene: Scene) -> list[float]:
    """How well anything in a sentence says what each word of the request says."""
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
