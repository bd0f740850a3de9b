"""Places within the history, as they stand in the address."""

from ui import places


def go_history(run: str = "", beside: str = "", *, pick: bool = False) -> None:
    """The list; with ``run`` that one; ``beside``: compared with this one; ``pick``: with one that is chosen next. What the list is of stays."""
    places.go("history", of=places.place("of"), run=run, **{"with": beside, "pick": "1" if pick else ""})
