"""A little of `tests/nightly/mixed_load`: clients of every revision at once, over two processes of
one address, and requests whose headers contradict their bodies."""

import asyncio
import random

import pytest

from backread.settings import Settings
from tests.api.mcp_server.live_server import LiveServer, in_turns, running
from tests.nightly.mixed_load.asking import ERAS
from tests.nightly.mixed_load.load import Load, send_mismatches
from tests.nightly.mixed_load.mismatches import mismatch
from tests.nightly.mixed_load.server import settle

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_clients_of_every_revision_get_their_own_answers_and_nothing_else(
    settings: Settings,
) -> None:
    with running(settings) as first:
        shared = settings.model_copy(update={"public_url": first.origin})
        with running(shared) as second, in_turns(first, second) as origin:
            store = first.app.state.kernel.store
            callers = settle(store, first.settings, accounts=3, clients=20)
            port = int(origin.rsplit(":", 1)[1])
            load = Load(port, callers, streams=6, seed=20261201)
            tally = asyncio.run(load.run(rate=150, seconds=2))
    assert not tally.problems
    assert set(tally.waits) == set(ERAS)
    assert tally.answers == 300
    assert set(tally.statuses) == {200, 202}


def test_whatever_header_contradicts_its_body_is_refused_as_such(live: LiveServer) -> None:
    callers = settle(live.app.state.kernel.store, live.settings, accounts=2, clients=10)
    kinds, problems = asyncio.run(send_mismatches(live.settings.port, callers, 250, seed=20261201))
    assert not problems
    assert len(kinds) == 9


def test_a_contradiction_that_is_answered_is_noticed(live: LiveServer) -> None:
    """The check itself can fail."""
    (caller, *_) = settle(live.app.state.kernel.store, live.settings, accounts=1, clients=1)
    each = mismatch(random.Random(1), caller, 1)
    answer = b'{"jsonrpc":"2.0","id":"%s","result":{}}' % each.id.encode()
    assert each.problem(200, answer)
    assert each.problem(400, answer)
