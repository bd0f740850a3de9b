"""Where the source makes a network client or opens a connection, found in its syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.source_tree import module_name, parsed

LIBRARIES = frozenset(
    {"aiohttp", "anyio", "botocore", "boto3", "ftplib", "grpc", "h2", "http", "httpcore", "httpcore2", "httpx", "httpx2", "huggingface_hub", "mcp",
     "langchain", "langchain_core", "langchain_openai", "neo4j", "openai", "paramiko", "poplib", "psycopg", "pycurl", "qdrant_client", "ray",
     "redis", "requests", "smtplib", "socket", "telnetlib", "urllib", "urllib3", "websocket", "websockets", "xmlrpc"}
)  # fmt: skip
"""What can reach the network, by its top-level name."""
HARMLESS = frozenset({"urllib.parse", "http.HTTPStatus", "anyio.to_thread"})
"""Parts of those that cannot."""
OPENERS = frozenset(
    {"create_connection", "create_datagram_endpoint", "getaddrinfo", "gethostbyname", "getnameinfo", "open_connection",
     "open_unix_connection", "sock_connect", "urlopen", "urlretrieve"}
)  # fmt: skip
"""Methods that open a connection or ask a name server, whatever object they belong to."""
_VALUES = ("mcp.types.", "mcp.shared.message.", "qdrant_client.models.", "langchain_core.", "ray.data.DataContext")
_TYPES = (
    "gaierror",
    "create_ssl_context",
    "bookmark_manager",
    "Error",
    "Exception",
    "Timeout",
    "URL",
    "Limits",
    "Response",
    "Request",
    "Params",
    "Headers",
)


def imports_of(path: Path) -> set[str]:
    """The networking libraries that a file imports, wherever in it."""
    return {name.partition(".")[0] for name in _aliases(path).values()}


def sites(path: Path) -> Iterator[tuple[str, str]]:
    """(module, what is called) for each client that is made, class of a transport that is extended, and connection opened."""
    aliases = _aliases(path)
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ClassDef):
            called = [dotted for base in node.bases if (dotted := _dotted(base, aliases)) and "Transport" in dotted]
        elif isinstance(node, ast.Call):
            dotted = _dotted(node.func, aliases)
            opener = node.func.attr if isinstance(node.func, ast.Attribute) and node.func.attr in OPENERS else ""
            called = [name for name in (dotted if _makes(dotted) else opener,) if name]
        else:
            continue
        for name in called:
            yield module_name(path), name


def _makes(dotted: str) -> bool:
    """Whether a call of this name makes something that connects: all do but errors, time limits and plain values."""
    last = dotted.rpartition(".")[2]
    return bool(dotted) and not last.endswith(_TYPES) and not dotted.startswith(_VALUES)


def _aliases(path: Path) -> dict[str, str]:
    """Local name to dotted name, for everything imported from a library that can reach the network."""
    found: dict[str, str] = {}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names = {
                alias.asname or alias.name.partition(".")[0]: alias.name
                if alias.asname
                else alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        else:
            continue
        for local, name in names.items():
            harmless = any(name == part or name.startswith(part + ".") for part in HARMLESS)
            if name.partition(".")[0] in LIBRARIES and not harmless:
                found[local] = name
    return found


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    """``httpx.AsyncClient`` for an expression that names it, by whatever alias; empty for others."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return ""
    return ".".join([aliases[node.id], *reversed(parts)])
