"""Functions that every program has besides its tools: helpers for lists, and ``ask``, which asks the user.

The helpers are given because the authors of short programs tend to get them wrong.
"""

from pydantic.types import JsonValue

from agent.programs.program_types import ASK, SandboxCall
from agent.text import format_scalar
from agent.user_questions import UserQuestion, build_user_question
from domain.program import Program

HELPER_NAMES = ("first", "pick")
"""Names of the helpers; no tool has one of them."""

HELPER_DECLARATIONS = {
    "first": "def first[T, D](items: list[T], default: D = None) -> T | D: ...",
    "pick": 'def pick[T](items: list[T], name: str, field: str | _Callable[[T], object] = "name") -> T | None: ...',
}
"""Declarations of the helpers for the type check; one is omitted if a text defines its name."""

PRELUDE_SOURCE = """
def first(items, default=None):
    return items[0] if items else default

def _words(text):
    kept = "".join([c if c.isalnum() else " " for c in str(text).lower()])
    return kept.split()

def _pairs(words):
    found = []
    for word in words:
        padded = " " + word + " "
        found += [padded[at:at + 2] for at in range(len(padded) - 1)]
    return found

def _likeness(one, other):
    ours, theirs = _words(one), _words(other)
    if ours == theirs:
        return 2.0
    if not ours or not theirs:
        return 0.0
    left, right = _pairs(ours), _pairs(theirs)
    rest = list(right)
    shared = 0
    for pair in left:
        if pair in rest:
            rest.remove(pair)
            shared += 1
    within = 1.0 if all([word in theirs for word in ours]) else 0.0
    return max(within, 2.0 * shared / (len(left) + len(right))) + shared / (len(left) + len(right)) / 100

def pick(items, name, field="name"):
    best, most = None, 0.5
    for item in items:
        if isinstance(field, str):
            told = item.get(field) if isinstance(item, dict) else item
        else:
            told = field(item)
        alike = 0.0 if told is None else _likeness(name, told)
        if alike > most:
            best, most = item, alike
    return best
"""
"""Source that a sandbox runs before its first cell.

``first`` returns the first item of a list, or the default. ``pick`` returns the item whose ``field`` (its name, or a
function that returns it) is most similar to a name: the first of equally similar ones, or None if none is similar.
Case and punctuation are ignored. Similarity is the Dice coefficient over pairs of characters; a name whose words all
occur in the item's counts as a match.
"""


ASK_PARAMETERS = ("question", "choices")
"""Parameters of ``ask``, in order."""
ASK_DECLARATION = f"async def {ASK}(question: str, choices: list[str] = ...) -> str: ..."
"""Declaration of ``ask`` for the type check."""


def build_ask_question(
    call: SandboxCall, program: Program, identity: str, *, strangers: bool = False
) -> UserQuestion | None:
    """Return the question that a call of ``ask`` puts; None if its text is empty.

    ``identity``: the same whenever the run is resumed. ``strangers``: the program may have been written by another
    user.
    """
    question_value = call.arguments.get("question")
    text = question_value if isinstance(question_value, str) else ""
    if not text.strip():
        return None
    choices = list_proposed_answers(call)
    # Words that are not in the program's text were computed, possibly from a response.
    foreign = any(words not in program.text for words in (text, *choices))
    return build_user_question(
        identity,
        text,
        choices,
        is_tainted=program.tainted,
        may_quote_response=foreign,
        program_text=program.text,
        has_untrusted_author=strangers,
    )


def list_proposed_answers(call: SandboxCall) -> list[str]:
    """Return the answers that a call proposes, as the program wrote them."""
    choices: JsonValue = call.arguments.get("choices")
    return (
        [choice if isinstance(choice, str) else format_scalar(choice) for choice in choices]
        if isinstance(choices, list)
        else []
    )
