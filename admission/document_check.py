"""First check: whether a tool's document is usable, contains no leaked keys, and does not address a model."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pydantic.types import JsonValue

from admission.findings import report_failure, report_pass, report_skip, report_warning
from admission.injection_signs import InjectionSign, find_signs, make_visible
from admission.known_names import KnownNames, build_skeleton, find_mixed_scripts
from agent.parameter_needs import derive_need
from domain.side_effect import READING_METHODS
from domain.tool import Parameter, ToolDoc
from domain.tool_source import Finding
from graph.identifiers import split_words

_KEY_FORMS = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_\w{50,}"
    r"|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}|\bsk-[A-Za-z0-9_-]{20,}|\b[sr]k_live_[A-Za-z0-9]{20,}|\bAIza[\w-]{35}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bnpm_[A-Za-z0-9]{36}"
)
"""Keys whose form shows who issued them."""
_IN_ADDRESS = re.compile(
    r"://[^/\s:@]{1,60}:[^/\s:@]{3,}@|[?&](?:api[_-]?key|key|token|access[_-]?token|secret|password|sig|signature)=(?P<value>[^&#\s{}<>]{12,})",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"x{4,}|\*{3,}|\.{3}|…|<[^>]*>|\{[^}]*\}|example|your|sample|dummy|test|changeme|placeholder|string|1234|^my|demo|fake",
    re.IGNORECASE,
)
_MIN_KEY_LENGTH = 16
_MIN_ENTROPY_BITS = 3.0
"""Bits of entropy for each character; generated keys have more than words that a person made up."""


class LeakedSecret(NamedTuple):
    """Key found in a document."""

    where: str
    preview: str
    """Its beginning, by which it can be found."""


def find_leaked_secrets(tool: ToolDoc) -> Iterator[LeakedSecret]:
    """Yield the keys in a tool's document, with their places."""
    texts = [
        ("its description", tool.description),
        ("its address", tool.url),
        ("its example answer", tool.example_response or ""),
    ]
    for parameter in tool.parameters:
        texts.append((f"the description of {parameter.name}", parameter.description))
        for what, value in (("the default", parameter.default), ("the example", parameter.example)):
            if isinstance(value, str):
                texts.append((f"{what} of {parameter.name}", value))
                if derive_need(parameter).kind == "secret" and _looks_generated(value):
                    yield LeakedSecret(f"{what} of {parameter.name}", _mask_secret(value))
    for where, text in texts:
        if hit := _KEY_FORMS.search(text):
            if not _PLACEHOLDER.search(hit[0][8:]):
                yield LeakedSecret(where, _mask_secret(hit[0]))
        elif (hit := _IN_ADDRESS.search(text)) and not _PLACEHOLDER.search(hit["value"] or hit[0]):
            yield LeakedSecret(where, _mask_secret(hit["value"] or hit[0]))


def _looks_generated(value: str) -> bool:
    key_text = value.strip().removeprefix("Bearer ").removeprefix("Basic ")
    if len(key_text) < _MIN_KEY_LENGTH or " " in key_text or _PLACEHOLDER.search(key_text):
        return False
    counts = Counter(key_text)
    return -sum(n / len(key_text) * math.log2(n / len(key_text)) for n in counts.values()) >= _MIN_ENTROPY_BITS


def _mask_secret(value: str) -> str:
    return f"{value[:6]}… ({len(value)} characters)"


LONG_DESCRIPTION = 3_000
"""Characters of a description. The search reads no more, and longer ones cost in every prompt."""
MANY_PARAMETERS = 60
MAX_PARAMETERS = 300
"""Parameters of one tool. ``MANY_PARAMETERS`` are hard to give; no model can handle more than this."""
_MIN_WORDS = 4
_EXAMPLE_ANSWER = "its example answer"


def check_document(tool: ToolDoc, known_names: KnownNames) -> Iterator[Finding]:
    """Yield the findings from reading the document, at least one."""
    findings = [
        *_check_secrets(tool),
        *_check_signs(tool),
        *_check_other_tools(tool, known_names),
        *_check_parameter_names(tool),
        *_check_parameters(tool),
        *_check_description(tool),
        *_check_side_effect(tool),
    ]
    yield from findings
    if not findings:
        yield report_pass("document", "its address, parameters and texts can be used as they are")


def _check_secrets(tool: ToolDoc) -> Iterator[Finding]:
    leaked = list(find_leaked_secrets(tool))
    if not leaked:
        return
    message = f"its document holds what looks like a key: {leaked[0].preview} in {leaked[0].where}"
    places: list[JsonValue] = [secret.where for secret in leaked[:10]]
    if all(secret.where == _EXAMPLE_ANSWER for secret in leaked):  # keys in example answers are often made up
        yield report_warning(
            "document",
            message,
            "look whether it is a real one; if so, have it replaced by whoever gave it out",
            places=places,
        )
    else:
        advice = "take it out of the document, have it replaced by whoever gave it out, and keep the new one among the keys of the source"
        yield report_failure("document", message, advice, places=places)


def _iterate_texts(tool: ToolDoc) -> Iterator[tuple[str, str]]:
    """Yield the texts of a document that a model reads, with their places."""
    yield "its name", tool.api
    yield "the name of its tool set", tool.toolset
    yield "the name of its category", tool.category
    yield "its description", tool.description
    yield "the description of its tool set", tool.toolset_description
    for parameter in tool.parameters:
        yield f"the name of the parameter {make_visible(parameter.name)[:60]}", parameter.name
        yield f"the description of {make_visible(parameter.name)[:60]}", parameter.description
        for value in (parameter.default, parameter.example, *parameter.enum):
            if isinstance(value, str):
                yield f"a value of {make_visible(parameter.name)[:60]}", value
        if parameter.json_schema:
            yield f"the schema of {make_visible(parameter.name)[:60]}", parameter.json_schema
    yield _EXAMPLE_ANSWER, tool.example_response or ""
    yield "the schema of its answer", tool.response_schema or ""


