"""How the rule-based model chooses: the candidate whose words the request still waits for; what it misses comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.models.prompt_reading import Option, asks_for_a_change, blocks, options, path_tools, stem, telling, topics

_ALIKE = 0.5
"""Relevance from which on a candidate that the path feeds is what the request is about."""
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
    return next_move(parts.get("request", ""), parts.get("path so far", ""), options(parts.get("candidates", "")))


def next_move(request: str, path: str, on_offer: Sequence[Option]) -> Move:
    """The next move behind a path, told in lines as in the prompt."""
    asked, change = topics(request), asks_for_a_change(request)
    allowed = [option for option in on_offer if change or not option.changes]
    offered = sorted(allowed, key=lambda option: -_score(option, asked, change=change))
    if path:
        best = max(_common(f"{api} {text}", api, asked) for api, text in path_tools(path) or [("", path)])
        return _go_on(offered, asked, asked - telling(path), best) or Move(
            "finish", "the path serves all of the request"
        )
    return _start(offered, asked, change=change) or Move("give_up", "no tool fits")


def _start(ranked: Sequence[Option], asked: frozenset[str], *, change: bool) -> Move | None:
    """The best candidate, or one that gives what it misses; without such a one, the best that misses nothing."""
    fitting = [option for option in ranked if _score(option, asked, change=change) >= _FLOOR]
    for goal in fitting[:3]:
        if not goal.names("missing"):
            return Move("advance", f"{goal.api} is about {', '.join(sorted(goal.words & asked)) or 'it'}", goal.number)
        if giver := _giver(goal, ranked):
            return Move("advance", f"gives {', '.join(goal.names('missing'))} for {goal.api}", giver.number)
    ready = next((option for option in fitting if not option.names("missing")), None)
    return Move("advance", "its inputs are all there", ready.number) if ready else None


def _go_on(ranked: Sequence[Option], asked: frozenset[str], open_words: frozenset[str], best: int) -> Move | None:
    """A candidate that is more about the request than any step so far, or about words that no step serves."""
    for option in ranked:
        served = option.words & open_words
        fed = bool(option.names("fed"))
        more = fed and (
            _common(f"{option.api} {option.text}", option.api, asked) > best or option.figure("relevance") >= _ALIKE
        )
        if not (more or len(served) >= (1 if fed else 2)):
            continue
        if not option.names("missing"):
            return Move("advance", f"{option.api} is about {', '.join(sorted(served)) or 'more of it'}", option.number)
        if giver := _giver(option, ranked):
            return Move("advance", f"gives {', '.join(option.names('missing'))} for {option.api}", giver.number)
    return None


def _giver(goal: Option, ranked: Sequence[Option]) -> Option | None:
    """A candidate with all its inputs whose words name the most of what the goal misses."""
    missed = frozenset(stem(word) for name in goal.names("missing") for word in telling(name))
    ready = [option for option in ranked if option is not goal and not option.names("missing")]
    best = max(ready, key=lambda option: (len(option.words & missed), option.figure("weight")), default=None)
    return best if best and best.words & missed else None


def _score(option: Option, wanted: frozenset[str], *, change: bool) -> float:
    """Common words, what the evidence says, and whether something is to be changed."""
    common = _common(f"{option.api} {option.text}", option.api, wanted)
    evidence = 4.0 * option.figure("relevance") + 0.5 * option.figure("weight") + 0.2 * option.figure("availability")
    will = 2.5 if option.changes and change else -2.0 if option.changes else 0.0
    return common + evidence + will + 0.5 * len(option.names("fed")) - 0.3 * len(option.names("missing"))


def _common(text: str, api: str, asked: frozenset[str]) -> int:
    """How many of the request's words a tool has, those in its name twice."""
    return len(telling(text) & asked) + len(telling(api) & asked)
