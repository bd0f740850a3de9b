"""Detection of keys left in a document, where everybody can read them."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from agent.parameters.needs import need_of
from domain.tool import ToolDoc

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
_LONG = 16
_BITS = 3.0
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
                if need_of(parameter).kind == "secret" and _looks_generated(value):
                    yield LeakedSecret(f"{what} of {parameter.name}", _mask_secret(value))
    for where, text in texts:
        if hit := _KEY_FORMS.search(text):
            if not _PLACEHOLDER.search(hit[0][8:]):
                yield LeakedSecret(where, _mask_secret(hit[0]))
        elif (hit := _IN_ADDRESS.search(text)) and not _PLACEHOLDER.search(hit["value"] or hit[0]):
            yield LeakedSecret(where, _mask_secret(hit["value"] or hit[0]))


def _looks_generated(value: str) -> bool:
    plain = value.strip().removeprefix("Bearer ").removeprefix("Basic ")
    if len(plain) < _LONG or " " in plain or _PLACEHOLDER.search(plain):
        return False
    counts = Counter(plain)
    return -sum(n / len(plain) * math.log2(n / len(plain)) for n in counts.values()) >= _BITS


def _mask_secret(value: str) -> str:
    return f"{value[:6]}… ({len(value)} characters)"
