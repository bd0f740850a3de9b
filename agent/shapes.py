"""How alike a code and an example of it are written."""

import re


def likeness(example: str, text: str) -> float:
    """The same pattern of letters and digits as the example's: ``tt0111161`` for ``tt1375666``."""
    if not any(character.isdigit() for character in example):
        return 0.0
    bare = text.lstrip("#")
    if example.isdigit() and bare.isdigit() and abs(len(example) - len(bare)) > 1:
        return -0.2
    return 0.3 if _pattern(example) == _pattern(bare) else 0.1 if len(example) == len(bare) else -0.1


def _pattern(text: str) -> str:
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", text)))
