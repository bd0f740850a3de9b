"""Programs from models that do not write code: a sentence of a grammar, requested by its schema and compiled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.llm.client.chat import ChatMessage
from agent.llm.program_prompt import build_program_messages
from agent.llm.prompts import PromptFence, load_instructions
from agent.llm.structured_output import ModelPrompter
from agent.programs.grammar.compiling import CompiledSentence, compile_sentence
from agent.programs.grammar.sentence import Sentence
from agent.programs.names import collect_defined_names
from agent.programs.program_request import EARLIER
from agent.programs.protocol import ProgramQuestion, WrittenProgram

_NO_PLAN = "the model gave no plan that can be used"
_MAX_REASON_CHARS = 400


class SentenceAuthor:
    """Author of the programs of one run.

    It keeps the sentence that each program came from, since its model is shown sentences and no code.
    """

    def __init__(self, asker: ModelPrompter, fence: PromptFence) -> None:
        self._prompter = asker
        self._fence = fence
        self._sentences: dict[str, str] = {}

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Return the program of the model's sentence; without a text if it twice gives none that compiles."""
        standing_names = collect_defined_names(one.text for one in question.attempts if one.names_valid)
        available_names = {*([EARLIER] if question.earlier else []), *question.file_names, *standing_names}
        program = CompiledSentence("")

        def check(sentence: Sentence) -> str:
            nonlocal program
            program = compile_sentence(sentence, question.offer, available_names)
            return "; ".join(program.complaints)

        answer, _ = await self._prompter.decide(
            "program_grammar", await self._build_messages(question), Sentence, check
        )
        if answer is None:
            return WrittenProgram(
                "",
                f"{_NO_PLAN}: {'; '.join(program.complaints)}"[:_MAX_REASON_CHARS] if program.complaints else _NO_PLAN,
            )
        self._sentences[program.text] = answer.model_dump_json()
        return WrittenProgram(program.text)

    async def _build_messages(self, question: ProgramQuestion) -> list[ChatMessage]:
        """Build the messages as for code, but with earlier programs shown as their sentences."""
        messages = build_program_messages(question, await load_instructions("program_grammar"), self._fence)
        return [*messages[: len(messages) - 2 * len(question.attempts)], *self._rewrite_earlier(question, messages)]

    def _rewrite_earlier(self, question: ProgramQuestion, messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
        """Yield the messages on earlier attempts, two each, with known programs replaced by their sentences."""
        earlier_messages = messages[len(messages) - 2 * len(question.attempts) :]
        for attempt, program_message, answer in zip(
            question.attempts, earlier_messages[::2], earlier_messages[1::2], strict=True
        ):
            sentence = self._sentences.get(attempt.text)
            if sentence is None:
                yield from (program_message, answer)
            else:
                prefix = f"Your plan became this program:\n{self._fence.render_block('program', attempt.text)}\n\n"
                yield from (replace(program_message, text=sentence), replace(answer, text=prefix + answer.text))
