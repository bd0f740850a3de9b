"""Addresses of authorization servers: https, or http to this machine itself; what is more is the guard's to say."""

from ipaddress import ip_address
from urllib.parse import urlsplit

LONGEST = 2000


def checked_endpoint(url: str) -> str:
    """The address. ``ValueError`` where no secret may be sent to it."""
    if len(url) > LONGEST or any(not 32 < ord(character) < 127 for character in url) or "\\" in url:
        raise ValueError(f"is no address: expected https://host/path in plain ASCII, at most {LONGEST} characters")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("is no address that can be read: expected https://host/path") from None
    if parts.scheme not in ("https", "http") or not host:
        raise ValueError("is no address: expected https://host/path")
    if parts.scheme == "http" and not loopback(host):
        raise ValueError("must begin with https://: tokens and secrets go there (http is for this machine only)")
    if "@" in parts.netloc or "#" in url:
        raise ValueError("holds a user name or a fragment; leave it out")
    return url


def loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def origin_of(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"
