"""A picture of tools and of what joins them that can be chosen from: drawn by a script of our own, which needs no network.

Boxes are buttons with names that are read out; arrow keys go from one to the next. Edges are chosen by a click; by keyboard, in the list below the picture.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from ui.components import registered
from ui.graph_layout import HEIGHT, WIDTH, Layout, Spot
from ui.language import say


@dataclass(frozen=True, slots=True)
class Box:
    """``label``: what it is, in full; ``look``: classes of its style, one of which may be ``centre`` or ``chosen``."""

    id: str
    title: str
    note: str
    label: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """``text``: what stands on it; ``label``: what it is, in full."""

    id: str
    source: str
    target: str
    path: str
    x: float
    y: float
    text: str
    label: str
    width: float
    look: str = ""


def picture(  # of all that is drawn
    name: str,
    label: str,
    layout: Layout,
    boxes: Sequence[Box],
    lines: Sequence[Line],
    start: str,
    chosen: Callable[[str], None],
) -> None:
    """``name``: of the picture; with another one it is seen from its ``start`` again, a box. ``chosen`` is told the id of a box or a line."""
    key = "graph-picture"

    def told() -> None:
        state = st.session_state.get(key)
        one = None if state is None else state.get("chosen")
        if isinstance(one, str):
            chosen(one)

    at = layout.spots.get(start, Spot(0, 0))
    data = {
        "name": name,
        "label": label,
        "width": layout.width,
        "height": layout.height,
        "box": [WIDTH, HEIGHT],
        "start": [at.x + WIDTH / 2, at.y + HEIGHT / 2],
        "nodes": [asdict(one) | {"x": layout.spots[one.id].x, "y": layout.spots[one.id].y} for one in boxes],
        "edges": [asdict(one) for one in lines],
        "words": {"view": say("View"), "smaller": say("Smaller"), "larger": say("Larger"), "fit": say("All of it")},
    }
    registered("graph_picture")(key=key, data=data, on_chosen_change=told)
