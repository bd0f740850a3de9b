"""What the repository says: nothing of one machine, nothing of one registry."""

import re

from tests.support.source_tree import ROOT, files

# Written apart, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("golang", "org"),
        ("maven", "org"),
        ("deb", "debian", "org"),
    )
]
REGISTRY = re.compile("|".join([*map(re.escape, HOSTS), "(?<!no-emit-)index" + "-url\\b", "trusted" + "-host"]))
MACHINE_PATH = re.compile(r"(?<![\w.:/$}-])/(home|Users)/\w|(?<![\w.:/$}-])/(root|work)/\w|[A-Z]:\\Users\\")
LARGEST_TEXT = 2_000_000


def found(pattern: re.Pattern[str]) -> list[str]:
    """Places in our text files that match."""
    places: list[str] = []
    for path in files():
        content = path.read_bytes() if path.stat().st_size <= LARGEST_TEXT else b"\0"
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            if match := pattern.search(line):
                places.append(f"{path.relative_to(ROOT)}:{number}: {match.group()}")
    return places


def test_no_file_names_a_package_registry() -> None:
    assert found(REGISTRY) == []


def test_no_file_holds_a_path_of_one_machine() -> None:
    assert found(MACHINE_PATH) == []


def test_every_text_file_is_utf8_with_unix_lines() -> None:
    broken = [
        str(path.relative_to(ROOT))
        for path in files()
        if path.suffix in {".py", ".md", ".toml", ".lock", ".sh"} and b"\r" in path.read_bytes()
    ]
    assert broken == []
