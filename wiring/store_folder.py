"""Folder of an embedded store: its files, and the version of its format."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from domain.errors import StoreVersionError, UnavailableError
from wiring.private_files import PRIVATE_FOLDER_MODE, keep_private

FORMAT = 1
"""Version of the folder's layout. A change of it needs a rebuild, or a migration."""


@dataclass(frozen=True, slots=True)
class StoreFolder:
    """Paths inside an embedded store."""

    root: Path

    @property
    def stamp(self) -> Path:
        return self.root / "footpath.json"

    @property
    def graph(self) -> Path:
        return self.root / "graph.db"

    @property
    def recordings(self) -> Path:
        return self.root / "recordings.db"

    @property
    def memories(self) -> Path:
        return self.root / "memories.db"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions.db"

    @property
    def patterns(self) -> Path:
        return self.root / "patterns.db"

    @property
    def run_history(self) -> Path:
        return self.root / "asked.jsonl"

    @property
    def flows(self) -> Path:
        return self.root / "flows.db"

    @property
    def kept_fields(self) -> Path:
        return self.root / "fields.db"

    @property
    def vectors(self) -> Path:
        return self.root / "vectors"

    @property
    def lexical(self) -> Path:
        return self.root / "lexical"

    def open(self, *, create: bool) -> None:
        """Check the format, or stamp a new folder with it.

        Raises:
            UnavailableError: there is no store and ``create`` is false, or the folder holds something else.
            StoreVersionError: the store has another format.
        """
        if self.stamp.exists():
            self._check_format()
            self.keep_private()
        elif not create:
            raise UnavailableError(
                f"{self.root} holds no Footpath store; build one: python scripts/build_graph.py --store {self.root} …"
            )
        else:
            self._create_folder()

    def keep_private(self) -> None:
        """Make all files accessible to their owner only: they hold what tools have answered."""
        keep_private(self.root)

    def _check_format(self) -> None:
        try:
            version = orjson.loads(self.stamp.read_bytes())["format"]
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise UnavailableError(f"{self.stamp} cannot be read ({error}); build the store anew elsewhere") from error
        if version != FORMAT:
            raise StoreVersionError(
                f"{self.root} has store format {version}, this program reads {FORMAT}; build it anew from its sources"
            )

    def _create_folder(self) -> None:
        try:
            if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
                raise UnavailableError(f"{self.root} exists and is no Footpath store; name an empty or new folder")
            self.root.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
            part_file = self.stamp.with_suffix(".part")
            part_file.write_bytes(orjson.dumps({"format": FORMAT}))
            part_file.replace(self.stamp)
            self.keep_private()
        except OSError as error:
            raise UnavailableError(f"cannot create a store in {self.root}: {error.strerror}") from error
