"""Which passwords are too weak to be set, said in words for people. Those that are set already stay good.

``common_passwords.txt`` holds those of eight characters and more of the list that comes with Django (BSD licence), which Royce Williams
made of passwords that were leaked.
"""

import unicodedata
from pathlib import Path
from string import digits, punctuation

from domain.errors import WeakPasswordError
from server.storage.identifiers import normalize_name

SHORTEST = 8
_COMMON = frozenset(
    (Path(__file__).parent / "common_passwords.txt").read_text(encoding="utf-8").casefold().splitlines()
)
_DIFFERENT = 4
_BESIDE_THE_NAME = 4


def normal(password: str) -> str:
    """The form in which passwords are compared: the same however a keyboard composes its letters (NFKC, as NIST SP 800-63B says)."""
    return unicodedata.normalize("NFKC", password)


def check_password(password: str, name: str, place: str) -> None:
    """``WeakPasswordError`` where it is one of the first that anybody would try. ``place``: of the password in what was sent."""
    if why := weakness(password, name):
        raise WeakPasswordError(f"this password cannot be used: {why}", ((place, why),))


def weakness(password: str, name: str = "") -> str:
    """Why a password of an account is too weak; empty where it is not."""
    text = "".join(normal(password).casefold().split())
    own = normalize_name(name)
    if len(text) < SHORTEST:
        return f"it has fewer than {SHORTEST} characters beside its blanks; choose a longer one"
    if len(set(text)) < _DIFFERENT:
        return "it repeats a few characters; choose one with more different ones"
    if own and len(text.replace(own, "").replace(own[::-1], "")) < _BESIDE_THE_NAME:
        return "it is little more than the account's name; choose one that the name does not tell"
    if text in _COMMON or text.rstrip(digits + punctuation) in _COMMON:
        return "it is one of the most common passwords, which are tried first; choose another, such as four words by chance"
    return ""
