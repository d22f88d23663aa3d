"""The Connections page and what it leads to."""

from starlette.testclient import TestClient


def test_the_address_of_a_former_examination_leads_to_its_button(signed_in: TestClient) -> None:
    answer = signed_in.get("/connections/examination", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/connections")
    assert 'action="/connections/examination"' in signed_in.get("/connections").text
