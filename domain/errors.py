"""The errors of the product. Each class has a stable ``code``, and each message says what to do."""

from typing import ClassVar, Literal, Self


class FootpathError(Exception):
    """Base of all errors that a user can meet.

    ``str(error)`` is meant for whoever runs the program, ``public_message`` for anyone.
    """

    code: ClassVar[str] = "error"

    @property
    def public_message(self) -> str:
        """The message without hosts, ports or accounts of the program's own servers."""
        return str(self)


class UsageError(FootpathError):
    """Wrong use of a command or function (exit code 2)."""

    code = "usage"

    def __init__(self, message: str, faults: tuple[tuple[str, str], ...] = ()) -> None:
        """Create the error.

        ``faults`` lists single mistakes, each as a pair of its place and what is wrong there.
        """
        super().__init__(message)
        self.faults = faults


class WeakPasswordError(UsageError):
    """A password that is easy to guess; the message says why, and what to choose."""

    code = "weak_password"


class AmbiguousNameError(UsageError):
    """A name that several tools have; ``candidates`` are their ids."""

    code = "ambiguous_name"

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class BrokenInputError(FootpathError):
    """A file or record that cannot be read, named with its file and line (exit code 1 when skipped)."""

    code = "broken_input"

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class TooManyOperationsError(BrokenInputError):
    """A document with more operations than a source may have; the user has to select some of them."""

    code = "too_many_operations"


class UnavailableError(FootpathError):
    """A store or service that is missing or cannot be used as it is (exit code 3)."""

    code = "unavailable"
    part: str = ""
    """The affected part of the server, in words for anyone.

    Set where the error's own message may name hosts, ports or accounts.
    """
    state: ClassVar[str] = "cannot be used just now"
    """What is wrong with that part, in words that anyone may read."""

    def set_part(self, part: str) -> Self:
        """Set the affected part of the server and return the error itself."""
        self.part = part
        return self

    @property
    def public_message(self) -> str:
        """The affected part and its state.

        The full message is shown if no part is set, unless the error is a store's temporary one, whose message may
        name hosts.
        """
        if not (self.part or isinstance(self, TransientError)):
            return str(self)
        parts = (
            [_PART_NAMES.get(part_name, part_name) for part_name in self.part.split(", ")] if self.part else ["a store"]
        )
        return f"{' and '.join(parts)} {self.state}"


# Words for anyone, by the value of :attr:`UnavailableError.part`.
_PART_NAMES = {
    "database": "the database",
    "disk": "the server's disk",
    "graph": "the graph store",
    "store": "the store of tools",
    "vectors": "the vector store",
}


class TransientError(UnavailableError):
    """A failure that ends by itself or affects only this process.

    A run that meets it is resumed later instead of failed.
    """

    code = "passing"


class StoreUnreachableError(TransientError):
    """A server that holds a part of the store does not answer at present; the operation may be retried."""

    code = "store_unreachable"
    state = "is out of reach"


class StoreRefusedError(TransientError):
    """A server that holds a part of the store rejects this process's account, key or database.

    Another process may be accepted, and so may this one once the server or the setting that the message names is
    corrected.
    """

    code = "store_refused"
    state = "refuses this server"


class StoreVersionError(UnavailableError):
    """A store that was written in another version of the format, or with another encoder."""

    code = "store_version"
    state = "has another version or encoder than this server"


class StoreBusyError(TransientError):
    """The embedded store is in use by another process."""

    code = "store_busy"


ModelFailure = Literal[
    "key", "quota", "model", "address", "tls", "dns", "connection", "timeout", "busy", "server", "request", "protocol"
]
"""What is wrong with a language model's endpoint, for code that reacts to it."""


class ModelUnavailableError(UnavailableError):
    """A language model that gave no usable answer."""

    code = "model_unavailable"

    def __init__(
        self, message: str, kind: ModelFailure, *, lasting: bool = False, retry_after: float | None = None
    ) -> None:
        """Create the error.

        ``lasting``: asking again is useless until something is changed. ``retry_after``: seconds to wait, if the
        endpoint said so.
        """
        super().__init__(message)
        self.kind: ModelFailure = kind
        self.lasting = lasting
        self.retry_after = retry_after


class InvalidDecisionError(FootpathError):
    """A language model's answer that is still unusable after the model was told the complaint."""

    code = "invalid_decision"


class ForbiddenAddressError(FootpathError):
    """The guard against server-side request forgery refused an address.

    ``place`` is the ``host:port`` that an operator may allow, empty if nothing allows it. ``reason`` says why it is
    refused, without saying what would allow it.
    """

    code = "forbidden_address"

    def __init__(self, reason: str, *, place: str = "", advice: str = "") -> None:
        super().__init__(f"{reason}; {advice}" if advice else reason)
        self.reason = reason
        self.place = place


class SecretError(FootpathError):
    """A named secret is missing, cannot be sent as the document says, or may not be sent to this host.

    Never holds a secret's value.
    """

    code = "secret"


class NoAnswerError(FootpathError):
    """A server asked for a token or for its metadata did not answer in time, or not usefully."""

    code = "no_answer"


class GrantRefusedError(FootpathError):
    """An authorization server that refuses a token. ``reason`` is its error code, such as ``invalid_grant``."""

    code = "grant_refused"

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class InvalidArgumentsError(FootpathError):
    """Arguments that do not fit the tool's parameters; the policy is told and may try again."""

    code = "invalid_arguments"


class BudgetExceededError(FootpathError):
    """A run reached one of its limits; the best path so far is still returned."""

    code = "budget"


class NotFoundError(FootpathError):
    """The thing does not exist, or the caller may not know that it does."""

    code = "not_found"


class ConflictError(FootpathError):
    """A request that conflicts with the current state, as a name in use or a thing that has changed meanwhile."""

    code = "conflict"


class NotLinearError(ConflictError):
    """A program that is not a plain list of steps, because it repeats, chooses or computes."""

    code = "not_linear"

    def __init__(self, message: str, line: int | None = None) -> None:
        """Create the error; ``line`` is the place in the program's text, from 1."""
        super().__init__(message)
        self.line = line


class UnauthenticatedError(FootpathError):
    """The caller is not authenticated: no token, or one that is no longer valid."""

    code = "unauthenticated"


class WrongPasswordError(UnauthenticatedError):
    """Name and password do not match. Never says which of the two is wrong."""

    code = "wrong_password"


class ForbiddenError(FootpathError):
    """The caller is authenticated but may not do this."""

    code = "forbidden"


class NotAllowedError(FootpathError):
    """A call with side effects, or one that carries one host's data to another, that its user did not allow.

    Nothing was sent.
    """

    code = "not_allowed"


class ExcludedCallError(NotAllowedError):
    """A call that its user excluded when several were approved at once; the others are made."""

    code = "left_out"


class RegistrationError(ForbiddenError):
    """Registration is closed, or needs a valid invitation."""

    code = "registration"


class BusyError(FootpathError):
    """The caller has as many operations in progress as allowed; the request can be retried later."""

    code = "busy"


class LockedOutError(FootpathError):
    """Too many failed attempts; ``retry_after`` is the seconds until another is accepted."""

    code = "locked_out"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class OverLimitError(FootpathError):
    """The caller's allowance for a period is used up; ``retry_after`` is the seconds until there is more."""

    code = "over_limit"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
