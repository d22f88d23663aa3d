import asyncio
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from api.oauth.client_documents import ClientDocuments
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import OAuthClient
from tests.api.oauth.documents import DocumentServer, document_server
from tests.support import meanwhile


@pytest.fixture
def documents() -> Iterator[DocumentServer]:
    with document_server() as server:
        yield server


def test_two_sign_ins_with_a_new_document_make_one_client(
    kernel: Kernel, documents: DocumentServer
) -> None:
    client_id = documents.describe()
    settings = kernel.settings.model_copy(update={"client_documents": "on"})
    ours = ClientDocuments(settings, documents.fetcher())

    def other_request(session: WriteSession) -> None:
        session.add(OAuthClient(id=client_id, fingerprint="of the other", name="Trial Tool"))

    def this_request(session: WriteSession) -> None:
        asyncio.run(ours.ensure(kernel, client_id))

    meanwhile(kernel.store, other_request, this_request)
    with kernel.store.read() as session:
        client = session.scalars(select(OAuthClient)).one()
    assert client.metadata_["redirect_uris"] == ["http://127.0.0.1/callback"]
