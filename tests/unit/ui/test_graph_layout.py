"""Where tools lie in a picture: without two on one spot, in the same way each time, with names that fit their boxes."""

from ui.graph_layout import HEIGHT, WIDTH, Layout, around_centre, curve, fitting, in_rows

DEPTHS = {"c": 0, **{f"in{n}": 1 for n in range(14)}, **{f"out{n}": 1 for n in range(12)}, "far": 2}
EDGES = [
    *((f"in{n}", "c", 0.5 - n / 100) for n in range(14)),
    *(("c", f"out{n}", 0.5) for n in range(12)),
    ("far", "in3", 0.1),
]


def apart(layout: Layout) -> bool:
    spots = list(layout.spots.values())
    return all(
        abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT
        for place, one in enumerate(spots)
        for other in spots[place + 1 :]
    )


def test_what_leads_there_lies_on_the_left_and_what_follows_on_the_right() -> None:
    layout = around_centre("c", DEPTHS, EDGES)
    spots, centre = layout.spots, layout.spots["c"]
    assert layout == around_centre("c", DEPTHS, EDGES)
    assert apart(layout)
    assert all(spots[one].x < centre.x for one in spots if one.startswith("in"))
    assert all(spots[one].x > centre.x for one in spots if one.startswith("out"))
    assert spots["far"].x == min(one.x for one in spots.values())
    assert all(0 <= one.x <= layout.width - WIDTH and 0 <= one.y <= layout.height - HEIGHT for one in spots.values())


def test_tool_sets_lie_near_those_that_they_are_joined_with() -> None:
    names = [f"s{n}" for n in range(24)]
    layout = in_rows(names, [("s0", "s20", 5.0), ("s20", "s11", 3.0)])
    assert (apart(layout), len(layout.spots)) == (True, 24)
    order = sorted(names, key=lambda name: (layout.spots[name].y, layout.spots[name].x))
    assert order[:3] == ["s0", "s20", "s11"]


def test_an_edge_begins_and_ends_at_boxes() -> None:
    layout = around_centre("c", {"c": 0, "a": 1}, [("a", "c", 1.0)])
    one, other = layout.spots["a"], layout.spots["c"]
    way = curve(one, other)
    assert way.path.startswith(f"M{one.x + WIDTH:.0f} ")
    assert way.path.endswith(f" {other.x:.0f} {other.y + HEIGHT / 2:.0f}")
    assert one.x + WIDTH < way.x < other.x
    assert in_rows([], []).spots == {}


def test_a_name_is_cut_to_its_box() -> None:
    assert fitting("search") == "search"
    assert fitting("x" * 40) == "x" * 22 + "…"
    assert fitting("工" * 40) == "工" * 10 + "…"
    assert fitting("a\u202e\nb") == "ab"
