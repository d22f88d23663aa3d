import pytest

from backread.settings import Settings
from backread.supervisor.home import HomeLock, ServerInfo
from tests.api.live import loopback_socket, serving
from tests.backread.cli.conftest import Run, answer


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_doctor_examines_the_running_server(
    run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    assert run("user", "add", "ada@example.org", "--owner").exit_code == 0
    lock = HomeLock(settings)
    lock.acquire()
    try:
        with serving(settings, listener):
            lock.publish(ServerInfo(pid=1, url=f"http://127.0.0.1:{port}", broker_url=""))
            healthy = run("connect", "doctor", "--json")
            in_words = run("connect", "doctor")
            named = run("connect", "doctor", "--address", f"http://localhost:{port}/api/mcp/mcp")
    finally:
        lock.release()
    assert healthy.exit_code == 0, healthy.output
    sections = answer(healthy)["examinations"][0]["sections"]
    remarks = [
        (section["title"], each["check"])
        for section in sections
        for each in section["findings"]
        if each["state"] != "ok"
    ]
    assert remarks == [("Claude on the web", "public_address"), ("ChatGPT", "public_address")]
    assert "Only this computer reaches this address" in in_words.stdout
    assert named.exit_code == 1
    assert f"--public-url http://localhost:{port}" in named.stdout


def test_the_doctor_needs_a_server_to_examine(run: Run) -> None:
    result = run("connect", "doctor")
    assert result.exit_code == 1
    assert "backread up" in result.stderr


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("address", ["backread.example.org", "ftp://x/", "https://", "http://[::1"])
def test_the_doctor_says_what_an_address_looks_like(
    run: Run, settings: Settings, address: str
) -> None:
    run("user", "add", "ada@example.org", "--owner")
    lock = HomeLock(settings)
    lock.acquire()
    try:
        lock.publish(ServerInfo(pid=1, url="http://127.0.0.1:1", broker_url=""))
        result = run("connect", "doctor", "--address", address)
    finally:
        lock.release()
    assert result.exit_code == 1
    assert "It looks like https://backread.example.org" in result.stderr
