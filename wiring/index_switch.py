"""The switch from the index in force to a new one that was filled beside it."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from retriever.backends.edge_folder import EdgeFolder
from retriever.index import VectorIndex

if TYPE_CHECKING:
    from retriever.backends.qdrant import QdrantIndex


@dataclass(frozen=True, slots=True)
class Indexes:
    """``former``: the index in force, set up, with the identity of its encoder; None where there is none yet."""

    new: VectorIndex
    former: tuple[str, VectorIndex] | None


class IndexSwitch(Protocol):
    """A place with room for two indexes. All methods may raise ``UnavailableError``."""

    async def open(self, identity: str, dimension: int, known: Callable[[str], bool]) -> Indexes:
        """Both, set up; the new one as an interrupted run left it. ``known``: whether vectors of an identity can be compared with."""
        ...

    async def switch(self) -> None:
        """Put the new index in force, at once."""
        ...

    async def drop_former(self) -> list[str]:
        """Delete what was in force before; the names of what went. After :meth:`switch`."""
        ...

    async def close(self) -> None:
        """Release both; idempotent."""
        ...


class ServerIndexSwitch:
    """Collections of a Qdrant server; ``index`` makes an index that is not set up."""

    def __init__(self, index: "Callable[[], QdrantIndex]") -> None:
        self.new, self._former = index(), index()

    async def open(self, identity: str, dimension: int, known: Callable[[str], bool]) -> Indexes:
        """Where several encoders have vectors in force: this one's own, else one that can be asked."""
        await self.new.setup_beside(identity, dimension)
        makers = await self.new.in_force()
        if not makers:
            return Indexes(self.new, None)
        maker = min(makers, key=lambda one: (one[0] != identity, not known(one[0]), one))
        await self._former.setup(*maker)
        return Indexes(self.new, (maker[0], self._former))

    async def switch(self) -> None:
        await self.new.switch()

    async def drop_former(self) -> list[str]:
        return await self.new.drop_former()

    async def close(self) -> None:
        await self._former.close()
        await self.new.close()


class FolderIndexSwitch:
    """The folder of an embedded index, owned until :meth:`switch`; the new one grows in ``vectors.new`` beside it."""

    def __init__(self, folder: Path) -> None:
        from retriever.backends.edge import EdgeIndex

        self._folder = EdgeFolder(folder)
        self._new_folder = folder.with_name(f"{folder.name}.new")
        self._new, self._former = EdgeIndex(self._new_folder), EdgeIndex(folder)

    async def open(self, identity: str, dimension: int, known: Callable[[str], bool]) -> Indexes:
        del known
        maker = await asyncio.to_thread(self._folder.made_by)
        if maker:
            await self._former.setup(*maker)
        # What is left of a change to yet another encoder is of no use to anyone.
        await asyncio.to_thread(EdgeFolder(self._new_folder).empty_of_others, identity, dimension)
        await self._new.setup(identity, dimension)
        in_use = maker is not None and await self._former.count() > 0
        return Indexes(self._new, (maker[0], self._former) if maker and in_use else None)

    async def switch(self) -> None:
        await self.close()
        await asyncio.to_thread(self._folder.replace, self._new_folder)

    async def drop_former(self) -> list[str]:
        """A folder that stays is in nobody's way: the next switch takes it along."""
        gone = self._folder.former
        if not gone.exists():
            return []
        await asyncio.to_thread(shutil.rmtree, gone, ignore_errors=True)
        return [gone.name]

    async def close(self) -> None:
        await self._new.close()
        await self._former.close()
