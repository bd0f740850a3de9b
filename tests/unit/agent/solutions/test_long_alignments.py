"""Laying a request over a pattern takes no time that grows with the ways in which its words could be shared out among inputs."""

import time

import pytest

from agent.solutions.patterns import align_request, is_worded_like


@pytest.mark.timeout(20)
@pytest.mark.parametrize("request_text", ["show me " + "a " * 290 + "!z", "show me " + "a " * 290 + "now"])
def test_many_inputs_over_many_words(request_text: str) -> None:
    pattern = "show me " + " ".join(f"{{value_{number}}}" for number in range(6)) + " now"
    begun = time.process_time()
    assert align_request(request_text, pattern) is None
    is_worded_like(pattern + "{more}" * 40, request_text)
    assert time.process_time() - begun < 5.0  # it took hours


@pytest.mark.parametrize(
    ("pattern", "request_text", "same"),
    [
        ("Who is {name}?", "who is  Tom Riddle", True),
        ("Who is {name}?", "Who is?", False),
        ("Who is {name}?", "Who was Tom?", False),
        ("From {one} to {other}.", "from Oslo to Rome", True),
        ("From {one} to {other}.", "from Oslo", False),
        ("Which is it?", "which is it", True),
        ("Which is it?", "which is it now", False),
    ],
)
def test_whether_a_request_has_the_words_of_a_pattern(pattern: str, request_text: str, same: bool) -> None:
    assert is_worded_like(pattern, request_text) is same
