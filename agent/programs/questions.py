"""Questions of a program to its user: a call of ``ask`` as a question that a person can answer."""

from pydantic.types import JsonValue

from agent.asking import UserQuestion, question
from agent.programs.protocol import ASK, PendingCall
from agent.text import shown
from domain.program import Program

PARAMETERS = ("question", "choices")
"""Parameters of ``ask``, in order."""
DECLARED = f"async def {ASK}(question: str, choices: list[str] = ...) -> str: ..."


def asked(call: PendingCall, program: Program, identity: str, *, strangers: bool = False) -> UserQuestion | None:
    """Return the question of a call, or None if it asks nothing.

    ``strangers``: the program may be another user's.
    """
    told = call.arguments.get("question")
    text = told if isinstance(told, str) else ""
    if not text.strip():
        return None
    choices = proposed(call)
    # Words that are not in the program's text were computed, possibly from responses.
    foreign = any(one not in program.text for one in (text, *choices))
    return question(
        identity, text, choices, tainted=program.tainted, foreign=foreign, own=program.text, strangers=strangers
    )


def proposed(call: PendingCall) -> list[str]:
    """Return the answers that a call proposes, as the program wrote them."""
    given: JsonValue = call.arguments.get("choices")
    return [one if isinstance(one, str) else shown(one) for one in given] if isinstance(given, list) else []
