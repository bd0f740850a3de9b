"""Check a program before any call is made.

A fault with only one possible correction is repaired; the others are reported to the author.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.programs.analysis.faults import Fault, find_end_faults, find_faults
from agent.programs.analysis.repairs import UnreadableProgram, read_program_text, repair_program_text
from agent.programs.builtin_functions import ASK_DECLARATION, HELPER_DECLARATIONS, HELPER_NAMES
from agent.programs.program_types import ASK, Sandbox
from agent.programs.signatures import PREAMBLE, OfferText, ToolSignature
from domain.python_source import parse_literal
from domain.source_text import SourceText, parse_source
from domain.tool import ToolDoc

_DIAGNOSTIC = re.compile(r"(\d+):(\d+): \w+\[([a-z-]+)\] (.*)")
"""Matches a finding of the type checker: line, column, rule and message."""
_ARGUMENT_MESSAGE = re.compile(r"Argument to function `(\w+)` is incorrect: Expected `(.+)`, found `(.+)`")
_UNKNOWN_KEY_MESSAGE = re.compile(r'Unknown key "(.*?)" for TypedDict `(_(\w+)_(in|out|file)_\d+)`(.*)')
_TYPED_DICT_FIELD = re.compile(r"[{,]'([^']{1,60})':")
_MAX_FIELDS = 12
_NOT_AWAITED = "CoroutineType["
"""Part of a message about a call that was used without ``await``."""
_CERTAIN_RULES = frozenset(
    {"unresolved-attribute", "not-subscriptable", "not-iterable", "unsupported-operator", "invalid-key"}
)
"""Rules whose findings are errors at run time, if all types involved are known."""
_UNCERTAIN_TYPE = re.compile(r"\b(None|Any|Unknown|Never|object)\b")
"""Matches types about which the checker may be wrong."""
_CONTAINER_TYPE = re.compile(r"^(list|dict|tuple|set|CoroutineType|_\w+_(in|out|file)_\d+)\b")
_ANSWER_TYPE = re.compile(r"`_(\w+?)_out_\d+`")
_ROW_TYPE = re.compile(r"`_(\w+?)_file_\d+`")
_LITERAL_LIST = re.compile(r"list\[(Literal\[.*\])\]")
_LITERAL_TYPE = re.compile(r"^Literal\[.*\]( \| None)?$")


def find_type_complaints(
    diagnostics: Sequence[str],
    tools: Mapping[str, ToolSignature],
    docs: Mapping[str, ToolDoc],
    type_definitions: str = "",
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column (from 1, in characters) and sentence of each finding that is certain.

    ``diagnostics`` are lines of the type checker, ``type_definitions`` the definitions of the types of values in files.
    """
    for diagnostic in diagnostics:
        if match := _DIAGNOSTIC.fullmatch(diagnostic):
            rule, message = match[3], match[4]
            if sentence := _to_complaint(rule, message, tools, docs, type_definitions):
                yield int(match[1]), int(match[2]), sentence


def _to_complaint(
    rule: str, message: str, tools: Mapping[str, ToolSignature], docs: Mapping[str, ToolDoc], type_definitions: str
) -> str:
    """Return the sentence for a finding; empty if it is not certain."""
    if _NOT_AWAITED in message:
        return "A call is used before it is awaited: write `await` before it."
    if rule == "invalid-argument-type":
        return _describe_argument(message, tools)
    if rule == "invalid-key":
        return _describe_key(message, tools, docs, type_definitions)
    if (
        rule in _CERTAIN_RULES
        and not _UNCERTAIN_TYPE.search(message)
        and " | " not in message
        and "_in_" not in message
    ):
        return _ROW_TYPE.sub(r"a row of `\1`, which is a dict,", _ANSWER_TYPE.sub(r"what `\1` answers", message)) + "."
    return ""


