"""How the rule-based model answers, and which fields it keeps."""

import re

from tests.models.prompt_reading import Leaf, Step, blocks, stem, steps, telling, topics

_NOISE = re.compile(
    r"url|uri|link|image|img|icon|avatar|thumbnail|html|cursor|page|version|hash|token|(?:^|_|\.)(?:meta|debug)", re.I
)
_ASKED = {"where": "city address place location birthplace", "when": "date time day year", "who": "name author",
          "how much": "price amount result total value", "how many": "count total number amount", "how long": "duration minute",
          "worth": "amount result converted", "clock": "time", "what is that in": "result amount"}  # fmt: skip
_MOST = 12
_KEPT = 16


def answer(prompt: str) -> str:
    """Lines of fields that the request asks about by name, each with its step; the last step's first fields where none is."""
    parts = blocks(prompt)
    request = parts.get("request", "")
    good = [step for step in steps(parts.get("steps", "")) if step.good]
    if not good:
        return "The calls gave nothing that answers this."
    wanted = topics(request) | meant(request)
    told = [line for step in reversed(good) for line in _lines(step, wanted, request)]
    last = good[-1]
    rest = [_line(leaf, last) for leaf in last.leaves if not _NOISE.search(leaf.name)]
    return "\n".join(dict.fromkeys([*told, *rest][:_MOST])) or f"{str(last.response)[:300]} [{last.number}]"


def _lines(step: Step, wanted: frozenset[str], request: str) -> list[str]:
    chosen = [leaf for leaf in step.leaves if _about(leaf, wanted) and not _NOISE.search(leaf.name)]
    named = [leaf for leaf in chosen if _beside_a_name(leaf, step, request)]
    return [_line(leaf, step) for leaf in (named or chosen)[:_MOST]]


def _about(leaf: Leaf, wanted: frozenset[str]) -> bool:
    """Whether a field's name has a wanted word, or is made of one: ``weekday``."""
    return bool(telling(leaf.name) & wanted) or any(len(word) >= 3 and word in leaf.name.lower() for word in wanted)


def _beside_a_name(leaf: Leaf, step: Step, request: str) -> bool:
    """Whether the item that holds the value is one that the request names."""
    around = leaf.place.rpartition("]")[0]
    return bool(around) and any(
        isinstance(other.value, str) and len(other.value) > 3 and other.value.casefold() in request.casefold()
        for other in step.leaves
        if other.place.startswith(around)
    )


def _line(leaf: Leaf, step: Step) -> str:
    return f"{leaf.name.replace('_', ' ')}: {str(leaf.value)[:120]} [{step.number}]"


def meant(request: str) -> frozenset[str]:
    """What question words stand for."""
    lowered = request.lower()
    return frozenset(stem(word) for asked, words in _ASKED.items() if asked in lowered for word in words.split())


def fields(prompt: str) -> dict[str, object]:
    """The numbers of the first fields that are no addresses and no bookkeeping."""
    lines = re.findall(r"^(\d+)\. (.+)$", blocks(prompt).get("fields", ""), re.MULTILINE)
    telling_ones = [int(number) for number, name in lines if not _NOISE.search(name)]
    return {"numbers": telling_ones[:_KEPT] or [int(number) for number, _ in lines[:4]]}
