"""A program is checked before anything is called: what can mean one thing only is put right, the rest is told to its author."""

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
"""Complaints that go back to an author: more are rarely acted on."""

_GIVEN = ("ToolError", ASK, "look", "today", *NAMES)
_CALLABLE = "from collections.abc import Callable as _Callable"
_DECLARED = f"ToolError = RuntimeError\ntoday: str\ndef look(*values: Any) -> None: ...\n{DECLARED}\n"


@dataclass(frozen=True, slots=True)
class Checked:
    """``text``: what is to be run, put right where that was safe. ``complaints``: sentences for its author; empty: it may run."""

    text: str
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What a text may use. ``tools`` and ``docs`` by function; ``given``: names that hold values already, each with its type; ``declared``: more
    declarations for the type check, of ``others``: names that are neither. ``types``: definitions that all of these need.
    """

    tools: Mapping[str, Signature]
    docs: Mapping[str, ToolDoc]
    given: Mapping[str, str]
    declared: str = ""
    others: Collection[str] = ()
    types: str = ""

    @property
    def there(self) -> set[str]:
        """All that a text finds beside its tools."""
        return {*_GIVEN, *self.given, *self.others}


async def check(
    text: str,
    offer: OfferText,
    docs: Mapping[str, ToolDoc],
    sandbox: Sandbox,
    given: Mapping[str, str],
    declared: str = "",
) -> Checked:
    """Check a text over an offer. ``docs``: by function. ``given``: names that hold values already, each with its type; ``declared``: what these types need."""
    readable = read(text)
    if isinstance(readable, Unreadable):
        return Checked(text, (readable.complaint,))
    known = Known({one.name: one for one in offer.signatures}, docs, given, types=declared)
    text, _ = repair(readable, known.tools, known.there)
    source = parse_source(text)
    found = [*faults_of_text(source, known), *faults_of_end(source)]
    lines = {line for (line, _), _ in found}
    found += [one for one in await faults_of_types(source, known, sandbox) if one[0][0] not in lines]
    return Checked(text, _sentences(found))


async def faults_of_types(source: SourceText, known: Known, sandbox: Sandbox) -> list[Fault]:
    """What the type check finds that is surely wrong."""
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
    """Everything that a program may use, declared: these functions, what every program has, and names that hold values already, of these ``types``.

    ``own``: the names that the program itself gives a meaning to, be they a helper's.
    """
    names = "".join(f"{name}: {kind}\n" for name, kind in given.items())
    helpers = [text for name, text in DECLARATIONS.items() if name not in {*own, *given}]
    return "\n".join((PREAMBLE, _CALLABLE, _DECLARED, *helpers, types + names, *(one.stub for one in functions)))


def faults_of_text(source: SourceText, known: Known) -> Iterator[Fault]:
    """What is wrong with a text as far as it can be told without types."""
    required = {name: _required(one, known.docs.get(name)) for name, one in known.tools.items()}
    return find_faults(source, known.tools, known.there, required)


def _required(one: Signature, doc: ToolDoc | None) -> list[str]:
    needed = {parameter.name for parameter in doc.parameters if parameter.required} if doc else set[str]()
    return [name for name, parameter in one.arguments.items() if parameter in needed]


def _sentences(found: list[Fault]) -> tuple[str, ...]:
    said = dict.fromkeys(
        f"Line {line}: {sentence}" if line else sentence
        for (line, _), sentence in sorted(found, key=lambda one: one[0][0])
    )
    return tuple(said)[:MOST]
