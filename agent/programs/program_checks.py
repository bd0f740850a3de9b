"""Check a program before any call is made.

A fault with only one possible correction is repaired; the others are reported to the author.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.programs.analysis.faults import Fault, find_end_faults, find_faults
from agent.programs.analysis.program_reader import UnreadableProgram, read_program_text
from agent.programs.analysis.repairs import repair
from agent.programs.prelude import HELPER_DECLARATIONS, HELPER_NAMES
from agent.programs.protocol import ASK, Sandbox
from agent.programs.questions import ASK_DECLARATION
from agent.programs.signatures import PREAMBLE, OfferText, ToolSignature
from domain.python_source import parse_literal
from domain.source_text import SourceText, parse_source
from domain.tool import ToolDoc

_LINE = re.compile(r"(\d+):(\d+): \w+\[([a-z-]+)\] (.*)")
"""Matches a finding of the type checker: line, column, rule and message."""
_ARGUMENT = re.compile(r"Argument to function `(\w+)` is incorrect: Expected `(.+)`, found `(.+)`")
_KEY = re.compile(r'Unknown key "(.*?)" for TypedDict `(_(\w+)_(in|out|file)_\d+)`(.*)')
_FIELD = re.compile(r"[{,]'([^']{1,60})':")
_SHOWN = 12
_FORGOTTEN = "CoroutineType["
"""Part of a message about a call that was used without ``await``."""
_SURE = frozenset({"unresolved-attribute", "not-subscriptable", "not-iterable", "unsupported-operator", "invalid-key"})
"""Rules whose findings are errors at run time, if all types involved are known."""
_OPEN = re.compile(r"\b(None|Any|Unknown|Never|object)\b")
"""Matches types about which the checker may be wrong."""
_CONTAINER = re.compile(r"^(list|dict|tuple|set|CoroutineType|_\w+_(in|out|file)_\d+)\b")
_ANSWER = re.compile(r"`_(\w+?)_out_\d+`")
_ROW = re.compile(r"`_(\w+?)_file_\d+`")
_LIST_OF = re.compile(r"list\[(Literal\[.*\])\]")
_LITERAL = re.compile(r"^Literal\[.*\]( \| None)?$")


def find_type_complaints(
    diagnostics: Sequence[str], tools: Mapping[str, ToolSignature], docs: Mapping[str, ToolDoc], types: str = ""
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column (from 1, in characters) and sentence of each finding that is certain.

    ``diagnostics`` are lines of the type checker, ``types`` the definitions of the types of values in files.
    """
    for diagnostic in diagnostics:
        if match := _LINE.fullmatch(diagnostic):
            rule, message = match[3], match[4]
            if sentence := _to_complaint(rule, message, tools, docs, types):
                yield int(match[1]), int(match[2]), sentence


def _to_complaint(
    rule: str, message: str, tools: Mapping[str, ToolSignature], docs: Mapping[str, ToolDoc], types: str
) -> str:
    """Return the sentence for a finding; empty if it is not certain."""
    if _FORGOTTEN in message:
        return "A call is used before it is awaited: write `await` before it."
    if rule == "invalid-argument-type":
        return _describe_argument(message, tools)
    if rule == "invalid-key":
        return _describe_key(message, tools, docs, types)
    if rule in _SURE and not _OPEN.search(message) and " | " not in message and "_in_" not in message:
        return _ROW.sub(r"a row of `\1`, which is a dict,", _ANSWER.sub(r"what `\1` answers", message)) + "."
    return ""


def _describe_argument(message: str, tools: Collection[str]) -> str:
    """Return the sentence for an argument of the wrong type; empty if the call may still convert it."""
    match = _ARGUMENT.fullmatch(message)
    if not match or match[1] not in tools:
        return ""
    expected, actual = match[2], match[3]
    if _OPEN.search(actual) or " | " in actual:
        return ""
    item = _LIST_OF.fullmatch(expected)
    allowed = (
        item[1] if item and not _CONTAINER.match(actual) else expected
    )  # the call turns a single value into a list of one
    closed = _LITERAL.fullmatch(allowed) and _LITERAL.fullmatch(actual)
    if closed and _is_member_by_text(actual, allowed):
        return ""
    if closed or bool(_CONTAINER.match(expected)) != bool(_CONTAINER.match(actual)):
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


def _describe_key(message: str, tools: Mapping[str, ToolSignature], docs: Mapping[str, ToolDoc], types: str) -> str:
    """Return the sentence for an unknown field or column; empty if it may exist.

    A field of a response is certainly wrong if the tool's document has a schema of its responses, or if a known field
    has a similar name. A shape that was learnt from responses may be incomplete.
    """
    match = _KEY.fullmatch(message)
    if not match:
        return ""
    key, kind, function, side, rest = match.groups()
    if side == "file":
        return f'There is no column "{key}" in the file `{function}`{_list_fields(kind, types)}'
    alike = re.search(r'did you mean "(.*?)"', rest)
    doc = docs.get(function)
    if not alike and side == "out" and not (doc and doc.response_schema and not doc.learnt_response):
        return ""
    place = "what it takes" if side == "in" else f"what `{function}` answers"
    fields = _list_fields(kind, tools[function].stub) if function in tools else ""
    return f'There is no field "{key}" in {place}{f": did you mean {alike[1]!r}?" if alike else fields}'