def _describe_argument(message: str, tools: Collection[str]) -> str:
    """Return the sentence for an argument of the wrong type; empty if the call may still convert it."""
    match = _ARGUMENT_MESSAGE.fullmatch(message)
    if not match or match[1] not in tools:
        return ""
    expected, actual = match[2], match[3]
    if _UNCERTAIN_TYPE.search(actual) or " | " in actual:
        return ""
    item = _LITERAL_LIST.fullmatch(expected)
    allowed = (
        item[1] if item and not _CONTAINER_TYPE.match(actual) else expected
    )  # the call turns a single value into a list of one
    both_literal = _LITERAL_TYPE.fullmatch(allowed) and _LITERAL_TYPE.fullmatch(actual)
    if both_literal and _is_member_by_text(actual, allowed):
        return ""
    if both_literal or bool(_CONTAINER_TYPE.match(expected)) != bool(_CONTAINER_TYPE.match(actual)):
        return f"`{match[1]}` takes {expected}, and is given {actual}."
    return ""  # the call converts a scalar where nothing is lost, and is refused otherwise


def _is_member_by_text(actual: str, expected: str) -> bool:
    """Return True if every value is an allowed one when both are compared as text.

    A call sends ``True`` where ``"true"`` is allowed.
    """
    try:
        members, values = (
            {str(value).casefold() for value in parse_literal(literal.partition(" | ")[0].removeprefix("Literal"))}
            for literal in (expected, actual)
        )
    except (SyntaxError, ValueError):  # the type checker shortens long literals, which then do not parse
        return False
    return values <= members


def _describe_key(
    message: str, tools: Mapping[str, ToolSignature], docs: Mapping[str, ToolDoc], type_definitions: str
) -> str:
    """Return the sentence for an unknown field or column; empty if it may exist.

    A field of a response is certainly wrong if the tool's document has a schema of its responses, or if a known field
    has a similar name. A shape that was learnt from responses may be incomplete.
    """
    match = _UNKNOWN_KEY_MESSAGE.fullmatch(message)
    if not match:
        return ""
    key, type_name, function, side, rest = match.groups()
    if side == "file":
        return f'There is no column "{key}" in the file `{function}`{_list_fields(type_name, type_definitions)}'
    suggestion = re.search(r'did you mean "(.*?)"', rest)
    doc = docs.get(function)
    if not suggestion and side == "out" and not (doc and doc.response_schema and not doc.learnt_response):
        return ""
    place = "what it takes" if side == "in" else f"what `{function}` answers"
    fields = _list_fields(type_name, tools[function].stub) if function in tools else ""
    return f'There is no field "{key}" in {place}{f": did you mean {suggestion[1]!r}?" if suggestion else fields}'


def _list_fields(type_name: str, stub: str) -> str:
    """Return the end of a sentence with the known fields of an object, read from its declaration."""
    line = next((line for line in stub.splitlines() if line.startswith(f"{type_name} = ")), "")
    names = [repr(field) for field in _TYPED_DICT_FIELD.findall(line)][:_MAX_FIELDS]
    return f", but {', '.join(names)}." if names else "."


MAX_COMPLAINTS = 5
"""Maximum number of complaints for an author, who rarely acts on more."""

_PREDEFINED_NAMES = ("ToolError", ASK, "look", "today", *HELPER_NAMES)
_CALLABLE_IMPORT = "from collections.abc import Callable as _Callable"
_BASE_DECLARATIONS = f"ToolError = RuntimeError\ntoday: str\ndef look(*values: Any) -> None: ...\n{ASK_DECLARATION}\n"


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """Result of checking a program."""

    text: str
    """Program to run, repaired where that was safe."""
    complaints: tuple[str, ...] = ()
    """Sentences for the author; none if the program may run."""


@dataclass(frozen=True, slots=True)
class CheckScope:
    """Names that a program may use, with what is known of their types."""

    tools: Mapping[str, ToolSignature]
    """Signatures by function name."""
    docs: Mapping[str, ToolDoc]
    """Documents of the tools by function name."""
    value_types: Mapping[str, str]
    """Variables that already hold values, with their types."""
    declarations: str = ""
    """Declarations of ``other_names`` for the type check."""
    other_names: Collection[str] = ()
    """Names that are neither functions nor hold values."""
    type_definitions: str = ""
    """Definitions of types that ``value_types`` refers to."""

    @property
    def available_names(self) -> set[str]:
        """All names besides the tools."""
        return {*_PREDEFINED_NAMES, *self.value_types, *self.other_names}


