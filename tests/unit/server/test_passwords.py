"""Which passwords may be set, and how they are kept and compared: by themselves, without a server."""

import asyncio

import pytest
from pwdlib.hashers.argon2 import Argon2Hasher

from domain.errors import BusyError, WeakPasswordError
from server.auth.password_rules import check_password, weakness
from server.auth.passwords import Passwords
from server.watching.secrecy import Secrecy, begin

COMPOSED, DECOMPOSED = "caf\u00e9 corr\u00e9ct", "cafe\u0301 corre\u0301ct"


def _hasher(time_cost: int = 1) -> Argon2Hasher:
    return Argon2Hasher(time_cost=time_cost, memory_cost=8, parallelism=1)


@pytest.mark.parametrize(
    ("password", "name", "weak"),
    [
        ("xkqmvwz", "", True),
        ("xkqmvwzp", "", False),
        ("x k q m v w z", "", True),
        ("abcabcabcabc", "", True),
        ("abcdabcdabcd", "", False),
        ("MargaretXyz", "margaret", True),
        ("Margaretwxyz", "margaret", False),
        ("teragramTERAGRAM", "margaret", True),
        ("teragramxyz", "margaret", True),
        ("password", "", True),
        ("Password", "", True),
        ("password2026!", "", True),
        ("2026password", "", False),
        ("\uff50assword", "", True),
    ],
)
def test_what_is_too_weak(password: str, name: str, weak: bool) -> None:
    assert bool(weakness(password, name)) is weak


def test_a_weak_password_is_told_at_its_place() -> None:
    check_password("four words by chance", "ada", "body.password")
    with pytest.raises(WeakPasswordError) as refused:
        check_password("short", "ada", "body.password")
    assert refused.value.faults == (("body.password", weakness("short", "ada")),)
    assert weakness("short", "ada") in str(refused.value)
    with pytest.raises(WeakPasswordError):
        check_password("ada-ada-x", "ada", "body.password")


async def test_a_password_is_the_one_it_was_and_no_other() -> None:
    passwords = Passwords(_hasher())
    kept = await passwords.hash("four words by chance")
    assert kept != await passwords.hash("four words by chance")
    assert await passwords.verify("four words by chance", kept) == (True, None)
    assert await passwords.verify("four words by Chance", kept) == (False, None)
    assert await passwords.verify("a password that nobody has", None) == (False, None)
    assert await passwords.verify("four words by chance", "no hash of ours") == (False, None)
    assert await passwords.verify("four words", await passwords.hash_of_newcomer("four words")) == (True, None)


async def test_it_does_not_matter_how_a_keyboard_composes_letters() -> None:
    passwords = Passwords(_hasher())
    for kept in (await passwords.hash(DECOMPOSED), await passwords.hash_of_newcomer(DECOMPOSED)):
        for typed in (COMPOSED, DECOMPOSED):
            assert await passwords.verify(typed, kept) == (True, None)


async def test_what_was_hashed_as_it_was_typed_is_hashed_anew() -> None:
    passwords = Passwords(_hasher())
    good, fresh = await passwords.verify(DECOMPOSED, _hasher().hash(DECOMPOSED))
    assert good
    assert fresh is not None
    assert await passwords.verify(COMPOSED, fresh) == (True, None)
    assert await passwords.verify(DECOMPOSED, await passwords.hash("another one")) == (False, None)


async def test_what_was_hashed_with_less_work_is_hashed_anew() -> None:
    good, fresh = await Passwords(_hasher(time_cost=2)).verify("four words", _hasher().hash("four words"))
    assert good
    assert fresh is not None
    assert "t=2" in fresh


async def test_newcomers_wait_for_each_other_and_not_without_end() -> None:
    passwords = Passwords(_hasher())
    for _ in range(2):  # a rush leaves nothing behind that the next one would feel
        answers = await asyncio.gather(
            *(passwords.hash_of_newcomer(f"password {n}") for n in range(12)), return_exceptions=True
        )
        assert [isinstance(one, BusyError) for one in answers] == [False] * 9 + [True] * 3


@pytest.mark.parametrize("use", ["hash", "hash_of_newcomer", "verify"])
async def test_no_log_line_shows_a_password_that_is_in_hand(use: str) -> None:
    begin()
    passwords, arguments = Passwords(_hasher()), ("four words by chance", *([None] if use == "verify" else []))
    await getattr(passwords, use)(*arguments)
    assert "four words" not in Secrecy().clean("somebody typed four words by chance")
