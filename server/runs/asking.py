"""What a run's request leaves open is asked of its user; the run is put down until the answer is there."""

from hashlib import sha256

from agent.asking import UserQuestion
from domain.event import InputNeeded
from server.runs.questions import Questions


class UserAsker:
    """One run's. A question is asked once, however often the run is taken up: it is known by the call that asks it."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def answer(self, question: UserQuestion) -> str | None:
        """What its user answered; None where they did not want to."""
        asked = InputNeeded(
            input=f"question-{sha256(question.identity.encode()).hexdigest()}",
            asks="question",
            reason=question.framed,
            choices=question.choices,
        )
        async with self._questions.in_turn:
            await self._questions.told()
            answer = await self._questions.answered(asked)
        return str(answer["answer"]) if answer["decision"] == "answer" else None
