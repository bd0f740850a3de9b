"""Turn a program's call of ``ask`` into a question that its user can answer."""

from pydantic.types import JsonValue

from agent.programs.protocol import ASK, PendingCall
from agent.text import format_scalar
from agent.user_questions import UserQuestion, build_question
from domain.program import Program

ASK_PARAMETERS = ("question", "choices")
"""Parameters of ``ask``, in order."""
ASK_DECLARATION = f"async def {ASK}(question: str, choices: list[str] = ...) -> str: ..."
"""Declaration of ``ask`` for the type check."""


def build_ask_question(
    call: PendingCall, program: Program, identity: str, *, strangers: bool = False
) -> UserQuestion | None:
    """Return the question that a call of ``ask`` puts; None if its text is empty.

    ``identity``: the same whenever the run is resumed. ``strangers``: the program may have been written by another
    user.
    """
    value = call.arguments.get("question")
    text = value if isinstance(value, str) else ""
    if not text.strip():
        return None
    choices = list_choices(call)
    # Words that are not in the program's text were computed, possibly from a response.
    foreign = any(one not in program.text for one in (text, *choices))
    return build_question(
        identity,
        text,
        choices,
        tainted=program.tainted,
        foreign=foreign,
        program_text=program.text,
        strangers=strangers,
    )


def list_choices(call: PendingCall) -> list[str]:
    """Return the answers that a call proposes, as the program wrote them."""
    choices: JsonValue = call.arguments.get("choices")
    return [one if isinstance(one, str) else format_scalar(one) for one in choices] if isinstance(choices, list) else []