async def check_program(
    text: str,
    offer: OfferText,
    docs: Mapping[str, ToolDoc],
    sandbox: Sandbox,
    value_types: Mapping[str, str],
    type_definitions: str = "",
) -> CheckedProgram:
    """Check and repair a program that may call the functions of an offer.

    Arguments:
        text: The program.
        offer: The offered functions.
        docs: Their tools by function name.
        sandbox: Runs the type check.
        value_types: Variables that already hold values, with their types.
        type_definitions: Definitions of types that ``value_types`` refers to.
    """
    readable = read_program_text(text)
    if isinstance(readable, UnreadableProgram):
        return CheckedProgram(text, (readable.complaint,))
    scope = CheckScope(
        {entry.name: entry for entry in offer.signatures}, docs, value_types, type_definitions=type_definitions
    )
    text, _ = repair_program_text(readable, scope.tools, scope.available_names)
    source = parse_source(text)
    faults = [*find_text_faults(source, scope), *find_end_faults(source)]
    # One fault often causes a type error on the same line: report the first cause only.
    lines = {line for (line, _), _ in faults}
    faults += [entry for entry in await find_type_faults(source, scope, sandbox) if entry[0][0] not in lines]
    return CheckedProgram(text, _render_sentences(faults))


async def find_type_faults(source: SourceText, scope: CheckScope, sandbox: Sandbox) -> list[Fault]:
    """Return the findings of the type check that are certain to be errors."""
    function_names = dict.fromkeys(call.name for call in source.calls)
    called_functions = [scope.tools[name] for name in function_names if name in scope.tools]
    declarations = (
        render_stubs(called_functions, scope.value_types, source.bound_names, scope.type_definitions)
        + scope.declarations
    )
    lines = source.text.split("\n")
    return [
        ((line, len(lines[line - 1][: column - 1].encode()) if line <= len(lines) else 0), sentence)
        for line, column, sentence in find_type_complaints(
            await sandbox.find_type_errors(source.text, declarations), scope.tools, scope.docs, scope.type_definitions
        )
    ]


def render_stubs(
    functions: Iterable[ToolSignature],
    value_types: Mapping[str, str],
    defined_names: Collection[str] = (),
    type_definitions: str = "",
) -> str:
    """Return declarations of everything that a program may use, for the type check.

    Arguments:
        functions: The functions that it calls.
        value_types: Variables that already hold values, with their types.
        defined_names: Names that the program itself defines; helpers with these names are not declared.
        type_definitions: Definitions of types that ``value_types`` refers to.
    """
    names = "".join(f"{name}: {kind}\n" for name, kind in value_types.items())
    helpers = [text for name, text in HELPER_DECLARATIONS.items() if name not in {*defined_names, *value_types}]
    return "\n".join(
        (
            PREAMBLE,
            _CALLABLE_IMPORT,
            _BASE_DECLARATIONS,
            *helpers,
            type_definitions + names,
            *(function.stub for function in functions),
        )
    )


def find_text_faults(source: SourceText, scope: CheckScope) -> Iterator[Fault]:
    """Return the faults that can be found without a type check."""
    required = {name: _list_required(signature, scope.docs.get(name)) for name, signature in scope.tools.items()}
    return find_faults(source, scope.tools, scope.available_names, required)


def _list_required(signature: ToolSignature, doc: ToolDoc | None) -> list[str]:
    """Return the required parameters by the function's names for them."""
    required_names = {parameter.name for parameter in doc.parameters if parameter.required} if doc else set[str]()
    return [name for name, parameter in signature.arguments.items() if parameter in required_names]


def _render_sentences(faults: list[Fault]) -> tuple[str, ...]:
    """Return the first ``MAX_COMPLAINTS`` faults, in order of lines, as distinct sentences with line numbers."""
    sentences = dict.fromkeys(
        f"Line {line}: {sentence}" if line else sentence
        for (line, _), sentence in sorted(faults, key=lambda one: one[0][0])
    )
    return tuple(sentences)[:MAX_COMPLAINTS]
