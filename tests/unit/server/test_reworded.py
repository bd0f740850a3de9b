"""A request that is made again with other values asks for them."""

import pytest

from server.routes.documents import Change, reworded


@pytest.mark.parametrize(
    ("request_", "changes", "becomes"),
    [
        ("Holidays of Caldera in 2026?", [("Caldera", "Marovia"), (2026, 2027)], "Holidays of Marovia in 2027?"),
        ("From Oslo to Bergen", [("Oslo", "Bergen"), ("Bergen", "Oslo")], "From Bergen to Oslo"),
        ("Calderan days", [("Caldera", "Marovia")], "Calderan days"),
        ("Oslo, and Oslo again", [("Oslo", "Bergen")], "Oslo, and Oslo again"),
        ("New York and York", [("New York", "Ely")], "Ely and York"),
        ("What is it?", [("", "x"), (True, False), ([1], [2]), (None, "x"), ("What", "What")], "What is it?"),
        ("a.b (c)", [("a.b", r"\\1"), ("c", "d")], r"\\1 (d)"),
    ],
)
def test_what_is_asked_again(request_: str, changes: list[Change], becomes: str) -> None:
    assert reworded(request_, changes) == becomes
