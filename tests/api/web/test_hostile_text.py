"""Whatever stands in a chat, a file name or a client's name: no page runs or loads it."""

import json
import re
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from api.web.clients import client_guides
from api.web.content import render_code, render_markdown
from api.web.snippets import marked_snippet, query_terms
from api.web.templating import templates
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import (
    Account,
    Invite,
    OAuthClient,
    OAuthGrant,
    Passkey,
    PersonalToken,
    WebSession,
)
from tests.api.archive import Importer
from tests.api.exports import conversation, dialogue, message
from tests.api.payloads import PAYLOADS
from tests.api.web.pages import conversation_links, tags_of

_NEVER = {
    "img", "iframe", "object", "embed", "base", "video", "audio", "source", "template", "style",
    "math", "marquee", "animate", "isindex", "frame", "frameset", "x",
}  # fmt: skip
_ADDRESSES = {"href", "src", "action", "formaction", "data", "srcdoc", "xlink:href"}
_OWN_SVG = {"icon", "logo"}
# Made of this server's address alone: they open an editor that asks before it adds the server.
_SET_UP_LINKS = {guide.link for guide in client_guides("http://127.0.0.1:8787/api/mcp/mcp")} - {""}


def assert_inert(html: str) -> None:
    """No script but our own files, no handler, no frame, no picture, no odd address."""
    for tag, attributes in tags_of(html):
        where = f"<{tag} {attributes}>"
        assert tag not in _NEVER, where
        if tag == "script":
            assert (attributes.get("src") or "").startswith("/static/"), where
        if tag == "link":
            assert (attributes.get("href") or "").startswith("/static/"), where
        if tag == "form":
            assert (attributes.get("action") or "/").startswith("/"), where
        if tag == "svg":
            assert (attributes.get("class") or "").split()[0] in _OWN_SVG, where
        assert "http-equiv" not in attributes, where
        for name, value in attributes.items():
            assert not name.startswith("on"), where
            assert name != "style", where
            if name in _ADDRESSES and (value or "") not in _SET_UP_LINKS:
                scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", value or "", re.IGNORECASE)
                assert scheme is None or scheme[1].lower() in {"http", "https", "mailto"}, where


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


@pytest.mark.parametrize("payload", PAYLOADS)
def test_rendered_markdown_is_inert(payload: str) -> None:
    assert_inert(str(render_markdown(payload)))
    assert_inert(str(render_markdown(f"1. item\n\n   > {payload}\n")))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_snippets_with_marked_words_are_inert(payload: str) -> None:
    snippet = str(marked_snippet(payload * 3, query_terms(f"script alert {payload}")))
    assert_inert(snippet)
    assert re.sub(r"</?mark>", "", snippet).count("<") == 0


def test_pages_stay_inert_with_hostile_titles_messages_and_names(
    signed_in: TestClient, bring_in: Importer
) -> None:
    hostile = [
        dialogue(payload, payload, title=payload, identity=f"x-{number}")
        for number, payload in enumerate(PAYLOADS)
    ]
    import_id = bring_in(*hostile, name=f"{PAYLOADS[9]}.zip")
    first = signed_in.get("/conversations").text
    pages = [first, signed_in.get(f"/imports/{import_id}").text, signed_in.get("/import").text]
    pages += [signed_in.get("/").text]
    paths = conversation_links(first)
    assert len(paths) >= 40
    pages += [signed_in.get(path).text for path in paths]
    for html in pages:
        assert_inert(html)


def test_hostile_client_names_are_shown_as_text(
    signed_in: TestClient, owner: Account, kernel: Kernel
) -> None:
    with kernel.store.write() as session:
        for number, payload in enumerate(PAYLOADS):
            name = payload.replace("\x00", "")
            session.add(OAuthClient(id=f"c{number}", fingerprint=f"f{number}", name=name))
            session.flush()
            session.add(
                OAuthGrant(account_id=owner.id, client_id=f"c{number}", scopes=[name], resource="r")
            )
    page = signed_in.get("/connections")
    assert_inert(page.text)
    assert "alert(1)" in page.text


def test_hostile_names_in_the_settings_are_shown_as_text(
    signed_in: TestClient, owner: Account, kernel: Kernel
) -> None:
    later = utcnow() + timedelta(days=1)
    with kernel.store.write() as session:
        for number, payload in enumerate(PAYLOADS):
            name, key = payload.replace("\x00", "")[:100], str(number)
            session.add(Account(email=f"{name}{number}", password_hash="x", display_name=name))
            session.add(Invite(token_hash=key, invited_by=owner.id, name=name, expires_at=later))
            session.add(
                PersonalToken(account_id=owner.id, token_hash=key, name=name, scopes=[name])
            )
            session.add(
                Passkey(
                    account_id=owner.id,
                    credential_hash=key,
                    credential_id=b"x",
                    public_key=b"x",
                    name=name,
                )
            )
            session.add(
                WebSession(
                    account_id=owner.id,
                    token_hash=key,
                    csrf_token="x",
                    user_agent=payload.replace("\x00", ""),
                    expires_at=later,
                )
            )
    for section in ("security", "sessions", "tokens", "people"):
        page = signed_in.get(f"/settings/{section}")
        assert page.status_code == 200
        assert_inert(page.text)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_consent_page_shows_a_hostile_client_as_text(payload: str) -> None:
    html = templates.get_template("consent.html").render(
        signed_in=None,
        client_name=payload,
        client_host=payload,
        redirect_uri=payload,
        is_loopback=False,
        scopes=[{"value": payload, "title": "t", "detail": "d", "checked": True}],
        consent_id="id",
        csrf_token="token",
        account_email="ada@example.org",
        path="/authorize",
    )
    assert_inert(html)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_code_of_an_artifact_is_inert(payload: str) -> None:
    for language in ("html", "svg", "markdown", payload):
        assert_inert(str(render_code(payload, language)))


def test_pages_stay_inert_with_hostile_artifacts(signed_in: TestClient, bring_in: Importer) -> None:
    def call(payload: str, kind: str) -> dict[str, object]:
        given = {"name": payload, "type": kind, "content": f"{payload}\n\n{payload}"}
        broken = {"updates": [{"pattern": payload * 2 + "(", "replacement": payload}]}
        making = message("c", "q", "assistant", json.dumps(given))
        making["message"]["recipient"] = "canmore.create_textdoc"
        changing = message("d", "c", "assistant", json.dumps(broken))
        changing["message"]["recipient"] = "canmore.update_textdoc"
        nodes = [message("q", None, "user", "Go"), making, changing]
        return conversation(nodes, identity=f"x-{kind}-{payload}"[:60])

    kinds = ("document", "code/html")
    bring_in(*(call(payload, kind) for payload in PAYLOADS[::4] for kind in (*kinds, "code/<i>")))
    paths = conversation_links(signed_in.get("/conversations").text)
    assert len(paths) >= 40
    for path in paths[:50]:
        assert_inert(signed_in.get(path).text)
        for version in (1, 2):
            assert_inert(signed_in.get(f"{path}/artifacts/1?version={version}").text)
        answer = signed_in.get(f"{path}/artifacts/1/file")
        assert answer.headers["content-type"].startswith("text/plain")
        assert re.fullmatch(
            r"attachment; filename\*=UTF-8''[A-Za-z0-9._~%()-]+",
            answer.headers["content-disposition"],
        )
