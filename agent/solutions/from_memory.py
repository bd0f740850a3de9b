"""Solutions from memories of earlier versions, which stored a program together with the path of a request."""

import re
from collections.abc import Iterable, Iterator, Mapping

from agent.memory.similarity import KINDS
from agent.plans.request_template import RequestWords, find_names, insert_names
from domain.memory import LegacyMemory
from domain.model import JsonObject
from domain.solution import Solution
from domain.source_text import parse_source
from domain.tool import ToolId

UNNAMED_INPUTS = "it was kept before there were solutions, and nothing tells which words of its request its inputs are"
_NAMED = re.compile(r"\{\w+\}")


def build_solution_from_memory(earlier: LegacyMemory) -> Solution:
    """Return the program of a memory as a solution of the same owner.

    It is suspended if the request does not contain one of its inputs.
    """
    memory, plan = earlier.memory, earlier.program
    text = insert_names(memory.request, [RequestWords(words, name) for name, words in _collect_words(earlier).items()])
    needed = {name for name, schema in plan.inputs.items() if "default" not in schema}
    unnamed_inputs = {name: plan.inputs[name] for name in plan.inputs if name in needed.difference(find_names(text))}
    text = _insert_inputs_by_shape(text, unnamed_inputs)
    return Solution(
        id="",
        owner=memory.owner,
        plan=plan,
        patterns=(text,),
        path=memory.path,
        origin="run",
        suspended="" if needed <= set(find_names(text)) else UNNAMED_INPUTS,
        at=memory.at,
    )


def _collect_words(earlier: LegacyMemory) -> dict[str, str]:
    """Return the words of the request that inputs had as values, as far as the bindings of the calls show them."""
    words_by_name = dict(_find_taken_words(earlier))
    return {name: words for name, words in words_by_name.items() if name in earlier.program.inputs}


def _find_taken_words(earlier: LegacyMemory) -> Iterator[tuple[str, str]]:
    """Yield names of the program with the words of the request that their values came from."""
    program = earlier.program.program
    request_words: dict[ToolId, dict[str, str]] = {
        tool: {one.parameter: one.reference for one in bindings if one.origin == "request" and one.reference}
        for tool, bindings in zip(earlier.memory.path, earlier.memory.bindings, strict=False)
    }
    for call in parse_source(program.text).calls:
        if call.name in program.tools:
            names, words = program.arguments.get(call.name, {}), request_words.get(program.tools[call.name], {})
            for one in call.arguments:
                parameter = names.get(one.name, one.name)
                if one.value.name and parameter in words:
                    yield one.value.name, words[parameter]


def _insert_inputs_by_shape(text: str, unnamed_inputs: Mapping[str, JsonObject]) -> str:
    """Return a text with inputs in place of what looks like their values.

    An input is inserted only if it and one value are the only ones left of their kind (numbers, or anything else), so
    that there is no doubt which belongs to which.
    """
    for number in (True, False):
        names = [
            name for name, schema in unnamed_inputs.items() if (schema.get("type") in ("integer", "number")) is number
        ]
        values = list(dict.fromkeys(_find_values(text, numbers=number)))
        if len(names) == len(values) == 1:
            placeholders = _NAMED.findall(text)
            # Placeholders are hidden, so that the value is not replaced within a name.
            hidden = _NAMED.sub("\0", text)
            hidden = hidden.replace(values[0], f"\1{names[0]}\2")
            parts = iter(placeholders)
            text = re.sub("\0", lambda _, parts=parts: next(parts), hidden).replace("\1", "{").replace("\2", "}")
    return text


def _find_values(text: str, *, numbers: bool) -> Iterable[str]:
    """Yield what looks like a value outside of braces: numbers, or everything else."""
    rest = _NAMED.sub(" , ", text)
    for kind, shape in KINDS:
        if kind != "number" and not numbers:
            yield from (hit[0] for hit in shape.finditer(rest) if kind != "name" or hit[0][0].isupper())
        elif kind == "number" and numbers:
            yield from (hit[0] for hit in shape.finditer(rest))
        rest = shape.sub(" , ", rest) if kind != "name" else rest
