"""Where tools and edges of a picture lie: the same graph lies the same way, whoever looks. Nothing here is drawn."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH, HEIGHT = 176, 46
_ACROSS, _DOWN = 100, 16
"""Room between boxes."""
_EDGE = 24
_COLUMN = 9
"""So many boxes stand on one another; more stand in a further column."""
_LONGEST = 23


@dataclass(frozen=True, slots=True)
class Spot:
    """The upper left corner of a box."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    spots: Mapping[str, Spot]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Curve:
    """``path``: of an SVG; ``x`` and ``y``: where what is written on it stands."""

    path: str
    x: float
    y: float


def around_centre(centre: str, depths: Mapping[str, int], edges: Sequence[tuple[str, str, float]]) -> Layout:
    """What leads to the centre lies on its left, what it leads to on its right, what is further away further out; the better an edge, the nearer to the middle.

    ``depths``: of all, in the order in which they were found; ``edges``: source, target, and how good.
    """
    side, best, parent = _sides(centre, depths, edges)
    columns: dict[int, list[str]] = {0: [centre]}
    offset = {-1: 0, 1: 0}
    for depth in range(1, max(depths.values(), default=0) + 1):
        for sign in (-1, 1):
            here = [one for one, at in depths.items() if at == depth and side[one] == sign]
            here.sort(key=lambda one: (-best[one], one))
            order = {one: place for place, one in enumerate(depths)}
            rows = [here[start : start + _COLUMN] for start in range(0, len(here), _COLUMN)]
            for row in rows:
                offset[sign] += 1
                columns[sign * offset[sign]] = sorted(_middle(row), key=lambda one: order.get(parent[one], 0)) if depth > 1 else _middle(row)  # fmt: skip
    return _placed(columns)


def in_rows(names: Sequence[str], joins: Sequence[tuple[str, str, float]]) -> Layout:
    """What is joined best stands near one another: each next one is the one that those before it are joined with most."""
    weight: dict[str, float] = dict.fromkeys(names, 0.0)
    left, ordered = list(names), list[str]()
    while left:
        one = max(left, key=lambda name: (weight[name], -names.index(name)))
        left.remove(one)
        ordered.append(one)
        for source, target, how in joins:
            if one in (source, target):
                weight[target if one == source else source] += how
    across = max(1, min(5, round(len(names) ** 0.5)))
    columns = {at: ordered[at::across] for at in range(across)}
    return _placed(columns)


def curve(one: Spot, other: Spot, shift: float = 0.0, written: float = 0.5) -> Curve:
    """From box to box, by their nearer sides. ``shift``: so far down, so that two edges between the same boxes are told apart; ``written``: at which part of the way
    something is written on it.
    """
    y, to_y = one.y + HEIGHT / 2 + shift, other.y + HEIGHT / 2 + shift
    if other.x > one.x + WIDTH / 2:
        x, to_x = one.x + WIDTH, other.x
        bend = max(40.0, (to_x - x) / 2)
        bends = (x + bend, to_x - bend)
    elif other.x < one.x - WIDTH / 2:
        x, to_x = one.x, other.x + WIDTH
        bend = max(40.0, (x - to_x) / 2)
        bends = (x - bend, to_x + bend)
    else:
        x = to_x = one.x + WIDTH
        bends = (x + 44, x + 44)
    path = f"M{x:.0f} {y:.0f} C{bends[0]:.0f} {y:.0f} {bends[1]:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
    return Curve(path, _along((x, *bends, to_x), written), _along((y, y, to_y, to_y), written))


def _along(ends: tuple[float, float, float, float], part: float) -> float:
    """A point of a curve in one direction, by its ends and bends."""
    rest = 1 - part
    a, b, c, d = ends
    return rest**3 * a + 3 * rest**2 * part * b + 3 * rest * part**2 * c + part**3 * d


def fitting(text: str) -> str:
    """As much of a name as a box holds; wide letters take the room of two. What cannot be seen is left out."""
    room, kept = _LONGEST, ""
    for letter in text:
        if not letter.isprintable():
            continue
        room -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room < 0:
            return kept[:-1] + "…"
        kept += letter
    return kept


def _sides(
    centre: str, depths: Mapping[str, int], edges: Sequence[tuple[str, str, float]]
) -> tuple[dict[str, int], dict[str, float], dict[str, str]]:
    """Of each its side, how good the edge is by which it is there, and from where that leads."""
    side, best, parent = {centre: 0}, {centre: 1.0}, {centre: ""}
    for _, tools in groupby(depths, key=lambda one: depths[one]):
        for tool in tools:
            if tool == centre:
                continue
            near = [
                (how, other, 1 if source == other else -1)
                for source, target, how in edges
                if tool in (source, target)
                and depths.get(other := source if target == tool else target, 9) == depths[tool] - 1
            ]
            how, other, sign = max(near, default=(0.0, centre, 1))
            side[tool] = side.get(other, 0) or sign
            best[tool], parent[tool] = how, other
    return side, best, parent


def _middle(row: Sequence[str]) -> list[str]:
    """The first in the middle, the others below and above it in turn."""
    return [*row[1::2][::-1], *row[0::2]]


def _placed(columns: Mapping[int, Sequence[str]]) -> Layout:
    tallest = max((len(column) for column in columns.values()), default=1)
    height = tallest * (HEIGHT + _DOWN) - _DOWN + 2 * _EDGE
    spots: dict[str, Spot] = {}
    for place, at in enumerate(sorted(columns)):
        column = columns[at]
        top = (height - len(column) * (HEIGHT + _DOWN) + _DOWN) / 2
        for row, name in enumerate(column):
            spots[name] = Spot(_EDGE + place * (WIDTH + _ACROSS), top + row * (HEIGHT + _DOWN))
    width = len(columns) * (WIDTH + _ACROSS) - _ACROSS + 2 * _EDGE
    return Layout(spots, width, height)
