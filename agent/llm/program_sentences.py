"""Programs from models that write no code: a sentence of a grammar, requested by its schema and compiled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.llm.client.chat import Message
from agent.llm.program_text import program_messages
from agent.llm.prompts import Fence, instructions
from agent.llm.structured_output import Asker
from agent.programs.earlier import EARLIER
from agent.programs.grammar.compiling import Compiled, compiled
from agent.programs.grammar.sentence import Sentence
from agent.programs.names import names_left
from agent.programs.protocol import ProgramQuestion, WrittenProgram

_NONE = "the model gave no plan that can be used"
_SAID = 400


class SentenceAuthor:
    """Author of the programs of one run.

    It keeps the sentence that each program came from, since its model is shown sentences and no code.
    """

    def __init__(self, asker: Asker, fence: Fence) -> None:
        self._ask = asker
        self._fence = fence
        self._sentences: dict[str, str] = {}

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Return the program of the model's sentence; without a text if it twice gives none that compiles."""
        standing = names_left(one.text for one in question.attempts if one.stands)
        given = {*([EARLIER] if question.earlier else []), *question.file_names, *standing}
        made = Compiled("")

        def complaint(sentence: Sentence) -> str:
            nonlocal made
            made = compiled(sentence, question.offer, given)
            return "; ".join(made.complaints)

        answer, _ = await self._ask.decide("program_grammar", await self._messages(question), Sentence, complaint)
        if answer is None:
            return WrittenProgram("", f"{_NONE}: {'; '.join(made.complaints)}"[:_SAID] if made.complaints else _NONE)
        self._sentences[made.text] = answer.model_dump_json()
        return WrittenProgram(made.text)

    async def _messages(self, question: ProgramQuestion) -> list[Message]:
        """Build the messages as for code, but with earlier programs shown as their sentences."""
        messages = program_messages(question, await instructions("program_grammar"), self._fence)
        return [*messages[: len(messages) - 2 * len(question.attempts)], *self._earlier(question, messages)]

    def _earlier(self, question: ProgramQuestion, messages: Sequence[Message]) -> Iterator[Message]:
        told = messages[len(messages) - 2 * len(question.attempts) :]
        for attempt, said, answer in zip(question.attempts, told[::2], told[1::2], strict=True):
            own = self._sentences.get(attempt.text)
            if own is None:
                yield from (said, answer)
            else:
                became = f"Your plan became this program:\n{self._fence.block('program', attempt.text)}\n\n"
                yield from (replace(said, text=own), replace(answer, text=became + answer.text))