def _list_fields(kind: str, stub: str) -> str:
    """Return the end of a sentence with the known fields of an object, read from its declaration."""
    line = next((line for line in stub.splitlines() if line.startswith(f"{kind} = ")), "")
    names = [repr(one) for one in _FIELD.findall(line)][:_SHOWN]
    return f", but {', '.join(names)}." if names else "."


MAX_COMPLAINTS = 5
"""Maximum number of complaints for an author, who rarely acts on more."""

_PREDEFINED = ("ToolError", ASK, "look", "today", *HELPER_NAMES)
_CALLABLE = "from collections.abc import Callable as _Callable"
_DECLARED = f"ToolError = RuntimeError\ntoday: str\ndef look(*values: Any) -> None: ...\n{ASK_DECLARATION}\n"


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
    declared: str = ""
    """Declarations of ``other_names`` for the type check."""
    other_names: Collection[str] = ()
    """Names that are neither functions nor hold values."""
    types: str = ""
    """Definitions of types that ``value_types`` refers to."""

    @property
    def available_names(self) -> set[str]:
        """All names besides the tools."""
        return {*_PREDEFINED, *self.value_types, *self.other_names}


async def check(
    text: str,
    offer: OfferText,
    docs: Mapping[str, ToolDoc],
    sandbox: Sandbox,
    value_types: Mapping[str, str],
    declared: str = "",
) -> CheckedProgram:
    """Check and repair a program that may call the functions of an offer.

    Arguments:
        text: The program.
        offer: The offered functions.
        docs: Their tools by function name.
        sandbox: Runs the type check.
        value_types: Variables that already hold values, with their types.
        declared: Definitions of types that ``value_types`` refers to.
    """
    readable = read_program_text(text)
    if isinstance(readable, UnreadableProgram):
        return CheckedProgram(text, (readable.complaint,))
    known = CheckScope({one.name: one for one in offer.signatures}, docs, value_types, types=declared)
    text, _ = repair(readable, known.tools, known.available_names)
    source = parse_source(text)
    faults = [*find_text_faults(source, known), *find_end_faults(source)]
    # One fault often causes a type error on the same line: report the first cause only.
    lines = {line for (line, _), _ in faults}
    faults += [one for one in await find_type_faults(source, known, sandbox) if one[0][0] not in lines]
    return CheckedProgram(text, _render_sentences(faults))


async def find_type_faults(source: SourceText, known: CheckScope, sandbox: Sandbox) -> list[Fault]:
    """Return the findings of the type check that are certain to be errors."""
    function_names = dict.fromkeys(call.name for call in source.calls)
    called = [known.tools[name] for name in function_names if name in known.tools]
    declared = render_stubs(called, known.value_types, source.names_bound, known.types) + known.declared
    lines = source.text.split("\n")
    return [
        ((line, len(lines[line - 1][: column - 1].encode()) if line <= len(lines) else 0), said)
        for line, column, said in find_type_complaints(
            await sandbox.find_type_errors(source.text, declared), known.tools, known.docs, known.types
        )
    ]


def render_stubs(
    functions: Iterable[ToolSignature], value_types: Mapping[str, str], own: Collection[str] = (), types: str = ""
) -> str:
    """Return declarations of everything that a program may use, for the type check.

    Arguments:
        functions: The functions that it calls.
        value_types: Variables that already hold values, with their types.
        own: Names that the program itself defines; helpers with these names are not declared.
        types: Definitions of types that ``value_types`` refers to.
    """
    names = "".join(f"{name}: {kind}\n" for name, kind in value_types.items())
    helpers = [text for name, text in HELPER_DECLARATIONS.items() if name not in {*own, *value_types}]
    return "\n".join((PREAMBLE, _CALLABLE, _DECLARED, *helpers, types + names, *(one.stub for one in functions)))


def find_text_faults(source: SourceText, known: CheckScope) -> Iterator[Fault]:
    """Return the faults that can be found without a type check."""
    required = {name: _list_required(one, known.docs.get(name)) for name, one in known.tools.items()}
    return find_faults(source, known.tools, known.available_names, required)


def _list_required(signature: ToolSignature, doc: ToolDoc | None) -> list[str]:
    """Return the required parameters by the function's names for them."""
    needed = {parameter.name for parameter in doc.parameters if parameter.required} if doc else set[str]()
    return [name for name, parameter in signature.arguments.items() if parameter in needed]


def _render_sentences(faults: list[Fault]) -> tuple[str, ...]:
    """Return the first ``MAX_COMPLAINTS`` faults, in order of lines, as distinct sentences with line numbers."""
    sentences = dict.fromkeys(
        f"Line {line}: {sentence}" if line else sentence
        for (line, _), sentence in sorted(faults, key=lambda one: one[0][0])
    )
    return tuple(sentences)[:MAX_COMPLAINTS]
