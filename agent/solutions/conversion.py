"""Solutions from plans that people make, with the requests that they serve, and from memories of earlier versions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from agent.memory.request_patterns import VALUE_KINDS
from agent.plans.plan_compilation import has_own_answer
from agent.plans.plan_inputs import map_shown_names
from agent.plans.request_words import RequestWords, find_placeholders, insert_placeholders
from agent.programs.program_request import EARLIER
from agent.programs.sandbox_cell import FILL, NAMED
from agent.solutions.extraction import collect_called_tools
from agent.text import clean_text
from domain.errors import UsageError
from domain.memory import LegacyMemory
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionOrigin
from domain.source_text import parse_source
from domain.tool import ToolId


def build_solution_from_plan(
    plan: ProgramPlan, patterns: Sequence[str], owner: str, origin: SolutionOrigin, *, runs: Sequence[str] = ()
) -> Solution:
    """Return a plan as a solution.

    Args:
        plan: the plan.
        patterns: the requests that it serves, with the shown names of its inputs in braces.
        owner: owner of the solution.
        origin: where the plan comes from.
        runs: runs that the plan served.

    Raises:
        UsageError: the plan leaves values open or has no answer of its own, or the patterns do not name its inputs.
    """
    if wrong := next(_find_plan_faults(plan, patterns), ""):
        raise UsageError(wrong)
    shown_names = map_shown_names(plan)
    own_patterns = tuple(dict.fromkeys(_restore_input_names(pattern, shown_names) for pattern in patterns))
    inputs = plan.inputs
    if origin != "person":
        inputs = {name: _drop_run_default(name, schema, own_patterns) for name, schema in inputs.items()}
    bare_plan = plan.model_copy(update={"values": {}, "inputs": inputs})
    path = collect_called_tools(plan.program)
    return Solution(
        id="new", owner=owner, plan=bare_plan, patterns=own_patterns, path=path, origin=origin, runs=tuple(runs), at=datetime.now(UTC)
    )  # fmt: skip


def _drop_run_default(name: str, schema: JsonObject, patterns: Sequence[str]) -> JsonObject:
    """Return the schema of an input, without its default if every pattern names the input.

    Such a default is only the value of the run that the plan came from.
    """
    is_always_named = all(name in find_placeholders(pattern) for pattern in patterns)
    return {key: value for key, value in schema.items() if not (is_always_named and key == "default")}


def _find_plan_faults(plan: ProgramPlan, patterns: Sequence[str]) -> Iterator[str]:
    """Yield why a plan cannot be a solution, and what to do about it."""
    text, shown_names = plan.program.text, map_shown_names(plan)
    open_names = sorted({FILL, NAMED, EARLIER} & parse_source(text).read_names)
    if open_names:
        yield f"the program leaves open what {open_names[0]} stands for; a solution finds all of its values in its inputs and its calls"
    if not has_own_answer(plan.program):
        yield "the program makes no answer of its own; end it with what it answers"
    if not patterns:
        yield "say which requests it serves, in one pattern at least, as: How many inhabitants does {city} have?"
    for pattern in patterns:
        shown_pattern = clean_text(pattern, 200)
        pattern_names = find_placeholders(pattern)
        if unknown := [name for name in pattern_names if name not in shown_names]:
            yield f"the pattern {shown_pattern!r} names {unknown[0][:80]}, which is no input; there are {', '.join(shown_names) or 'none'}"
        missing = [
            shown_name
            for shown_name, name in shown_names.items()
            if shown_name not in pattern_names and "default" not in plan.inputs[name]
        ]
        if missing:
            yield f"the pattern {shown_pattern!r} does not say where the value of {missing[0][:80]} stands: put {{{missing[0][:80]}}} there, or give it a default"


def _restore_input_names(pattern: str, shown_names: dict[str, str]) -> str:
    """Return a pattern with the names that inputs have in the program, in place of the shown ones."""
    for shown_name, own_name in shown_names.items():
        pattern = pattern.replace(f"{{{shown_name}}}", f"{{{own_name}}}")
    return pattern


UNNAMED_INPUTS_REASON = (
    "it was kept before there were solutions, and nothing tells which words of its request its inputs are"
)
_NAMED_INPUT = re.compile(r"\{\w+\}")


def build_solution_from_memory(earlier: LegacyMemory) -> Solution:
    """Return the program of a memory as a solution of the same owner.

    It is suspended if the request does not contain one of its inputs.
    """
    memory, plan = earlier.memory, earlier.program
    text = insert_placeholders(
        memory.request, [RequestWords(words, name) for name, words in _collect_words(earlier).items()]
    )
    needed = {name for name, schema in plan.inputs.items() if "default" not in schema}
    unnamed_inputs = {
        name: plan.inputs[name] for name in plan.inputs if name in needed.difference(find_placeholders(text))
    }
    text = _insert_inputs_by_shape(text, unnamed_inputs)
    return Solution(
        id="",
        owner=memory.owner,
        plan=plan,
        patterns=(text,),
        path=memory.path,
        origin="run",
        suspended="" if needed <= set(find_placeholders(text)) else UNNAMED_INPUTS_REASON,
        at=memory.at,
    )


def _collect_words(earlier: LegacyMemory) -> dict[str, str]:
    """Return the words of the request that inputs had as values, as far as the bindings of the calls show them."""
    words_by_name = dict(_find_bound_words(earlier))
    return {name: words for name, words in words_by_name.items() if name in earlier.program.inputs}


def _find_bound_words(earlier: LegacyMemory) -> Iterator[tuple[str, str]]:
    """Yield names of the program with the words of the request that their values came from."""
    program = earlier.program.program
    request_words: dict[ToolId, dict[str, str]] = {
        tool: {
            binding.parameter: binding.reference
            for binding in bindings
            if binding.origin == "request" and binding.reference
        }
        for tool, bindings in zip(earlier.memory.path, earlier.memory.bindings, strict=False)
    }
    for call in parse_source(program.text).calls:
        if call.name in program.tools:
            names, words = program.arguments.get(call.name, {}), request_words.get(program.tools[call.name], {})
            for argument in call.arguments:
                parameter = names.get(argument.name, argument.name)
                if argument.value.name and parameter in words:
                    yield argument.value.name, words[parameter]


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
            placeholders = _NAMED_INPUT.findall(text)
            # Placeholders are hidden, so that the value is not replaced within a name.
            hidden = _NAMED_INPUT.sub("\0", text)
            hidden = hidden.replace(values[0], f"\1{names[0]}\2")
            parts = iter(placeholders)
            text = re.sub("\0", lambda _, parts=parts: next(parts), hidden).replace("\1", "{").replace("\2", "}")
    return text


def _find_values(text: str, *, numbers: bool) -> Iterable[str]:
    """Yield what looks like a value outside of braces: numbers, or everything else."""
    rest = _NAMED_INPUT.sub(" , ", text)
    for kind, shape in VALUE_KINDS:
        if kind != "number" and not numbers:
            yield from (hit[0] for hit in shape.finditer(rest) if kind != "name" or hit[0][0].isupper())
        elif kind == "number" and numbers:
            yield from (hit[0] for hit in shape.finditer(rest))
        rest = shape.sub(" , ", rest) if kind != "name" else rest
