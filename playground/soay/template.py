"""Template questions: how one is worded, the program that answers it, and what the world itself says the answer is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from playground.worlds import chance

Values = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Gold:
    """What a right answer holds. ``texts``: of each tuple one, the first as the service writes it. ``others``: of the same kind, and wrong:
    what a list must not hold.
    """

    texts: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[float, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A template question of a scenario. ``english`` and ``chinese`` name the inputs in braces; ``program`` has them as names, and ends in the
    plain answer. ``direct``: the answer by the world's own data, None where a question makes no sense. ``entities``: values of the inputs.
    """

    number: int
    hops: int
    english: str
    chinese: str
    program: str
    direct: Callable[[Values], Gold | None]
    entities: Callable[[], Iterable[Values]]

    def questions(self, most: int) -> Iterator[tuple[Values, Gold]]:
        """Values of the inputs with what is right for them, the same ones each time."""
        found = 0
        different = {tuple(values.items()): values for values in self.entities()}
        for values in dealt(list(different.values()), self.number):
            gold = self.direct(values)
            if gold is not None and (gold.texts or gold.numbers) and found < most:
                found += 1
                said = {str(value) for value in values.values()}
                yield values, Gold(gold.texts, gold.numbers, tuple(one for one in gold.others if one not in said))


def dealt(values: Sequence[Values], key: int) -> list[Values]:
    """In an order that looks random."""
    return chance.several(values, len(values), "entities", key)


def each_of(right: Iterable[str], among: Iterable[str] = ()) -> Gold:
    """A list: all of these, and of ``among`` no other."""
    names = tuple(dict.fromkeys(right))
    return Gold(texts=tuple((name,) for name in names), others=_others(names, among))


def one_of(right: Iterable[str], among: Iterable[str] = ()) -> Gold:
    """One of these: several may have the most of something."""
    names = tuple(dict.fromkeys(right))
    return Gold(texts=(names,) if names else (), others=_others(names, among))


def text(*ways: str) -> Gold:
    """One value, in the ways it may be written."""
    return Gold(texts=(ways,))


def number(value: float) -> Gold:
    """A number."""
    return Gold(numbers=(value,))


def most(things: Iterable[tuple[float, str]], *, least: bool = False) -> Gold:
    """Who has the most of something, of pairs of rank and name."""
    pairs = list(things)
    if not pairs:
        return Gold()
    end = min(rank for rank, _ in pairs) if least else max(rank for rank, _ in pairs)
    return one_of((name for rank, name in pairs if rank == end), (name for _, name in pairs))


def _others(right: Sequence[str], among: Iterable[str]) -> tuple[str, ...]:
    """What is among them and not right, nor a part of what is."""
    return tuple(name for name in dict.fromkeys(among) if not any(name in one for one in right))
