"""The wording of an answer that a program computed: the words are the model's, the values stay the program's."""

import re

from agent.llm.answer_stream import LONGEST, Spoken
from agent.llm.client.chat import Reply
from agent.llm.prompts import Fence
from agent.llm.rendering import request_text
from domain.errors import InvalidDecisionError

_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")


def phrase_text(request: str, answer: str, fence: Fence) -> tuple[str, ...]:
    """The request and the answer."""
    return (request_text(request, fence), fence.block("answer", answer), "In words?")


def phrased(reply: Reply, request: str, answer: str) -> str:
    """What the model said, without its thoughts; the answer as it stands where that is cut off, empty, or holds a figure of its own."""
    spoken = Spoken()
    try:
        words = spoken.add(reply.text).strip()
    except InvalidDecisionError:
        return answer
    if reply.cut or not words or len(words) >= LONGEST:
        return answer
    known = {_digits(figure) for figure in _FIGURE.findall(f"{request} {answer}")}
    own = [figure for figure in _FIGURE.findall(words) if _digits(figure) not in known]
    return answer if own else words


def _digits(figure: str) -> str:
    """A figure without the signs that languages write it with."""
    return re.sub(r"\D", "", figure)
