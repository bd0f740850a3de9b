"""What looks like a secret by its form, and what does not."""

import pytest

from agent.execution.redaction import contains_secret


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1111",
        "it is 5500-0000-0000-0004, thanks",
        "378282246310005",
        "sk_live_51Habc9dEfGhIjKlMn0p",
        "my key: AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ],
)
def test_keys_and_card_numbers_are_told_by_their_form(text: str) -> None:
    assert contains_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "Oslo",
        "the second one, please",
        "2026-11-28",
        "4111 1111 1111 1112",
        "+47 22 12 34 56",
        "978-3-16-148410-0",
        "01a22395-1ebc-7c4b-93e8-86e3d189c44a",
        "https://example.com/a-long-title-of-2026/page-2",
        "Donaudampfschifffahrtsgesellschaft",
    ],
)
def test_what_people_answer_is_none(text: str) -> None:
    assert not contains_secret(text)
