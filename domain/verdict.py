"""A user's verdict on an answer."""

from typing import Literal

Verdict = Literal["right", "wrong"]
