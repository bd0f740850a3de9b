"""Challenges of a refusal: the header ``WWW-Authenticate`` (RFC 9110, 11.6.1), which may hold several, with quoted texts in them."""

import re
from dataclasses import dataclass, field

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_BETWEEN = re.compile(r"[\s,]*")
_SCHEME = re.compile(rf"({_WORD})(?=\s|,|$)\s*")
_TOKEN68 = re.compile(r"[0-9A-Za-z._~+/-]+=*(?=\s*(?:,|$))")
"""What a scheme may say in place of parameters, as Basic and Negotiate do."""
_PARAMETER = re.compile(rf'({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way to authenticate that a server offers."""

    scheme: str
    """In lower case, as ``bearer``."""
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    """By their names in lower case, quotes and escapes taken away."""


def parse_challenges(header: str) -> list[Challenge]:
    """Parse the header; several headers are joined by a comma before. What cannot be read is passed over to the next comma."""
    found: list[Challenge] = []
    at = 0
    while (at := _end(_BETWEEN.match(header, at), at)) < len(header):
        if found and (parameter := _PARAMETER.match(header, at)):
            name, quoted, plain = parameter.groups()
            value = plain if quoted is None else _ESCAPED.sub(r"\1", quoted)
            found[-1].parameters.setdefault(name.lower(), value)
            at = parameter.end()
        elif scheme := _SCHEME.match(header, at):
            found.append(Challenge(scheme[1].lower()))
            at = scheme.end()
            if header[at : at + 1] != ",":
                at = _end(_TOKEN68.match(header, at), at)
        else:
            comma = header.find(",", at)
            at = len(header) if comma < 0 else comma
    return found


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
