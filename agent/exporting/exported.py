"""A program prepared for export: self-contained, without secrets, the values of its run as defaults of its inputs."""

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
"""Characters of a program's description, and of names that an error lists."""
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
"""Names that the exported files use themselves."""
_SHAPE = ("type", "description")
"""Schema keywords kept for a secret input: a default, an example or an enum could contain the secret."""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A program that can be written as a file."""

    words: str
    """The request that it serves, with the names of inputs in braces."""
    plan: ProgramPlan
    inputs: Mapping[str, JsonObject]
    """JSON Schema of each input; one with a ``default`` is optional."""
    docs: Mapping[ToolId, ToolDoc]
    """Documents of the tools that it calls."""

    @property
    def name(self) -> str:
        """Name of the exported function, made of ``words``; distinct from the names that the file uses itself."""
        name = to_identifier(re.sub(r"[{}]", "", self.words).lower()[:60], "program")
        return f"{name}_program" if name in _IN_FILES else name

    @property
    def reads(self) -> bool:
        """True if all its tools are known to be safe, so it changes nothing."""
        return all(doc.safe for doc in self.docs.values())


def exported(plan: ProgramPlan, words: str, docs: Mapping[ToolId, ToolDoc]) -> ExportedProgram:
    """Prepare a plan for export; the values of its run become the defaults of its inputs.

    Args:
        plan: the plan.
        words: the request that it serves.
        docs: documents of at least the tools that it calls.

    Raises:
        UsageError: the program uses a name that only a run binds, a tool is gone, its text contains a secret, or an
            input's name is not a valid identifier.
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
    """Check if a name can be written as an identifier.

    Python normalizes identifiers to NFKC, so a name that this changes would become another one.
    """
    written = name.isidentifier() and not iskeyword(name) and name != "__debug__"
    return written and unicodedata.normalize("NFKC", name) == name


def _schema(name: str, plan: ProgramPlan, *, secret: bool) -> JsonObject:
    """Return an input's schema without Footpath's own keywords, with the run's value as default unless it is secret."""
    schema = {key: one for key, one in plan.inputs[name].items() if key not in (PARAMETER, SHAPE_KEYWORD)}
    if secret:
        return {key: one for key, one in schema.items() if key in _SHAPE}
    return {**schema, "default": plan.values[name]} if name in plan.values else schema


def _secret_inputs(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> set[str]:
    """Find the inputs whose values reach a secret parameter of a tool.

    Raises:
        UsageError: a literal in the program does, so the file would contain the secret.
    """
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
    """Yield the arguments of a call that are passed to secret parameters."""
    tool = docs.get(plan.program.tools.get(call.name, ToolId("")))
    names = plan.program.arguments.get(call.name, {})
    known = {one.name: one for one in tool.parameters} if tool else {}
    for one in call.arguments:
        parameter = known.get(names.get(one.name, one.name))
        if parameter is not None and need_of(parameter).kind == "secret":
            yield one.value, parameter
