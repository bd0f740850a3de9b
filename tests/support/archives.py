"""Archives that the tests brought along."""

import tarfile
from pathlib import Path


def unpack(packed: tarfile.TarFile, folder: Path) -> None:
    """Write all files of an archive into a folder, and none beside it, with the rights that a program's files have.

    Python before 3.11.4, which Debian 12 has, takes no filter as an argument.
    """
    packed.extraction_filter = getattr(tarfile, "data_filter", None)
    packed.extractall(folder)
