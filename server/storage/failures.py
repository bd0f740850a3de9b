"""What goes wrong in a database, in our words. No statement, parameter or password is ever shown."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from domain.errors import ConflictError, FootpathError, StoreBusyError, UnavailableError

_BUSY = ("database is locked", "database table is locked")
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
        if error.__cause__ is not None and not isinstance(error.__cause__, FootpathError):
            failed(error)
        raise


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except IntegrityError as error:
        raise ConflictError("what was to be written does not go with what is there") from error
    except (OperationalError, InterfaceError, DBAPIError) as error:
        said = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        if any(word in said for word in _BUSY):
            raise StoreBusyError("the database is busy with another program's write; try again") from error
        if not isinstance(error, OperationalError | InterfaceError) and not error.connection_invalidated:
            raise
        raise UnavailableError(f"the database cannot be used ({said}); {_ADVICE}") from error
    except PoolTimeoutError as error:
        raise StoreBusyError("all connections to the database are in use; try again") from error
    except OSError as error:
        raise UnavailableError(f"the database is not reached ({error.strerror or error}); {_ADVICE}") from error
