"""Proof key for code exchange (RFC 7636), S256: who asks for the token is who sent the user for consent."""

import base64
import hashlib
import secrets


def new_verifier() -> str:
    """256 random bits, as text."""
    return secrets.token_urlsafe(32)


def challenge_of(verifier: str) -> str:
    """What the authorization server is shown first."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode()