def _check_signs(tool: ToolDoc) -> Iterator[Finding]:
    placed_signs = [(where, sign) for where, text in _iterate_texts(tool) for sign in find_signs(text)]
    if not placed_signs:
        return
    where, sign = next((one for one in placed_signs if _is_grave(*one)), placed_signs[0])
    message = f"{where} holds {sign.kind}: “{sign.excerpt}”"
    seen: list[JsonValue] = [f"{place}: {one.kind}" for place, one in placed_signs[:20]]
    if any(_is_grave(*one) for one in placed_signs):
        advice = "ask its author what it is for and take it out; correct the description, if the rest of the document can be trusted"
        yield report_failure("document", message, advice, seen=seen)
    else:
        yield report_warning(
            "document", message, "read it as it stands; correct the description if it is of no use", seen=seen
        )


def _is_grave(where: str, sign: InjectionSign) -> bool:
    """Return whether a sign is serious in its place.

    An example answer is data, where comments and tags are normal, so there only signs worded for a model count.
    """
    return sign.grave and (where != _EXAMPLE_ANSWER or sign.addresses_model)


def _check_other_tools(tool: ToolDoc, known_names: KnownNames) -> Iterator[Finding]:
    """Report names of other sources' tools in its texts: a tool's description has nothing to say about other tools."""
    texts = [tool.description, *(one.description for one in tool.parameters)]
    mentioned = [known_names.get_display_name(one) for one in known_names.find_named(" ".join(texts))]
    if mentioned:
        yield report_failure(
            "document",
            f"its texts speak of a tool of another source: {mentioned[0]}",
            "take it out: a description tells what its own tool does; which tools go together is learnt from calls",
            named=list(mentioned[:10]),
        )


def _check_parameter_names(tool: ToolDoc) -> Iterator[Finding]:
    """Yield the most serious finding on parameter names that are not what they look like."""
    findings = list(_find_odd_names(tool))
    yield from sorted(findings, key=lambda one: not one.is_blocking)[:1]


def _find_odd_names(tool: ToolDoc) -> Iterator[Finding]:
    by_look: dict[str, str] = {}
    advice = "have it written in one script, in letters that everybody sees"
    for parameter in tool.parameters:
        label = f"its parameter {make_visible(parameter.name)[:60]}"
        other = by_look.setdefault(build_skeleton(parameter.name), parameter.name)
        if not parameter.name.isprintable():
            yield report_failure("document", f"the name of {label} holds what cannot be printed", advice)
        elif other != parameter.name and not (parameter.name + other).isascii():
            yield report_failure("document", f"{label} looks like its parameter {make_visible(other)[:60]}", advice)
        elif scripts := find_mixed_scripts(parameter.name):
            message = f"{label} mixes letters of {' and '.join(scripts).title()} that look alike"
            yield report_warning("document", message, advice)


def _check_parameters(tool: ToolDoc) -> Iterator[Finding]:
    if len(tool.parameters) > MAX_PARAMETERS:
        yield report_failure(
            "document",
            f"it has {len(tool.parameters)} parameters, more than the {MAX_PARAMETERS} that a call may have",
            "leave out what nobody gives",
        )
    elif len(tool.parameters) > MANY_PARAMETERS:
        yield report_warning(
            "document",
            f"it has {len(tool.parameters)} parameters",
            "leave out what nobody gives: each costs in every prompt",
        )
    nameless = [parameter for parameter in tool.parameters if not _is_described(parameter)]
    if nameless:
        yield report_warning(
            "document",
            f"nothing says what its parameter {nameless[0].name[:60]} is for",
            "describe it, or give it a name that says it",
            parameters=[parameter.name for parameter in nameless[:20]],
        )


def _is_described(parameter: Parameter) -> bool:
    return bool(
        parameter.description
        or parameter.enum
        or parameter.example is not None
        or parameter.default is not None
        or any(len(word) > 1 for word in split_words(parameter.name))
    )


def _check_description(tool: ToolDoc) -> Iterator[Finding]:
    if len(tool.description) > LONG_DESCRIPTION:
        yield report_warning(
            "document",
            f"its description has {len(tool.description):,} characters",
            f"say it in less than {LONG_DESCRIPTION:,}: what chooses among tools reads the beginning",
        )
    elif len(tool.description.split()) < _MIN_WORDS and len(tool.description) < 2 * _MIN_WORDS:
        yield report_warning(
            "document",
            "it has no description" if not tool.description else f"its description is only “{tool.description}”",
            "say in a sentence what it does, with the words in which people ask for it",
        )
    elif not _list_new_words(tool):
        yield report_warning(
            "document",
            f"its description, “{tool.description[:60]}”, says no more than its name",
            "say in a sentence what it gives or does, with the words in which people ask for it",
        )


def _list_new_words(tool: ToolDoc) -> set[str]:
    """Return the words of its description that are not in its name."""
    return {word.casefold() for word in split_words(tool.description)} - {
        word.casefold() for word in split_words(tool.api)
    }


def _check_side_effect(tool: ToolDoc) -> Iterator[Finding]:
    if tool.side_effect == "reads" and tool.effect.by == "document" and tool.method not in READING_METHODS:
        yield report_warning(
            "document",
            f"its document says that {tool.method} only reads: nobody would be asked before a call",
            "correct the side effect to “changes” unless you know that it reads",
        )
    elif tool.effect.kind == "unknown":
        yield report_skip(
            "document",
            f"whether it changes something is not sure: {tool.effect.why}",
            "correct the side effect, if it only reads",
        )
