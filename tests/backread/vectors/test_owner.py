import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backread.errors import Unavailable
from backread.settings import Settings
from backread.supervisor.home import HomeLock
from backread.vectors import wire
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery, VectorIndex
from backread.vectors.open import open_index
from backread.vectors.owner import serve
from backread.vectors.socket_index import SocketIndex, is_owner_alive
from tests.contract.owner_process import OwnerProcess

PASSAGES = Collection.PASSAGES


def points(first: int, last: int) -> list[IndexPoint]:
    return [IndexPoint(n, "account", "chat", "tea", [1.0, 0.0]) for n in range(first, last)]


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.02)


def test_an_owner_asked_to_end_keeps_everything_and_leaves_no_socket(owner: OwnerProcess) -> None:
    index = owner.index()
    index.upsert(PASSAGES, points(0, 100))

    assert owner.stop() == 0

    assert not owner.socket.exists()
    embedded = open_index(owner.settings, "test-model")
    assert isinstance(embedded, EdgeIndex)
    assert embedded.count(PASSAGES, "account") == 100
    embedded.close()


def test_a_killed_owner_loses_nothing_that_was_flushed(owner: OwnerProcess) -> None:
    index = owner.index()
    index.upsert(PASSAGES, points(0, 600))
    index.flush()

    owner.kill()
    owner.start()

    assert index.count(PASSAGES, "account") == 600


def test_a_client_goes_on_after_the_owner_was_restarted(owner: OwnerProcess) -> None:
    index = owner.index()
    index.upsert(PASSAGES, points(0, 3))
    signature = index.lexical_signature

    owner.stop()
    with pytest.raises(Unavailable) as refused:
        index.count(PASSAGES, "account")
    owner.start()

    assert "backread up" in refused.value.hint
    assert index.count(PASSAGES, "account") == 3
    assert index.lexical_signature == signature


def test_threads_share_a_client_and_get_their_own_answers(owner: OwnerProcess) -> None:
    index = owner.index()
    index.upsert(PASSAGES, [IndexPoint(n, f"account{n}", "chat", "tea") for n in range(8)])
    wrong: list[object] = []

    def ask(number: int) -> None:
        query = IndexQuery(IndexFilter(f"account{number}"), 10, words="tea")
        for _ in range(20):
            answer = index.search(PASSAGES, [query])
            if [each.id for each in answer[0]] != [number]:
                wrong.append(answer)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert wrong == []


def test_clients_with_different_models_do_not_see_each_others_vectors(owner: OwnerProcess) -> None:
    old, new = owner.index("old model"), owner.index("new model")
    old.upsert(PASSAGES, points(0, 1))
    query = IndexQuery(IndexFilter("account"), 10, vector=[1.0, 0.0])

    assert [each.id for each in old.search(PASSAGES, [query])[0]] == [0]
    assert new.search(PASSAGES, [query]) == [[]]


def test_an_error_of_the_index_reaches_the_client_in_words(owner: OwnerProcess) -> None:
    index = owner.index()
    index.upsert(PASSAGES, points(0, 1))

    with pytest.raises(Unavailable, match="5 numbers"):
        index.upsert(PASSAGES, [IndexPoint(2, "account", "chat", "tea", [1.0] * 5)])

    assert index.count(PASSAGES, "account") == 1


@pytest.mark.parametrize("frame", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x01\xc1", b"\x00\x00"])
def test_a_bad_frame_ends_its_connection_only(owner: OwnerProcess, frame: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(30)
        stranger.connect(str(owner.socket))
        stranger.sendall(frame)
        stranger.shutdown(socket.SHUT_WR)
        assert stranger.recv(1) == b""

    assert owner.index().count(PASSAGES, "account") == 0


def test_an_operation_that_does_not_exist_is_refused(owner: OwnerProcess) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(30)
        stranger.connect(str(owner.socket))
        wire.send(stranger, ["drop_everything"])
        assert wire.receive(stranger)[0] is False
        wire.send(stranger, ["signature"])
        assert wire.receive(stranger)[0] is True


def test_the_socket_is_for_its_user_alone(owner: OwnerProcess) -> None:
    assert owner.socket.stat().st_mode & 0o077 == 0
    assert owner.socket.parent.stat().st_mode & 0o077 == 0


def test_without_a_server_the_index_opens_in_the_process(tmp_path: Path) -> None:
    index = open_index(Settings(home=tmp_path), "model")

    assert isinstance(index, EdgeIndex)
    index.close()


def test_while_a_servers_owner_is_away_nobody_else_takes_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backread.vectors.open._LOCK_WAIT_SECONDS", 0.3)
    settings = Settings(home=tmp_path)
    server = HomeLock(settings)
    server.acquire()
    with pytest.raises(Unavailable, match="not there yet"):
        open_index(settings, "model")
    owner = EdgeIndex(settings.index_dir)  # nobody has it
    owner.close()

    server.release()
    index = open_index(settings, "model")
    assert isinstance(index, EdgeIndex)
    index.close()


def test_with_a_server_the_index_is_reached_through_its_owner(owner: OwnerProcess) -> None:
    index: VectorIndex = open_index(owner.settings, "model")

    assert isinstance(index, SocketIndex)
    index.close()


def test_a_home_with_a_very_long_path_still_gets_a_socket(tmp_path: Path) -> None:
    process = OwnerProcess(tmp_path / ("deep" * 20) / ("deeper" * 20))

    process.start()

    try:
        assert len(str(process.socket)) <= 100
        assert process.index().count(PASSAGES, "account") == 0
        assert process.stop() == 0
    finally:
        process.close()


def test_an_owner_waits_for_a_command_that_has_the_index(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    command = EdgeIndex(settings.index_dir)
    command.upsert(PASSAGES, points(0, 5))
    stop = threading.Event()
    owner = threading.Thread(target=serve, args=(settings, stop))

    owner.start()
    try:
        assert not is_owner_alive(wire.socket_path(settings))
        command.close()
        wait_until(lambda: is_owner_alive(wire.socket_path(settings)))
        client = open_index(settings, "model")
        assert client.count(PASSAGES, "account") == 5
        client.close()
    finally:
        stop.set()
        owner.join(30)

    assert not owner.is_alive()


def test_an_owner_interrupted_while_it_waits_ends_quietly(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    command = EdgeIndex(settings.index_dir)
    program = (
        "import sys; from backread.settings import Settings; "
        "from backread.vectors.owner import serve; "
        "serve(Settings(home=sys.argv[1]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", program, str(tmp_path)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert b"index_owner_waits" in process.stdout.readline()

    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 0
    process.stdout.close()
    command.close()
