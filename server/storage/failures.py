"""What goes wrong in a database, in our words. No statement, parameter or password is ever shown."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from domain.errors import ConflictError, FootpathError, StoreBusyError, StoreUnreachableError, UnavailableError

_BUSY = ("database is locked", "database table is locked")
_CLASHES = ("40001", "40P01", "55P03")
"""PostgreSQL's states of transactions that stood in each other's way."""
_PASSING = ("08", "53", "55000", "57P")
"""Of servers that start, stop or recover, or have no room for another connection."""
_REFUSALS = {
    "28": "check user and password in FOOTPATH_DATABASE_URL",
    "3D000": "make it (createdb), or correct its name in FOOTPATH_DATABASE_URL",
    "42501": "let this account own the database, so that it may make its tables",
    "25006": "name a server in FOOTPATH_DATABASE_URL that takes writes",
}
"""What to do about its states that do not pass by themselves."""
_ADVICE = "check FOOTPATH_DATABASE_URL, and that the database is there and lets this account in"


@contextmanager
def translated(failed: Callable[[FootpathError], None] = lambda _: None) -> Generator[None]:
    """Raise ``ConflictError``, ``StoreBusyError`` or ``UnavailableError`` in place of the driver's errors.

    ``failed`` is told of the latter two: what is in conflict is the caller's.
    """
    try:
        with _translated():
            yield
    except (StoreBusyError, UnavailableError) as error:
        error.part = error.part or "database"
        if error.__cause__ is not None and not isinstance(error.__cause__, FootpathError):
            failed(error)
        raise


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except IntegrityError as error:
        raise ConflictError("what was to be written does not go with what is there") from error
    except DBAPIError as error:
        if (told := _told(error)) is None:
            raise
        raise told from error
    except PoolTimeoutError as error:
        raise StoreBusyError("all connections to the database are in use; try again") from error
    except OSError as error:
        raise StoreUnreachableError(f"the database is not reached ({error.strerror or error}); {_ADVICE}") from error


def _told(error: DBAPIError) -> FootpathError | None:
    """The driver's refusal in our words; None for what is a fault of ours."""
    said, state = _words(error.orig), str(getattr(error.orig, "sqlstate", None) or "")
    if any(word in said for word in _BUSY) or state in _CLASHES:
        return StoreBusyError("the database is busy with another program's write; try again")
    for known, advice in _REFUSALS.items():
        if state.startswith(known):
            return UnavailableError(f"the database cannot be used ({said}); {advice}")
    if error.connection_invalidated or state.startswith(_PASSING):
        return StoreUnreachableError(f"the database does not answer just now ({said}); try again in a moment")
    if isinstance(error, OperationalError | InterfaceError):
        return UnavailableError(f"the database cannot be used ({said}); {_ADVICE}")
    return None


def _words(error: BaseException | None) -> str:
    """The first line of what the database said, without the driver's name for it."""
    lines = str(error).splitlines()
    return re.sub(r"^<class '[^']*'>: ", "", lines[0]) if lines else type(error).__name__
