"""Checks of a program before any call.

A fault with only one possible correction is repaired; the others are reported to the author.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.programs.analysis.faults import Fault, faults_of_end, find_faults
from agent.programs.analysis.reading import Unreadable, read
from agent.programs.analysis.repairs import repair
from agent.programs.offer_text import OfferText
from agent.programs.prelude import DECLARATIONS, NAMES
from agent.programs.protocol import ASK, Sandbox
from agent.programs.questions import DECLARED
from agent.programs.signatures import PREAMBLE, Signature
from agent.programs.type_complaints import type_complaints
from domain.source_text import SourceText, parse_source
from domain.tool import ToolDoc

MOST = 5
"""Maximum number of complaints for an author; more are rarely acted on."""

_GIVEN = ("ToolError", ASK, "look", "today", *NAMES)
_CALLABLE = "from collections.abc import Callable as _Callable"
_DECLARED = f"ToolError = RuntimeError\ntoday: str\ndef look(*values: Any) -> None: ...\n{DECLARED}\n"


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of checking a program."""

    text: str
    """Program to run, repaired where that was safe."""
    complaints: tuple[str, ...] = ()
    """Sentences for the author; empty if the program may run."""


@dataclass(frozen=True, slots=True)
class Known:
    """Names that a program may use."""

    tools: Mapping[str, Signature]
    """Signatures by function name."""
    docs: Mapping[str, ToolDoc]
    """Documents of the tools by function name."""
    given: Mapping[str, str]
    """Names that already hold values, with their types."""
    declared: str = ""
    """Further declarations for the type check, of the names in ``others``."""
    others: Collection[str] = ()
    """Names that are neither functions nor hold values."""
    types: str = ""
    """Type definitions that the declarations need."""

    @property
    def there(self) -> set[str]:
        """All names that are available besides the tools."""
        return {*_GIVEN, *self.given, *self.others}


async def check(
    text: str,
    offer: OfferText,
    docs: Mapping[str, ToolDoc],
    sandbox: Sandbox,
    given: Mapping[str, str],
    declared: str = "",
) -> Checked:
    """Check and repair a program over an offer.

    ``docs``: tools by function name. ``given``: names that already hold values, with their types. ``declared``: definitions that these types
    need.
    """
    readable = read(text)
    if isinstance(readable, Unreadable):
        return Checked(text, (readable.complaint,))
    known = Known({one.name: one for one in offer.signatures}, docs, given, types=declared)
    text, _ = repair(readable, known.tools, known.there)
    source = parse_source(text)
    found = [*faults_of_text(source, known), *faults_of_end(source)]
    # One fault often causes a type error on the same line: report the first cause only.
    lines = {line for (line, _), _ in found}
    found += [one for one in await faults_of_types(source, known, sandbox) if one[0][0] not in lines]
    return Checked(text, _sentences(found))


async def faults_of_types(source: SourceText, known: Known, sandbox: Sandbox) -> list[Fault]:
    """Return the findings of the type check that are certainly wrong."""
    made = dict.fromkeys(call.name for call in source.calls)
    called = [known.tools[name] for name in made if name in known.tools]
    declared = stubs(called, known.given, source.names_bound, known.types) + known.declared
    lines = source.text.split("\n")
    return [
        ((line, len(lines[line - 1][: column - 1].encode()) if line <= len(lines) else 0), said)
        for line, column, said in type_complaints(
            await sandbox.type_errors(source.text, declared), known.tools, known.docs, known.types
        )
    ]


def stubs(functions: Iterable[Signature], given: Mapping[str, str], own: Collection[str] = (), types: str = "") -> str:
    """Return declarations of everything that a program may use.

    These are the functions, what every program has, and names that already hold values, whose types are defined in ``types``. ``own``: names
    that the program itself defines; a helper of the same name is left out.
    """
    names = "".join(f"{name}: {kind}\n" for name, kind in given.items())
    helpers = [text for name, text in DECLARATIONS.items() if name not in {*own, *given}]
    return "\n".join((PREAMBLE, _CALLABLE, _DECLARED, *helpers, types + names, *(one.stub for one in functions)))


def faults_of_text(source: SourceText, known: Known) -> Iterator[Fault]:
    """Return the faults that can be found without types."""
    required = {name: _required(one, known.docs.get(name)) for name, one in known.tools.items()}
    return find_faults(source, known.tools, known.there, required)


def _required(one: Signature, doc: ToolDoc | None) -> list[str]:
    """Return the required parameters, by the names that the function has for them."""
    needed = {parameter.name for parameter in doc.parameters if parameter.required} if doc else set[str]()
    return [name for name, parameter in one.arguments.items() if parameter in needed]


def _sentences(found: list[Fault]) -> tuple[str, ...]:
    """Return the faults as sentences with line numbers, without repeats, in order of lines and cut to ``MOST``."""
    said = dict.fromkeys(
        f"Line {line}: {sentence}" if line else sentence
        for (line, _), sentence in sorted(found, key=lambda one: one[0][0])
    )
    return tuple(said)[:MOST]
