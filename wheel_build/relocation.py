"""Code that is moved below ``footpath/``: its absolute imports name the new places, and messages name the command instead of a script."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

from footpath.command_table import COMMANDS

ABOVE = "footpath"
SCRIPTS = "scripts"
_NAMES = {command.script: name for name, command in COMMANDS.items()}
_SCRIPT = re.compile(r"(?:python )?\bscripts/([a-z]\w*)\.py\b")
_DOTTED = re.compile(r"""["'](\w+(?:\.\w+)+)["']""")
_FROM = re.compile(rb"from(?:\s|\\\n)+")
_TEXTS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
Edit = tuple[int, int, str]
"""What stands between two places of a text, in bytes, is replaced."""


class RelocationError(Exception):
    """Code that cannot be moved as it is written; the message says where and how to write it."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """``packages``: the folders at the top that move. ``flat``: modules of ``scripts/``, which import each other by name alone. ``modules``: all of ours, dotted."""

    packages: frozenset[str]
    flat: frozenset[str]
    modules: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> "Relocation":
        """For the files of a wheel, as they lie before."""
        paths = [PurePosixPath(name) for name in names if ".dist-info/" not in name]
        packages = frozenset(path.parts[0] for path in paths) - {ABOVE}
        code = [path for path in paths if path.suffix == ".py"]
        flat = frozenset(path.stem for path in code if path.parts[0] == SCRIPTS)
        dotted = (".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in code)
        return cls(packages, flat, frozenset(dotted))

    def place(self, name: str) -> str:
        """Where a file of the wheel goes."""
        return f"{ABOVE}/{name}" if name.partition("/")[0] in self.packages else name

    def text(self, text: str, name: str) -> str:
        """A module's text as it is to be where it goes. ``name``: where it lay. ``RelocationError``: it imports what cannot be told."""
        data = text.encode()
        starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]
        flat = self.flat if name.startswith(f"{SCRIPTS}/") else frozenset[str]()
        edits = [
            edit
            for node in statements(ast.parse(data))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for edit in self._imports(node, data, starts, flat, name)
        ]
        edits += self._texts(text, name)
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()

    def _imports(
        self, node: ast.Import | ast.ImportFrom, data: bytes, starts: list[int], flat: frozenset[str], name: str
    ) -> Iterator[Edit]:
        if isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module and (moved := self._moved(node.module, flat)):
                begin = starts[node.lineno - 1] + node.col_offset
                found = _FROM.match(data, begin)
                at = found.end() if found else begin
                if data[at : at + len(node.module)] != node.module.encode():
                    raise RelocationError(f"{name}:{node.lineno}: write the module's name in one piece")
                yield at, at + len(node.module), moved
            return
        for alias in node.names:
            if moved := self._moved(alias.name, flat):
                if "." in alias.name and alias.asname is None:
                    said = f"{name}:{node.lineno}: import {alias.name} binds a name that is not there in a wheel"
                    raise RelocationError(f"{said}: write from … import …")
                at = starts[alias.lineno - 1] + alias.col_offset
                yield at, at + len(alias.name), moved if alias.asname else f"{moved} as {alias.name}"

    def _moved(self, module: str, flat: frozenset[str]) -> str:
        """A module's new name; empty where it is none that moves."""
        first = module.partition(".")[0]
        if first in self.packages:
            return f"{ABOVE}.{module}"
        return f"{ABOVE}.{SCRIPTS}.{module}" if first in flat else ""

    def _texts(self, text: str, name: str) -> Iterator[Edit]:
        """Messages that say which script to run say which command; a text that names a module of ours is refused."""
        if not (_SCRIPT.search(text) or any(found[1] in self.modules for found in _DOTTED.finditer(text))):
            return  # reading the tokens of all files takes ten seconds
        lines = text.splitlines(keepends=True)
        starts = [0, *accumulate(len(line.encode()) for line in lines)]
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _TEXTS:
                continue
            if token.string.strip("\"'") in self.modules and "." in token.string:
                told = f"{name}:{token.start[0]}: {token.string} names a module that lies elsewhere in a wheel"
                raise RelocationError(f"{told}: name it by __package__ or __name__")
            row, column = token.start
            at = starts[row - 1] + len(lines[row - 1][:column].encode())
            for found in _SCRIPT.finditer(token.string):
                if command := _NAMES.get(found[1]):
                    before = len(token.string[: found.start()].encode())
                    yield at + before, at + before + len(found[0].encode()), f"{ABOVE} {command}"


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All of a text, without going into what they are made of: no import stands there."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.stmt | ast.excepthandler | ast.match_case):
            yield one
            yield from statements(one)
