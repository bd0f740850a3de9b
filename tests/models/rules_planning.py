"""How the rule-based model plans ahead: the moves it would make, in the head, over the candidates it has before it."""

from collections.abc import Sequence
from dataclasses import replace

from tests.models.prompt_reading import Option, blocks, options, stem, telling
from tests.models.rules_choosing import Move, next_move

_MOST = 6


def choose_several(prompt: str) -> dict[str, object]:
    """The next move, with what comes behind it where it is an advance."""
    moves = _moves(prompt)
    numbers = [move.number for move in moves if move.number is not None]
    said = moves[0].told()
    if numbers:
        said |= {"then": numbers[1:], "done": moves[-1].action == "finish"}
    return said


def whole_path(prompt: str) -> dict[str, object]:
    """All steps."""
    moves = _moves(prompt)
    numbers = [move.number for move in moves if move.number is not None]
    return {"thoughts": [move.reason for move in moves], "reason": moves[0].reason, "numbers": numbers}


def _moves(prompt: str) -> list[Move]:
    """Advances, then the move that is none, if it comes to that."""
    parts = blocks(prompt)
    path, offered = parts.get("path so far", ""), options(parts.get("candidates", ""))
    moves: list[Move] = []
    taken: list[Option] = []
    while len(moves) < _MOST:
        numbers = {option.number for option in taken}
        here = [_behind(o, taken) for o in offered if o.number not in numbers and _reachable(o, numbers)]
        moves.append(next_move(parts.get("request", ""), path, here))
        found = next((option for option in offered if option.number == moves[-1].number), None)
        if found is None:
            break
        taken.append(found)
        path = f"{path}\n{len(path.splitlines()) + 1}. it/{found.api}: {found.text}".strip()
    return moves


def _reachable(option: Option, taken: set[int]) -> bool:
    return "after" not in option.facts or int(option.facts["after"]) in taken


def _behind(option: Option, taken: Sequence[Option]) -> Option:
    """An option as it stands behind others: what one of them is about, or was named to give, is no more missing."""
    missing = option.names("missing")
    given = [
        name for name in missing if any(frozenset(stem(word) for word in telling(name)) & one.words for one in taken)
    ]
    if not given:
        return option
    facts = dict(option.facts)
    left = [name for name in missing if name not in given]
    facts.pop("missing")
    if left:
        facts["missing"] = ", ".join(left)
    facts["fed"] = ", ".join([*option.names("fed"), *(f"{name} from before" for name in given)])
    return replace(option, facts=facts)
