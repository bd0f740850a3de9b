"""What a run asks at a terminal: its question with numbered choices; a text of one's own is an answer too."""

import asyncio
import sys
import termios

from _terminal import next_line
from rich.console import Console
from rich.text import Text

from agent.user_questions import UserQuestion


class TerminalAsker:
    """Asks who sits at the terminal. ``turn``: held while a question is open, so that nothing else is written below it."""

    def __init__(self, console: Console, turn: asyncio.Lock) -> None:
        self._console = console
        self._turn = turn

    async def answer(self, question: UserQuestion) -> str | None:
        """The choice that is typed, or whose number is, or the text; None for an empty line, or where the terminal is closed."""
        async with self._turn:
            self._console.print(Text(f"\n{question.display_text}", "bold yellow"), soft_wrap=True)
            for number, choice in enumerate(question.choices, start=1):
                self._console.print(Text(f"  {number}. {choice}"), soft_wrap=True)
            how = "a choice, its number, or your own words" if question.choices else "your answer"
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
            self._console.print(f"{how}; an empty line leaves it open: ", end="", markup=False)
            said = (await next_line()).strip()
        named = question.resolve_answer(said)
        if named not in question.choices and said.isdecimal() and 1 <= int(said) <= len(question.choices):
            return question.choices[int(said) - 1]
        return named or None
