"""How the rule-based model chooses: the candidate whose words the request still waits for; what it misses comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.models.prompt_reading import Option, blocks, options, stem, telling, topics

_FLOOR = 1.2
"""Score below which a candidate has nothing to do with the request."""


@dataclass(frozen=True)
class Move:
    """What is answered."""

    action: str
    reason: str
    number: int | None = None

    def told(self) -> dict[str, object]:
        return {"reason": self.reason, "action": self.action, "number": self.number}


def choose(prompt: str) -> Move:
    """The next move, from the prompt's text alone."""
    parts = blocks(prompt)
    offered = options(parts.get("candidates", ""))
    path = parts.get("path so far", "")
    asked = topics(parts.get("request", ""))
    open_words = asked - telling(path)
    ranked = sorted(offered, key=lambda option: -_score(option, open_words if path else asked))
    move = _go_on(ranked, open_words) if path else _start(ranked, asked)
    if move is None:
        return (
            Move("finish", "nothing here adds to what the request asks for")
            if path
            else Move("give_up", "no tool fits")
        )
    return move


def _start(ranked: Sequence[Option], asked: frozenset[str]) -> Move | None:
    """The best candidate, or one that gives what it misses."""
    if not ranked or _score(ranked[0], asked) < _FLOOR:
        return None
    goal = ranked[0]
    if not goal.names("missing"):
        return Move("advance", f"{goal.api} is about {_common(goal, asked)}", goal.number)
    giver = _giver(goal, ranked)
    if giver:
        return Move("advance", f"gives {', '.join(goal.names('missing'))} for {goal.api}", giver.number)
    ready = next((option for option in ranked if not option.names("missing")), None)
    return (
        Move("advance", "its inputs are all there", ready.number) if ready and _score(ready, asked) >= _FLOOR else None
    )


def _go_on(ranked: Sequence[Option], open_words: frozenset[str]) -> Move | None:
    """A candidate that serves words not yet served, the better if the path feeds it; else the path is whole."""
    for option in ranked:
        served = option.words & open_words
        wanted = 1 if option.names("fed") else 2
        if len(served) >= wanted and not option.names("missing"):
            return Move("advance", f"{option.api} is about {', '.join(sorted(served))}", option.number)
    hungry = [option for option in ranked[:3] if option.names("missing") and len(option.words & open_words) >= 2]
    for option in hungry:
        giver = _giver(option, ranked)
        if giver:
            return Move("advance", f"gives {', '.join(option.names('missing'))} for {option.api}", giver.number)
    return None


def _giver(goal: Option, ranked: Sequence[Option]) -> Option | None:
    """A candidate with all its inputs whose words name the most of what the goal misses."""
    missed = frozenset(stem(word) for name in goal.names("missing") for word in telling(name))
    ready = [option for option in ranked if option is not goal and not option.names("missing")]
    best = max(ready, key=lambda option: (len(option.words & missed), option.figure("weight")), default=None)
    return best if best and best.words & missed else None


def _score(option: Option, wanted: frozenset[str]) -> float:
    """Common words, those in the name twice, and what the evidence says."""
    common = len(option.words & wanted) + len(telling(option.api) & wanted)
    evidence = 2.0 * option.figure("relevance") + 0.5 * option.figure("weight") + 0.2 * option.figure("availability")
    return common + evidence + 0.5 * len(option.names("fed")) - 0.3 * len(option.names("missing"))


def _common(option: Option, asked: frozenset[str]) -> str:
    return ", ".join(sorted(option.words & asked)) or "what is asked"
