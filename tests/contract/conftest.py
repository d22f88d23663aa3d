"""Real parts for the contract suites."""

from collections.abc import Iterator

import pytest

from tests.contract.owner_process import OwnerProcess


@pytest.fixture(scope="session")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    """An owner that all tests of a run share; each uses accounts of its own."""
    process = OwnerProcess(tmp_path_factory.mktemp("owner"))
    process.start()
    yield process
    process.close()
