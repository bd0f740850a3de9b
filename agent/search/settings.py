"""How a walk looks around."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """``k``: candidates a node. ``floor``: relevance below which the retriever adds none. ``found``: tools it looks at a text.
    ``several``: the policy may name several steps at once, and is shown what follows the candidates.
    """

    k: int = 10
    floor: float = 0.25
    found: int = 20
    several: bool = False
