from urllib.parse import unquote

from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account
from tests.api.conftest import PASSWORD, sign_in
from tests.api.finds import bring_finds

PATH = "/api/v1/documents"


def test_documents_are_listed_without_and_given_with_their_text(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    page = signed_in.get(PATH).json()
    assert page["total"] == 2
    assert [(each["kind"], each["project"]) for each in page["items"]] == [
        ("instructions", "Kiln & co"),
        ("document", "Kiln & co"),
    ]
    assert "text" not in page["items"][0]
    whole = signed_in.get(f"{PATH}/{page['items'][0]['id']}").json()
    assert whole["text"] == "Be **brief**."
    assert whole["size_bytes"] == 13
    assert (
        len(signed_in.get(PATH, params={"project": "project-1", "limit": 1}).json()["items"]) == 1
    )
    assert signed_in.get(PATH, params={"project": "other"}).json()["total"] == 0
    assert signed_in.get(PATH, params={"platform": "chatgpt"}).json()["total"] == 0


def test_a_download_is_plain_text_under_a_harmless_name_and_never_shown_in_place(
    signed_in: TestClient,
) -> None:
    bring_finds(signed_in)
    item = signed_in.get(PATH).json()["items"][1]
    answer = signed_in.get(f"{PATH}/{item['id']}/download")
    assert answer.text == "# Pots\n\n<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="T_pfe.md"')
    assert unquote(disposition.rsplit("''", 1)[1]) == "Töpfe.md"


def test_a_long_name_is_cut_at_its_beginning_and_has_no_dot_there(signed_in: TestClient) -> None:
    documents = [{"uuid": "d", "filename": f"draft.{'y' * 149}", "content": "x"}]
    project = {"uuid": "p", "name": "Kiln", "prompt_template": "", "docs": documents}
    bring_finds(signed_in, **{"projects.json": [project]})
    (item,) = signed_in.get(PATH).json()["items"]
    disposition = signed_in.get(f"{PATH}/{item['id']}/download").headers["content-disposition"]
    assert disposition.startswith(f'attachment; filename="{"y" * 149}.txt"')


def test_documents_of_another_account_are_not_there(signed_in: TestClient, kernel: Kernel) -> None:
    bring_finds(signed_in)
    item = signed_in.get(PATH).json()["items"][0]
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash=PASSWORD, role="member")
        session.add(other)
    sign_in(signed_in, kernel, other)
    assert signed_in.get(PATH).json()["total"] == 0
    for address in (item["id"], f"{item['id']}/download", "0" * 26):
        assert signed_in.get(f"{PATH}/{address}").status_code == 404


def test_conversations_with_secrets_are_found_and_the_report_counts_them(
    signed_in: TestClient,
) -> None:
    import_id = bring_finds(signed_in)
    report = signed_in.get(f"/api/v1/imports/{import_id}").json()
    counts = [report[name] for name in ("memories_found", "documents_found", "secrets_found")]
    assert counts == [2, 2, 1]
    assert report["secrets_by_kind"] == {"Stripe key": 1}
    found = signed_in.get("/api/v1/conversations", params={"has_secrets": True}).json()
    assert found["total"] == 1
    assert found["items"][0]["secret_count"] == 1
    assert found["items"][0]["secrets"] == {"Stripe key": 1}
    bring_finds(signed_in, **{"memories.json": [{"conversations_memory": "Runs a pottery."}]})
    assert signed_in.get("/api/v1/conversations").json()["total"] == 1
