"""First check: whether a tool's document is usable, holds no keys, and does not address a model."""

from collections.abc import Iterator

from pydantic.types import JsonValue

from admission.findings import failed, passed, skipped, warned
from admission.known_names import KnownNames, mixed_scripts, skeleton
from admission.signs import Sign, signs_of, visible
from admission.written_secrets import written_secrets
from domain.side_effect import READING_METHODS
from domain.source import Finding
from domain.tool import Parameter, ToolDoc
from graph.identifiers import words

LONG = 3_000
"""Characters of a description. The search reads no more, and longer ones cost in every prompt."""
MANY = 60
MOST = 300
"""Parameters of one tool. ``MANY`` are hard to give; no model can handle more than this."""
_WORDS = 4
_ANSWER = "its example answer"


def check_document(tool: ToolDoc, known: KnownNames) -> Iterator[Finding]:
    """Yield the findings from reading the document, at least one."""
    found = [
        *_secrets(tool),
        *_spoken(tool),
        *_others(tool, known),
        *_names(tool),
        *_parameters(tool),
        *_texts(tool),
        *_effect(tool),
    ]
    yield from found
    if not found:
        yield passed("document", "its address, parameters and texts can be used as they are")


def _secrets(tool: ToolDoc) -> Iterator[Finding]:
    written = list(written_secrets(tool))
    if not written:
        return
    told = f"its document holds what looks like a key: {written[0].shown} in {written[0].where}"
    places: list[JsonValue] = [one.where for one in written[:10]]
    if all(one.where == _ANSWER for one in written):  # keys in example answers are often made up
        yield warned(
            "document",
            told,
            "look whether it is a real one; if so, have it replaced by whoever gave it out",
            places=places,
        )
    else:
        advice = "take it out of the document, have it replaced by whoever gave it out, and keep the new one among the keys of the source"
        yield failed("document", told, advice, places=places)


def _read(tool: ToolDoc) -> Iterator[tuple[str, str]]:
    """Yield the texts of a document that a model reads, with their places."""
    yield "its name", tool.api
    yield "the name of its tool set", tool.toolset
    yield "the name of its category", tool.category
    yield "its description", tool.description
    yield "the description of its tool set", tool.toolset_description
    for one in tool.parameters:
        yield f"the name of the parameter {visible(one.name)[:60]}", one.name
        yield f"the description of {visible(one.name)[:60]}", one.description
        for value in (one.default, one.example, *one.enum):
            if isinstance(value, str):
                yield f"a value of {visible(one.name)[:60]}", value
        if one.json_schema:
            yield f"the schema of {visible(one.name)[:60]}", one.json_schema
    yield _ANSWER, tool.example_response or ""
    yield "the schema of its answer", tool.response_schema or ""


def _spoken(tool: ToolDoc) -> Iterator[Finding]:
    found = [(where, sign) for where, text in _read(tool) for sign in signs_of(text)]
    if not found:
        return
    where, sign = next((one for one in found if _grave(*one)), found[0])
    told = f"{where} holds {sign.kind}: “{sign.seen}”"
    seen: list[JsonValue] = [f"{place}: {one.kind}" for place, one in found[:20]]
    if any(_grave(*one) for one in found):
        advice = "ask its author what it is for and take it out; correct the description, if the rest of the document can be trusted"
        yield failed("document", told, advice, seen=seen)
    else:
        yield warned("document", told, "read it as it stands; correct the description if it is of no use", seen=seen)


def _grave(where: str, sign: Sign) -> bool:
    """Return whether a sign is serious in its place.

    An example answer is data, where comments and tags are normal, so there only signs worded for a model count.
    """
    return sign.grave and (where != _ANSWER or sign.speaks)


def _others(tool: ToolDoc, known: KnownNames) -> Iterator[Finding]:
    """Report names of other sources' tools in its texts: a tool's description has nothing to say about other tools."""
    texts = [tool.description, *(one.description for one in tool.parameters)]
    named = [known.told(one) for one in known.named_in(" ".join(texts))]
    if named:
        yield failed(
            "document",
            f"its texts speak of a tool of another source: {named[0]}",
            "take it out: a description tells what its own tool does; which tools go together is learnt from calls",
            named=list(named[:10]),
        )


def _names(tool: ToolDoc) -> Iterator[Finding]:
    """Yield the most serious finding on parameter names that are not what they look like."""
    found = list(_odd_names(tool))
    yield from sorted(found, key=lambda one: not one.stops)[:1]


def _odd_names(tool: ToolDoc) -> Iterator[Finding]:
    alike: dict[str, str] = {}
    advice = "have it written in one script, in letters that everybody sees"
    for one in tool.parameters:
        shown = f"its parameter {visible(one.name)[:60]}"
        other = alike.setdefault(skeleton(one.name), one.name)
        if not one.name.isprintable():
            yield failed("document", f"the name of {shown} holds what cannot be printed", advice)
        elif other != one.name and not (one.name + other).isascii():
            yield failed("document", f"{shown} looks like its parameter {visible(other)[:60]}", advice)
        elif scripts := mixed_scripts(one.name):
            told = f"{shown} mixes letters of {' and '.join(scripts).title()} that look alike"
            yield warned("document", told, advice)


def _parameters(tool: ToolDoc) -> Iterator[Finding]:
    if len(tool.parameters) > MOST:
        yield failed(
            "document",
            f"it has {len(tool.parameters)} parameters, more than the {MOST} that a call may have",
            "leave out what nobody gives",
        )
    elif len(tool.parameters) > MANY:
        yield warned(
            "document",
            f"it has {len(tool.parameters)} parameters",
            "leave out what nobody gives: each costs in every prompt",
        )
    nameless = [one for one in tool.parameters if not _named(one)]
    if nameless:
        yield warned(
            "document",
            f"nothing says what its parameter {nameless[0].name[:60]} is for",
            "describe it, or give it a name that says it",
            parameters=[one.name for one in nameless[:20]],
        )


def _named(one: Parameter) -> bool:
    return bool(
        one.description
        or one.enum
        or one.example is not None
        or one.default is not None
        or any(len(word) > 1 for word in words(one.name))
    )


def _texts(tool: ToolDoc) -> Iterator[Finding]:
    if len(tool.description) > LONG:
        yield warned(
            "document",
            f"its description has {len(tool.description):,} characters",
            f"say it in less than {LONG:,}: what chooses among tools reads the beginning",
        )
    elif len(tool.description.split()) < _WORDS and len(tool.description) < 2 * _WORDS:
        yield warned(
            "document",
            "it has no description" if not tool.description else f"its description is only “{tool.description}”",
            "say in a sentence what it does, with the words in which people ask for it",
        )
    elif not _beside_its_name(tool):
        yield warned(
            "document",
            f"its description, “{tool.description[:60]}”, says no more than its name",
            "say in a sentence what it gives or does, with the words in which people ask for it",
        )


def _beside_its_name(tool: ToolDoc) -> set[str]:
    """Return the words of its description that are not in its name."""
    return {one.casefold() for one in words(tool.description)} - {one.casefold() for one in words(tool.api)}


def _effect(tool: ToolDoc) -> Iterator[Finding]:
    if tool.side_effect == "reads" and tool.effect.by == "document" and tool.method not in READING_METHODS:
        yield warned(
            "document",
            f"its document says that {tool.method} only reads: nobody would be asked before a call",
            "correct the side effect to “changes” unless you know that it reads",
        )
    elif tool.effect.kind == "unknown":
        yield skipped(
            "document",
            f"whether it changes something is not sure: {tool.effect.why}",
            "correct the side effect, if it only reads",
        )
