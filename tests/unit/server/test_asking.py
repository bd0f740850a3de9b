"""A question of another user's template says so."""

import asyncio
from typing import Any, cast

import pytest

from agent.user_questions import build_user_question
from domain.event import InputNeeded
from server.runs.questions import DurableQuestions, UserAsker


class Answered:
    """Questions that are answered at once. ``asked``: what was shown."""

    def __init__(self) -> None:
        self.turn_lock = asyncio.Lock()
        self.asked: list[InputNeeded] = []

    async def flush_events(self) -> None:
        """Nothing is left to be stored."""

    async def ask(self, asked: InputNeeded, besides: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(asked)
        return {"decision": "answer", "answer": "7", **besides}


@pytest.mark.parametrize("by_another", [True, False])
async def test_a_question_of_anothers_template_says_so(by_another: bool) -> None:
    questions = Answered()
    asker = UserAsker(cast("DurableQuestions", questions), by_another=by_another)
    assert await asker.answer(build_user_question("1", "Your PIN?")) == "7"
    assert ("the author of the template or solution, who is not you" in questions.asked[0].reason) == by_another
