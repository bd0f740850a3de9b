"""Questions of a run to its user about what the request leaves open.

The run is released until the answer is there.
"""

from hashlib import sha256

from agent.asking import UserQuestion
from domain.event import InputNeeded
from server.runs.questions import Questions

_BY_ANOTHER = (
    " It was written by the author of the template or solution, who is not you, and so is where your answer goes. "
    "Tell it no password, no key and no card number."
)


BY_ANOTHER = "by_another"
"""Key in a stored question: another user may have written the program that asks it."""


class UserAsker:
    """Asks the user of one run.

    Each question is asked once, however often the run is resumed: the asking call identifies it.
    """

    def __init__(self, questions: Questions, *, by_another: bool = False) -> None:
        """Create the asker.

        ``by_another``: the plan and its questions were written by another user, the author of a template.
        """
        self._questions = questions
        self.by_another = by_another

    async def answer(self, question: UserQuestion) -> str | None:
        """Return the user's answer; None where they did not want to answer."""
        by_another = self.by_another or question.strangers
        asked = InputNeeded(
            input=f"question-{sha256(question.identity.encode()).hexdigest()}",
            asks="question",
            reason=f"{question.framed}{_BY_ANOTHER if self.by_another and not question.strangers else ''}",
            choices=question.choices,
        )
        async with self._questions.in_turn:
            await self._questions.told()
            answer = await self._questions.answered(asked, {"theirs": sorted(question.theirs), BY_ANOTHER: by_another})
        return str(answer["answer"]) if answer["decision"] == "answer" else None
