"""What a tried call's answer is called."""

import pytest

from domain.tool import ToolId
from ui.plans import DryCall


@pytest.mark.parametrize(
    ("status", "example", "told"),
    [
        ("answered", False, "a recorded answer"),
        ("answered", True, "a documented example"),
        ("unknown", False, "no recorded answer"),
        ("missing", True, "arguments are missing"),
        ("later", False, "later"),
    ],
)
def test_an_answer_is_called_what_it_is(status: str, example: bool, told: str) -> None:
    assert DryCall(step=1, tool=ToolId("a"), status=status, example=example).told == told
