"""Numbers in an answer that have no source."""

import json
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

from evaluation.values import numbers_in, response_has_number, states_number


def invented(answer: str, request: str, responses: Sequence[str]) -> list[str]:
    """Return the numbers of an answer that are neither in the request nor in a response, and count no returned list."""
    counted = {0, len(responses), *(n for response in responses for n in _lengths(response))}
    return [
        f"{number:.10g}"
        for number in dict.fromkeys(numbers_in(answer))
        if number not in counted
        and not states_number(request, number, 0)
        and not any(response_has_number(response, number, 0) for response in responses)
    ]


def _lengths(response: str) -> Iterator[int]:
    """Yield the length of every list in a JSON response."""
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
