"""What people type, before it is used."""

from domain.errors import UsageError


def check_utf8(text: str, what: str) -> None:
    """``UsageError``: bytes that are no UTF-8 were typed, which Python keeps as lone surrogates. ``what`` names the text."""
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UsageError(f"{what} is not UTF-8 text; set the terminal to UTF-8")
