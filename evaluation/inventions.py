"""Values in an answer that come from nowhere."""

import json
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

from evaluation.values import numbers_in, response_has_number, states_number


def invented(answer: str, request: str, responses: Sequence[str]) -> list[str]:
    """The numbers of an answer that stand neither in the request nor in a response, and count nothing that came back."""
    counted = {0, len(responses), *(n for response in responses for n in _lengths(response))}
    return [
        f"{number:.10g}"
        for number in dict.fromkeys(numbers_in(answer))
        if number not in counted
        and not states_number(request, number, 0)
        and not any(response_has_number(response, number, 0) for response in responses)
    ]


def _lengths(response: str) -> Iterator[int]:
    """Of every list in it."""
    try:
        todo: list[JsonValue] = [json.loads(response)]
    except ValueError:
        return
    while todo:
        match todo.pop():
            case list() as items:
                yield len(items)
                todo += items
            case dict() as fields:
                todo += fields.values()
            case _:
                pass
