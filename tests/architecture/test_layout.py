"""Rules about the tree that no linter checks."""

import ast
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("backread", "api", "ingest", "recall", "desktop_sync", "extension_bridge")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# The supervisor hands its environment on to the processes it starts; it reads no setting from it.
ENVIRONMENT_READERS = {"backread/settings.py", "backread/supervisor/processes.py"}
MAX_LINES = 400
LONGER_FOR_A_REASON: dict[str, str] = {}


def test_no_installed_distribution_claims_our_short_package_names() -> None:
    owners = packages_distributions()
    strangers = {name: set(owners.get(name, ())) - {"backread"} for name in PACKAGES}
    assert not any(strangers.values()), strangers


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    if str(path.relative_to(ROOT)) in LONGER_FOR_A_REASON:
        return
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if _reads_environment(path.read_text("utf-8"))
    }
    assert readers <= ENVIRONMENT_READERS


def _reads_environment(source: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        for node in ast.walk(ast.parse(source))
    )


def test_tests_mirror_the_source() -> None:
    """A test folder that names no source folder is a test nobody finds."""
    extra = {"architecture", "contract", "e2e", "fixtures", "nightly", "samples"}
    across = {"compatibility", "contract", "roundtrip"}  # of all that the folder around them holds
    for folder in (ROOT / "tests").rglob("*"):
        relative = folder.relative_to(ROOT / "tests")
        if not folder.is_dir() or folder.name == "__pycache__" or relative.parts[0] in extra:
            continue
        if relative.name in across:
            continue
        source = ROOT / relative
        assert source.is_dir() or source.with_suffix(".py").exists(), relative
