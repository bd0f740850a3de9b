"""A program prepared for export: self-contained, without secrets, the values of its run as defaults of its inputs."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword

from agent.parameter_needs import derive_need
from agent.plans.plan_compilation import PARAMETER_KEYWORD, has_own_answer
from agent.programs.analysis.constants import find_value_parts
from agent.programs.function_names import RESERVED_NAMES, to_identifier
from agent.programs.program_request import EARLIER
from agent.programs.sandbox_cell import FILL, LOOK, NAMED
from agent.solutions.plain_values import SHAPE_KEYWORD
from agent.text import clean_text
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import SourceCall, SourceExpression, parse_source
from domain.tool import Parameter, ToolDoc, ToolId

_MAX_TEXT_CHARS = 300
"""Characters of a program's description, and of names that an error lists."""
_NAMES_IN_FILES = RESERVED_NAMES | {
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
_SECRET_INPUT_KEYWORDS = ("type", "description")
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
        return f"{name}_program" if name in _NAMES_IN_FILES else name

    @property
    def is_read_only(self) -> bool:
        """True if all its tools are known to be safe, so it changes nothing."""
        return all(doc.safe for doc in self.docs.values())


def build_exported_program(plan: ProgramPlan, words: str, docs: Mapping[ToolId, ToolDoc]) -> ExportedProgram:
    """Prepare a plan for export; the values of its run become the defaults of its inputs.

    Args:
        plan: the plan.
        words: the request that it serves.
        docs: documents of at least the tools that it calls.

    Raises:
        UsageError: the program uses a name that only a run binds, a tool is gone, its text contains a secret, or an
            input's name is not a valid identifier.
    """
    text, called_tools = plan.program.text, set(plan.program.tools.values())
    open_names = sorted({FILL, NAMED, LOOK, EARLIER} & parse_source(text).read_names)
    if open_names:
        raise UsageError(
            f"the program leaves open what {open_names[0]} stands for, which only a run of Footpath finds: export one without"
        )
    if missing_tools := sorted(called_tools - docs.keys()):
        raise UsageError(
            f"no such tool is known any more: {', '.join(missing_tools)[:_MAX_TEXT_CHARS]}; import it again"
        )
    if not has_own_answer(plan.program) and not plan.program.tools:
        raise UsageError("it called nothing that went well, so there is nothing to export: ask anew")
    if invalid_names := [name for name in plan.inputs if not _is_writable_name(name)]:
        raise UsageError(
            f"the input {clean_text(repr(invalid_names[0]), _MAX_TEXT_CHARS)} has a name that Python cannot have: give it another"
        )
    secret_inputs = _find_secret_inputs(plan, docs)
    inputs = {name: _build_input_schema(name, plan, secret=name in secret_inputs) for name in plan.inputs}
    description = clean_text(words, _MAX_TEXT_CHARS) or "A program of Footpath"
    return ExportedProgram(description, plan, inputs, {tool: docs[tool] for tool in sorted(called_tools)})


def _is_writable_name(name: str) -> bool:
    """Check if a name can be written as an identifier.

    Python normalizes identifiers to NFKC, so a name that this changes would become another one.
    """
    is_identifier = name.isidentifier() and not iskeyword(name) and name != "__debug__"
    return is_identifier and unicodedata.normalize("NFKC", name) == name


def _build_input_schema(name: str, plan: ProgramPlan, *, secret: bool) -> JsonObject:
    """Return an input's schema without Footpath's own keywords, with the run's value as default unless it is secret."""
    schema = {key: value for key, value in plan.inputs[name].items() if key not in (PARAMETER_KEYWORD, SHAPE_KEYWORD)}
    if secret:
        return {key: value for key, value in schema.items() if key in _SECRET_INPUT_KEYWORDS}
    return {**schema, "default": plan.values[name]} if name in plan.values else schema


def _find_secret_inputs(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> set[str]:
    """Find the inputs whose values reach a secret parameter of a tool.

    Raises:
        UsageError: a literal in the program does, so the file would contain the secret.
    """
    source = parse_source(plan.program.text)
    names = set[str]()
    for call in source.calls:
        for value, parameter in _iterate_secret_arguments(call, plan, docs):
            for part in find_value_parts(value, source):
                names |= {part.name} & plan.inputs.keys()
                if not part.name and part.value not in ("", None):
                    raise UsageError(
                        f"line {part.line} of the program gives {parameter.name} a value that may be a secret, and no file is to"
                        " hold one: make it an input, or leave it to the settings"
                    )
    return names


def _iterate_secret_arguments(
    call: SourceCall, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[SourceExpression, Parameter]]:
    """Yield the arguments of a call that are passed to secret parameters."""
    tool = docs.get(plan.program.tools.get(call.name, ToolId("")))
    names = plan.program.arguments.get(call.name, {})
    parameters = {parameter_doc.name: parameter_doc for parameter_doc in tool.parameters} if tool else {}
    for argument in call.arguments:
        parameter = parameters.get(names.get(argument.name, argument.name))
        if parameter is not None and derive_need(parameter).kind == "secret":
            yield argument.value, parameter
