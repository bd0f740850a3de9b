"""Neo4j's errors in the project's words: what is wrong with which server, and what to do."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable

from domain.errors import UnavailableError


@dataclass(frozen=True, slots=True)
class Server:
    """Where the graph is, without the password. ``user`` empty: a server that asks for none."""

    url: str
    user: str
    database: str

    def __str__(self) -> str:
        """The address, without what may stand before an ``@``."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return "the graph's address"
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})


def check_address(server: Server) -> None:
    """Raise ``UnavailableError`` for what is no address of a Neo4j, or holds an account (it would end up in logs)."""
    try:
        parts = urlsplit(server.url)
        good = parts.scheme in _SCHEMES and bool(parts.hostname) and "@" not in parts.netloc
        good = good and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise UnavailableError(
            f"{server}: this cannot be used as an address. Write FOOTPATH_GRAPH_URL as bolt://host:7687 or"
            " neo4j://host:7687 (+s for TLS), user and password in FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD"
        ).of("graph")


_SAYS = {
    "Neo.ClientError.Security.Unauthorized": "the server refused user {user!r} with this password. Check"
    " FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD",
    "Neo.ClientError.Security.AuthenticationRateLimit": "the server takes no password for some seconds after several wrong"
    " ones. Check FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD, wait, and try again",
    "Neo.ClientError.Security.CredentialsExpired": "the first password of user {user!r} must be changed before use."
    " Run on database system: ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
    "Neo.ClientError.Security.Forbidden": "user {user!r} may not do this in database {database!r}. Give it a role that may"
    " read and write, and for the first start one that may create constraints (Enterprise: publisher, architect)",
    "Neo.ClientError.Database.DatabaseNotFound": "there is no database {database!r}. Set FOOTPATH_GRAPH_DATABASE to one that"
    " exists (SHOW DATABASES lists them; Neo4j Community has one, usually called neo4j)",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": "database {database!r} is read-only. Make it writable"
    " (server.databases.default_to_read_only, server.databases.read_only), or only read from it",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": "database {database!r} is read-only. Make it writable"
    " (server.databases.default_to_read_only, server.databases.read_only), or only read from it",
    "Neo.ClientError.Cluster.NotALeader": "this member of the cluster takes no writes. Use a neo4j:// address, which finds"
    " the one that does",
    "Neo.TransientError.Database.DatabaseUnavailable": "database {database!r} is not running. Start it (START DATABASE), or"
    " wait until it has recovered",
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": "this is too much for the server's memory in one transaction."
    " Nothing of it was kept. Raise dbms.memory.transaction.total.max and the heap, or write smaller batches",
    "Neo.TransientError.General.OutOfMemoryError": "the server ran out of memory. Nothing of this was kept. Raise"
    " server.memory.heap.max_size, or write smaller batches",
}


_FAILED = "the server failed in itself; nothing of this was kept. See its log and its free disk, and restart the database if it asks for that"


def explain(error: Exception, server: Server) -> str:
    """What to tell the user of an error of the driver. Never holds the password; ends with the driver's own words."""
    detail = " ".join(str(error).split())[:400]
    return f"{_advice(error).format(user=server.user, database=server.database)} ({detail or type(error).__name__})"


def _advice(error: Exception) -> str:
    if isinstance(error, Neo4jError):
        code = error.code or ""
        failed = code.startswith("Neo.DatabaseError.")
        return _SAYS.get(code, _FAILED if failed else "the server refused this; nothing of it was kept")
    if isinstance(error, ServiceUnavailable | TimeoutError):
        return (
            "no Neo4j answers there. Start the server, or correct FOOTPATH_GRAPH_URL (Bolt's port is 7687 unless it was"
            " changed; 7474 is the browser's)"
        )
    if isinstance(error, DriverError):
        return "the connection failed. Check that this is a Neo4j 5.26 or newer, and try again: nothing that was acknowledged is lost"
    return "the driver cannot send this"
