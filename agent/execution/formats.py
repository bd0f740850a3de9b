"""Formats of string arguments, checked as leniently as servers do."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit
from uuid import UUID

_DATE_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOST_PATTERN = re.compile(
    r"(?=.{1,253}\.?$)([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?"
)
_DURATION_PATTERN = re.compile(r"P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)")
_MAX_LENGTH = 4_096


def _check_date(text: str) -> None:
    if not _DATE_PATTERN.fullmatch(text):
        raise ValueError
    date.fromisoformat(text)


def _check_date_time(text: str) -> None:
    """Check a date-time of RFC 3339; the offset and the seconds may be missing, as most servers allow."""
    if not _DATE_PATTERN.match(text) or text[10:11] not in ("T", "t", " "):
        raise ValueError
    datetime.fromisoformat(text.upper())


def _check_uri(text: str) -> None:
    parts = urlsplit(text)
    hierarchical = parts.scheme in ("http", "https", "ftp", "ws", "wss")
    if not parts.scheme or any(c.isspace() or c in '<>"{}|\\^`' for c in text) or (hierarchical and not parts.hostname):
        raise ValueError


def _check_email(text: str) -> None:
    name, at, domain = text.rpartition("@")
    if not (name and at and domain) or any(c.isspace() for c in text):
        raise ValueError


def _build_pattern_check(pattern: re.Pattern[str]) -> Callable[[str], None]:
    def check(text: str) -> None:
        if not pattern.fullmatch(text):
            raise ValueError

    return check


FORMATS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "date": (_check_date, "YYYY-MM-DD"),
    "date-time": (_check_date_time, "YYYY-MM-DDThh:mm:ssZ"),
    "time": (lambda text: time.fromisoformat(text.upper()), "hh:mm:ss"),
    "duration": (_build_pattern_check(_DURATION_PATTERN), "like P1DT2H"),
    "email": (_check_email, "name@host"),
    "hostname": (_build_pattern_check(_HOST_PATTERN), "like api.example.com"),
    "ipv4": (IPv4Address, "four decimal numbers"),
    "ipv6": (IPv6Address, "like 2001:db8::1"),
    "uri": (_check_uri, "scheme://host/path"),
    "url": (_check_uri, "scheme://host/path"),
    "uuid": (UUID, "8-4-4-4-12 hexadecimal digits"),
}
"""Check of each format, which raises ``ValueError``, and a description of the format."""


def matches_format(name: str, value: object) -> bool:
    """Return whether a value has the format; true for values other than strings and for unknown formats."""
    if name not in FORMATS or not isinstance(value, str):
        return True
    if len(value) > _MAX_LENGTH:
        return False
    try:
        FORMATS[name][0](value)
    except ValueError:
        return False
    return True
