"""What is said where a server cannot be had."""


class MissingServerError(Exception):
    """What a server needs is not here; the message says what."""
