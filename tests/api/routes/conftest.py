import pytest
from starlette.testclient import TestClient

from tests.api.archive import Importer, importer


@pytest.fixture
def bring_in(signed_in: TestClient) -> Importer:
    """Imports conversations for the signed-in owner."""
    return importer(signed_in)
