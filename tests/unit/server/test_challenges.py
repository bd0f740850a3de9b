"""Challenges of ``WWW-Authenticate``: several in one header, quoted texts that look like others, and what is no challenge."""

import time

import pytest

from server.oauth.challenges import parse_challenges

CHALLENGES: list[tuple[str, list[tuple[str, dict[str, str]]]]] = [
    ("", []),
    ("Bearer", [("bearer", {})]),
    ('Bearer resource_metadata="https://a/m"', [("bearer", {"resource_metadata": "https://a/m"})]),
    (
        "Bearer resource_metadata=https://a/m, error=x",
        [("bearer", {"resource_metadata": "https://a/m", "error": "x"})],
    ),
    ('BEARER Realm = "a" , Scope="b c"', [("bearer", {"realm": "a", "scope": "b c"})]),
    (
        r'Basic realm="say \"x\", Bearer resource_metadata=\"https://evil/\"", DPoP resource_metadata="https://a/m"',
        [
            ("basic", {"realm": 'say "x", Bearer resource_metadata="https://evil/"'}),
            ("dpop", {"resource_metadata": "https://a/m"}),
        ],
    ),
    ("Negotiate YWJj==, Bearer, Basic realm=x", [("negotiate", {}), ("bearer", {}), ("basic", {"realm": "x"})]),
    ('Bearer realm="open, Basic realm=x', [("bearer", {}), ("basic", {"realm": "x"})]),
    ('"quoted", Bearer a=b', [("bearer", {"a": "b"})]),
    ("Bearer a=b, a=c", [("bearer", {"a": "b"})]),
]


@pytest.mark.parametrize(("header", "expected"), CHALLENGES)
def test_challenges_are_told_apart(header: str, expected: list[tuple[str, dict[str, str]]]) -> None:
    assert [(one.scheme, one.parameters) for one in parse_challenges(header)] == expected


@pytest.mark.parametrize("piece", ['a="', "a=\\", ",", " ", "Bearer ", '="', "a ", "a=b,", '"'])
def test_no_header_takes_long(piece: str) -> None:
    started = time.process_time()
    parse_challenges(f"Bearer {piece * 1_000}"[:4_000])
    assert time.process_time() - started < 1
