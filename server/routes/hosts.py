"""Hosts that a key may be sent to, as people write them."""

import re
from ipaddress import IPv6Address, ip_address

EXPECTED = (
    "expected host or host:port, an IPv6 address in brackets, such as api.example.com, 10.0.0.7:8080 or [::1]:8080"
)
PATTERN = r"^([Hh][Tt][Tt][Pp][Ss]?://)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?)(:[0-9]{1,5})?$"
"""What hosts look like, for programs; :func:`checked_host` knows better."""
_ENTRY = re.compile(r"(?:https?://)?(?:\[(?P<six>[^\[\]]*)\]|(?P<name>[^\[\]:]*))(?::(?P<port>[0-9]{1,5}))?", re.I)
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


def checked_host(text: str) -> str:
    """The text; ``http://`` before a host allows it to be sent unencrypted. ``ValueError`` where it is no host."""
    found = _ENTRY.fullmatch(text)
    if found is None or not (_six(found["six"]) if found["six"] is not None else _name(found["name"])):
        raise ValueError(f"is no host: {EXPECTED}")
    if found["port"] is not None and not 1 <= int(found["port"]) <= 65535:
        raise ValueError("has no port that there is: expected 1 to 65535")
    return text


def _six(text: str) -> bool:
    try:
        return isinstance(ip_address(text), IPv6Address) and "%" not in text
    except ValueError:
        return False


def _name(text: str) -> bool:
    labels = text.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels) or len(text) > 253:
        return False
    if not labels[-1].isdecimal():
        return True
    try:  # what ends in a number is an address, or nothing
        return bool(ip_address(text))
    except ValueError:
        return False
