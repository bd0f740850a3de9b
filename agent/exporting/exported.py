"""A program as it leaves Footpath: its inputs with the values of its run as defaults, and nothing that must stay."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword

from agent.parameters.needs import need_of
from agent.plans.compilation import PARAMETER, has_own_answer
from agent.programs.analysis.constants import find_value_parts
from agent.programs.names import RESERVED_NAMES, to_identifier
from agent.programs.program_request import EARLIER
from agent.programs.sandbox_cell import FILL, LOOK, NAMED
from agent.solutions.plain_values import SHAPE_KEYWORD
from agent.text import clean
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import SourceCall, SourceExpression, parse_source
from domain.tool import Parameter, ToolDoc, ToolId

_LONGEST = 300
_IN_FILES = RESERVED_NAMES | {
    "answer",
    "argparse",
    "asynccontextmanager",
    "context",
    "footpath",
    "given",
    "main",
    "node",
    "opened",
    "server",
    "state",
}
_SHAPE = ("type", "description")
"""What is told of an input that takes a secret."""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """``words``: what it serves, the names of inputs in braces. ``inputs``: their JSON Schemas; those with a ``default`` may be left out. ``docs``: of the
    tools that it calls.
    """

    words: str
    plan: ProgramPlan
    inputs: Mapping[str, JsonObject]
    docs: Mapping[ToolId, ToolDoc]

    @property
    def name(self) -> str:
        """The name of its function, by its words; never one that an exported file uses otherwise."""
        name = to_identifier(re.sub(r"[{}]", "", self.words).lower()[:60], "program")
        return f"{name}_program" if name in _IN_FILES else name

    @property
    def reads(self) -> bool:
        """Whether it is known to change nothing."""
        return all(doc.safe for doc in self.docs.values())


def exported(plan: ProgramPlan, words: str, docs: Mapping[ToolId, ToolDoc]) -> ExportedProgram:
    """A plan with its values as defaults. ``docs``: of its tools at least.

    Raises:
        UsageError: it leaves something open, its tools are not there any more, a secret stands in its text, or an input has a name that is none
            of Python.
    """
    text, called = plan.program.text, set(plan.program.tools.values())
    open_ = sorted({FILL, NAMED, LOOK, EARLIER} & parse_source(text).uses)
    if open_:
        raise UsageError(
            f"the program leaves open what {open_[0]} stands for, which only a run of Footpath finds: export one without"
        )
    if gone := sorted(called - docs.keys()):
        raise UsageError(f"no such tool is known any more: {', '.join(gone)[:_LONGEST]}; import it again")
    if not has_own_answer(plan.program) and not plan.program.tools:
        raise UsageError("it called nothing that went well, so there is nothing to export: ask anew")
    if wrong := [name for name in plan.inputs if not _is_name(name)]:
        raise UsageError(
            f"the input {clean(repr(wrong[0]), _LONGEST)} has a name that Python cannot have: give it another"
        )
    secret = _secret_inputs(plan, docs)
    inputs = {name: _schema(name, plan, secret=name in secret) for name in plan.inputs}
    told = clean(words, _LONGEST) or "A program of Footpath"
    return ExportedProgram(told, plan, inputs, {tool: docs[tool] for tool in sorted(called)})


def _is_name(name: str) -> bool:
    """Whether an exported file can write a name as code. Python would read one that NFKC changes as another."""
    written = name.isidentifier() and not iskeyword(name) and name != "__debug__"
    return written and unicodedata.normalize("NFKC", name) == name


def _schema(name: str, plan: ProgramPlan, *, secret: bool) -> JsonObject:
    schema = {key: one for key, one in plan.inputs[name].items() if key not in (PARAMETER, SHAPE_KEYWORD)}
    if secret:
        return {key: one for key, one in schema.items() if key in _SHAPE}
    return {**schema, "default": plan.values[name]} if name in plan.values else schema


def _secret_inputs(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> set[str]:
    """The inputs that reach a parameter which takes a secret. ``UsageError``: a text of the program itself does."""
    source = parse_source(plan.program.text)
    found = set[str]()
    for call in source.calls:
        for value, parameter in _secret_arguments(call, plan, docs):
            for part in find_value_parts(value, source):
                found |= {part.name} & plan.inputs.keys()
                if not part.name and part.value not in ("", None):
                    raise UsageError(
                        f"line {part.line} of the program gives {parameter.name} a value that may be a secret, and no file is to"
                        " hold one: make it an input, or leave it to the settings"
                    )
    return found


def _secret_arguments(
    call: SourceCall, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[SourceExpression, Parameter]]:
    tool = docs.get(plan.program.tools.get(call.name, ToolId("")))
    names = plan.program.arguments.get(call.name, {})
    known = {one.name: one for one in tool.parameters} if tool else {}
    for one in call.arguments:
        parameter = known.get(names.get(one.name, one.name))
        if parameter is not None and need_of(parameter).kind == "secret":
            yield one.value, parameter
