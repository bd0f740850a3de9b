"""What a user says of an answer."""

from typing import Literal

Verdict = Literal["right", "wrong"]
