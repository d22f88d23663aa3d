from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.owner_process import OwnerProcess


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[OwnerProcess]:
    """An owner of the test's own, which it may stop and kill."""
    process = OwnerProcess(tmp_path / "home")
    process.start()
    yield process
    process.close()
