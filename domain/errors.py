"""One small tree of errors. Each has a stable ``code`` and a message that says what to do."""

from typing import ClassVar, Literal, Self


class FootpathError(Exception):
    """Base of all errors that a user can meet. ``str(error)`` is fit to be shown to who runs the program, ``public_message`` to anyone."""

    code: ClassVar[str] = "error"

    @property
    def public_message(self) -> str:
        """The message, for people who must not learn hosts, ports or accounts of the program's own servers from it."""
        return str(self)


class UsageError(FootpathError):
    """Wrong use of a command or function (exit code 2). ``faults``: what is wrong, part by part, each with its place."""

    code = "usage"

    def __init__(self, message: str, faults: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class WeakPasswordError(UsageError):
    """A password that is among the first that anybody would try; the message says why, and what to choose."""

    code = "weak_password"


class AmbiguousNameError(UsageError):
    """A name that several tools carry; ``candidates`` are their ids."""

    code = "ambiguous_name"

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class BrokenInputError(FootpathError):
    """A file or record that cannot be read, named with its place (exit code 1 when skipped)."""

    code = "broken_input"

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class TooManyOperationsError(BrokenInputError):
    """A document that lists more operations than a source may have; some of them have to be chosen."""

    code = "too_many_operations"


class UnavailableError(FootpathError):
    """A store or service that is not there, or cannot be used as it is (exit code 3)."""

    code = "unavailable"
    part: str = ""
    """Which part of the server it is, where the message may name hosts, ports or accounts: fit to be told to anyone."""
    state: ClassVar[str] = "cannot be used just now"
    """What is the matter with that part, fit to be told to anyone."""

    def of(self, part: str) -> Self:
        """The error itself, about a part of the server."""
        self.part = part
        return self

    @property
    def public_message(self) -> str:
        """Which part it is and its state; the message where no part is named, unless it is an error of a store that passes."""
        if not (self.part or isinstance(self, PassingError)):
            return str(self)
        parts = [_PARTS.get(one, one) for one in self.part.split(", ")] if self.part else ["a store"]
        return f"{' and '.join(parts)} {self.state}"


_PARTS = {
    "database": "the database",
    "disk": "the server's disk",
    "graph": "the graph store",
    "store": "the store of tools",
    "vectors": "the vector store",
}


class PassingError(UnavailableError):
    """What passes by itself, or in another process: a run that meets it is gone on with later, rather than failed."""

    code = "passing"


class StoreUnreachableError(PassingError):
    """A server that holds a part of the store does not answer just now: what was asked of it may be asked again later."""

    code = "store_unreachable"
    state = "is out of reach"


class StoreRefusedError(PassingError):
    """A server that holds a part of the store refuses this process: its account, key or database is not the right one, or not at present.

    Another process may be let in, and so may this one when somebody has corrected the server or the setting that the message names.
    """

    code = "store_refused"
    state = "refuses this server"


class StoreVersionError(UnavailableError):
    """A store that was written by another version of the format, or by another encoder."""

    code = "store_version"
    state = "has another version or encoder than this server"


class StoreBusyError(PassingError):
    """Another process owns the embedded store."""

    code = "store_busy"


ModelFailure = Literal[
    "key", "quota", "model", "address", "tls", "dns", "connection", "timeout", "busy", "server", "request", "protocol"
]
"""What is wrong with a language model's endpoint, for who wants to act on it rather than read it."""


class ModelUnavailableError(UnavailableError):
    """A language model that gave no usable answer. ``lasting``: asking again will not help before something is changed.

    ``retry_after``: seconds that the endpoint asked to be left alone, where it did.
    """

    code = "model_unavailable"

    def __init__(
        self, message: str, kind: ModelFailure, *, lasting: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: ModelFailure = kind
        self.lasting = lasting
        self.retry_after = retry_after


class InvalidDecisionError(FootpathError):
    """A language model's answer that cannot be used, though the complaint about it was told back."""

    code = "invalid_decision"


class ForbiddenAddressError(FootpathError):
    """The guard against server-side request forgery refused an address. ``place``: the ``host:port`` that who runs the program may allow; empty
    where nothing allows it. ``reason``: why it is refused, without what allows it.
    """

    code = "forbidden_address"

    def __init__(self, reason: str, *, place: str = "", advice: str = "") -> None:
        super().__init__(f"{reason}; {advice}" if advice else reason)
        self.reason = reason
        self.place = place


class SecretError(FootpathError):
    """A named secret is not there, cannot be sent as the document says, or may not be sent to this host. Never holds a value."""

    code = "secret"


class NoAnswerError(FootpathError):
    """A server that was asked for a token or about itself, and was not reached in time or answered what cannot be used."""

    code = "no_answer"


class GrantRefusedError(FootpathError):
    """An authorization server that gives no token for what it was shown. ``reason``: its word for why, as ``invalid_grant``."""

    code = "grant_refused"

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class InvalidArgumentsError(FootpathError):
    """Arguments that do not fit the tool's parameters: tell the policy, it may try again."""

    code = "invalid_arguments"


class BudgetExceededError(FootpathError):
    """A run used up one of its bounds; the best path so far is still returned."""

    code = "budget"


class NotFoundError(FootpathError):
    """There is no such thing, or none that the caller may know of."""

    code = "not_found"


class ConflictError(FootpathError):
    """What was asked for does not go with what is there: a name that is taken, a thing that has changed meanwhile."""

    code = "conflict"


class NotLinearError(ConflictError):
    """What a program does cannot be told as a list of steps: it repeats, chooses or computes. ``line``: of its text, where it does, from 1."""

    code = "not_linear"

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class UnauthenticatedError(FootpathError):
    """Nobody known is asking: no token, or one that does not count any more."""

    code = "unauthenticated"


class WrongPasswordError(UnauthenticatedError):
    """Name and password do not belong together. Never says which of the two is wrong."""

    code = "wrong_password"


class ForbiddenError(FootpathError):
    """The caller is known and may not do this."""

    code = "forbidden"


class NotAllowedError(FootpathError):
    """A call that changes something, or carries what one host answered to another, and that its user did not allow. Nothing was sent."""

    code = "not_allowed"


class LeftOutError(NotAllowedError):
    """A call that its user left out of several that were asked about at once: the others are made."""

    code = "left_out"


class RegistrationError(ForbiddenError):
    """Registration is closed, or needs an invitation that counts."""

    code = "registration"


class BusyError(FootpathError):
    """As many of the caller's things are under way as may be; later it can be asked for again."""

    code = "busy"


class LockedOutError(FootpathError):
    """Too many failed attempts; ``retry_after``: seconds until the next one is looked at."""

    code = "locked_out"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class OverLimitError(FootpathError):
    """What the caller may use in a time is used up; ``retry_after``: seconds until more may be."""

    code = "over_limit"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
