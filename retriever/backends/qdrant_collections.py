"""Collections of a Qdrant server: one active per encoder, replaced by switching an alias.

``NAME-HASH`` is an alias, and ``NAME-HASH-1``, ``-2``, … are collections; the hash is that of identity and dimension.
A process uses the alias of its own encoder, so that vectors of two encoders never mix and a switch reaches all
processes at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from domain.errors import StoreVersionError, UnavailableError
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantConnection


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Identity of the encoder that a collection belongs to."""

    identity: str
    dimension: int

    @property
    def digest(self) -> str:
        """Return a hash of both, twelve characters."""
        return blake2b(f"{self.dimension} {self.identity}".encode(), digest_size=6).hexdigest()


class QdrantCollections:
    """Collections whose names begin with ``name``.

    With ``quantization``, new ones keep 8-bit copies of their vectors in memory.
    """

    def __init__(self, connection: QdrantConnection, name: str, *, quantization: bool) -> None:
        self._connection = connection
        self._name = name
        self._quantization = quantization

    def get_alias(self, encoder: EncoderIdentity) -> str:
        """Return the alias of this encoder's active collection."""
        return f"{self._name}-{encoder.digest}"

    async def open(self, encoder: EncoderIdentity) -> str:
        """Return the alias of this encoder's active collection.

        It is created if the server has no vectors of any encoder.

        Raises:
            StoreVersionError: the server has vectors of another encoder only.
        """
        alias, aliases = self.get_alias(encoder), await self._list_aliases()
        if alias in aliases:
            await self._check_collection(aliases[alias], encoder)
            if await self.count(aliases[alias]):
                return alias
        # A collection without vectors, left by a build that failed at its start, does not count.
        encoder_descriptions = {
            await self._describe_encoder(collection) for collection in aliases.values() if await self.count(collection)
        }
        if encoder_descriptions:
            others = ", ".join(sorted(encoder_descriptions))
            raise StoreVersionError(
                f"the vectors at {self._connection.address.url} were made by {others}; the encoder in use is "
                f"{encoder.identity} ({encoder.dimension} dimensions). Index the tools with it beside the others: "
                "python scripts/reindex.py; or use the former encoder"
            ).set_part("vectors")
        if alias not in aliases:
            await self.activate(encoder, await self.open_staging(encoder))
        return alias

    async def count(self, collection: str) -> int:
        """Return the exact number of a collection's vectors."""
        return (await self._connection.call("count vectors", lambda client: client.count(collection, exact=True))).count

    async def list_active_encoders(self) -> list[EncoderIdentity]:
        """Return the encoders with active vectors, as far as their collections have metadata."""
        non_empty = [collection for collection in (await self._list_aliases()).values() if await self.count(collection)]
        metadata = [await self._read_metadata(collection) for collection in non_empty]
        return [
            EncoderIdentity(str(fields["identity"]), int(str(fields["dimension"])))
            for fields in metadata
            if "identity" in fields and "dimension" in fields
        ]

    async def open_staging(self, encoder: EncoderIdentity) -> str:
        """Return a collection that is not active: the one of an interrupted re-index, or a new one."""
        alias, aliases = self.get_alias(encoder), await self._list_aliases()
        numbers = sorted(await self._list_collection_numbers(alias))
        current = _parse_collection_number(aliases[alias]) if alias in aliases else 0
        unfinished = [number for number in numbers if number > current]
        collection = f"{alias}-{unfinished[-1] if unfinished else current + 1}"
        if not unfinished:
            await self._create(collection, encoder)
        await self._index_payload(collection)
        await self._check_collection(collection, encoder)
        return collection

    async def activate(self, encoder: EncoderIdentity, collection: str) -> None:
        """Make a collection the active one, for all processes at once."""
        from qdrant_client import models

        alias = self.get_alias(encoder)
        create_alias = models.CreateAlias(collection_name=collection, alias_name=alias)
        changes: list[models.CreateAliasOperation | models.DeleteAliasOperation] = [
            models.CreateAliasOperation(create_alias=create_alias)
        ]
        # Both changes are one request, so that no process finds the alias missing.
        if alias in await self._list_aliases():
            changes.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
        await self._connection.call(
            "switch to the new vectors",
            lambda client: client.update_collection_aliases(change_aliases_operations=changes),
        )

    async def drop_older(self, encoder: EncoderIdentity) -> list[str]:
        """Delete this encoder's formerly active collections, and return their names."""
        alias, aliases = self.get_alias(encoder), await self._list_aliases()
        if alias not in aliases:
            raise UnavailableError("this encoder has no vectors in force yet: switch to them before the former ones go")
        current = _parse_collection_number(aliases[alias])
        own_collections = [
            collection for collection in await self._list_collections() if collection.startswith(f"{alias}-")
        ]
        return await self._delete(
            [collection for collection in own_collections if _parse_collection_number(collection) < current]
        )

    async def delete(self, encoder: EncoderIdentity, *, staged: bool) -> list[str]:
        """Delete this encoder's active and former collections and return their names.

        With ``staged``, delete instead those that were never active.
        """
        alias, aliases = self.get_alias(encoder), await self._list_aliases()
        current = _parse_collection_number(aliases[alias]) if alias in aliases else 0
        own_collections = [
            collection for collection in await self._list_collections() if collection.startswith(f"{alias}-")
        ]
        return await self._delete(
            [collection for collection in own_collections if (_parse_collection_number(collection) > current) == staged]
        )

    async def _delete(self, collections: Sequence[str]) -> list[str]:
        for collection in collections:
            await self._connection.call(
                "delete former vectors", lambda client, name=collection: client.delete_collection(name)
            )
        return sorted(collections)

    async def read_notes(self, encoder: EncoderIdentity) -> dict[str, str]:
        """Return the active collection's metadata. Raises ``StoreVersionError`` if it was dropped."""
        # The alias is read as if it were the collection: one round trip instead of two.
        try:
            metadata = await self._read_metadata(self.get_alias(encoder))
        except MissingCollectionError:
            metadata = await self._read_metadata(await self._find_active_collection(encoder))
        return {key: str(value) for key, value in metadata.items()}

    async def write_note(self, encoder: EncoderIdentity, key: str, value: str) -> None:
        """Store a value with the active collection. Raises ``StoreVersionError`` if it was dropped."""
        collection = await self._find_active_collection(encoder)
        await self._connection.call(
            "note the state of the index", lambda client: client.update_collection(collection, metadata={key: value})
        )

    def build_dropped_error(self, encoder: EncoderIdentity) -> StoreVersionError:
        """Build the error for vectors that another process dropped after a change of encoder."""
        return StoreVersionError(
            f"the vectors of {encoder.identity} ({encoder.dimension} dimensions) are no longer at "
            f"{self._connection.address.url}: they were dropped after a change to another encoder. Name the encoder that is "
            "in use now in the settings (FOOTPATH_EMBEDDER and those beside it) and start again; or index the tools with this "
            "one: python scripts/reindex.py"
        ).set_part("vectors")

    async def _find_active_collection(self, encoder: EncoderIdentity) -> str:
        collection = (await self._list_aliases()).get(self.get_alias(encoder))
        if collection is None:
            raise self.build_dropped_error(encoder)
        return collection

    async def _create(self, collection: str, encoder: EncoderIdentity) -> None:
        """Create a collection; if another process was first, its collection is used."""
        from qdrant_client import models

        vectors = models.VectorParams(size=encoder.dimension, distance=models.Distance.COSINE)
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        try:
            await self._connection.call(
                "create a collection",
                lambda client: client.create_collection(
                    collection,
                    vectors_config=vectors,
                    quantization_config=models.ScalarQuantization(scalar=scalar) if self._quantization else None,
                    metadata={"identity": encoder.identity, "dimension": encoder.dimension},
                ),
            )
        except UnavailableError:
            if collection not in await self._list_collections():
                raise

    async def _index_payload(self, collection: str) -> None:
        from qdrant_client import models

        await self._connection.call(
            "index the categories",
            lambda client: client.create_payload_index(collection, "category", models.PayloadSchemaType.KEYWORD),
        )

    async def _check_collection(self, collection: str, encoder: EncoderIdentity) -> None:
        """Check that a collection holds vectors of the encoder that its name says.

        Raises:
            StoreVersionError: it does not, as one that was made by hand or restored under another name.
        """
        from qdrant_client import models

        info = await self._connection.call("read a collection", lambda client: client.get_collection(collection))
        vectors = info.config.params.vectors
        fits = isinstance(vectors, models.VectorParams) and (vectors.size, vectors.distance) == (
            encoder.dimension,
            models.Distance.COSINE,
        )
        identity = (info.config.metadata or {}).get("identity", encoder.identity)
        if not fits or identity != encoder.identity:
            raise StoreVersionError(
                f"the collection {collection} at {self._connection.address.url} does not hold vectors of "
                f"{encoder.identity} ({encoder.dimension} dimensions, cosine); delete it and index the tools again"
            ).set_part("vectors")

    async def _describe_encoder(self, collection: str) -> str:
        metadata = await self._read_metadata(collection)
        return f"{metadata.get('identity', 'an unknown encoder')} ({metadata.get('dimension', '?')} dimensions)"

    async def _read_metadata(self, collection: str) -> dict[str, object]:
        info = await self._connection.call("read a collection", lambda client: client.get_collection(collection))
        return dict(info.config.metadata or {})

    async def _list_aliases(self) -> dict[str, str]:
        answer = await self._connection.call("list the aliases", lambda client: client.get_aliases())
        pattern = re.compile(rf"{re.escape(self._name)}-[0-9a-f]{{12}}")
        return {
            alias.alias_name: alias.collection_name for alias in answer.aliases if pattern.fullmatch(alias.alias_name)
        }

    async def _list_collections(self) -> list[str]:
        answer = await self._connection.call("list the collections", lambda client: client.get_collections())
        pattern = re.compile(rf"{re.escape(self._name)}-[0-9a-f]{{12}}-[0-9]+")
        return [collection.name for collection in answer.collections if pattern.fullmatch(collection.name)]

    async def _list_collection_numbers(self, alias: str) -> list[int]:
        return [
            _parse_collection_number(collection)
            for collection in await self._list_collections()
            if collection.startswith(f"{alias}-")
        ]


def _parse_collection_number(collection: str) -> int:
    return int(collection.rpartition("-")[2])
