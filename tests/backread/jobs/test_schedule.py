"""What is done by the clock: each entry of the table, and each step of the upkeep."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from backread.domain import Principal
from backread.jobs import JOBS, UPKEEP
from backread.jobs.broker import SWEEP
from backread.jobs.inline import serve_places
from backread.jobs.runner import run_job
from backread.jobs.schedule import SCHEDULE, do_upkeep, prune_jobs, tend_database
from backread.jobs.words import WORDS
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import (
    EventStream,
    Invite,
    Job,
    JobTurn,
    OAuthClient,
    OAuthConsent,
    OAuthGrant,
    OAuthToken,
    PersonalToken,
    SignInChallenge,
    WebSession,
)
from ingest import tasks
from tests.backread.jobs.conftest import add, change_job, read_job

__all__ = ["tasks"]


def test_the_table_holds_each_entry_once_and_says_how_often() -> None:
    names = [entry.name for entry in SCHEDULE]
    assert len(names) == len(set(names))
    assert names[0] == SWEEP
    assert all(entry.seconds >= 5 for entry in SCHEDULE)
    assert all(entry.expires_seconds >= entry.seconds for entry in SCHEDULE)


def test_the_upkeep_has_a_step_for_each_thing_that_expires_or_lags_behind() -> None:
    assert {"clear_expired", "tidy_uploads", "resume_erasing", "look_for_lag"} <= {
        step.__name__ for step in UPKEEP
    }


Make = Callable[[str, str, datetime], Any]
# By name: a row of an account, called so, that ends or was last seen at that time.
EXPIRING: dict[str, Make] = {
    "a session": lambda account, name, ends: WebSession(
        id=name, token_hash=name, account_id=account, csrf_token="x", expires_at=ends
    ),
    "a sign-in under way": lambda account, name, ends: SignInChallenge(
        token_hash=name, purpose="password", account_id=account, challenge="x", expires_at=ends
    ),
    "an invite": lambda account, name, ends: Invite(
        id=name, token_hash=name, name="", invited_by=account, expires_at=ends
    ),
    "an event stream": lambda account, name, ends: EventStream(
        id=name, account_id=account, client_id="", seen_at=ends
    ),
    "a token of a script": lambda account, name, ends: PersonalToken(
        id=name, token_hash=name, account_id=account, name="x", scopes=[], expires_at=ends
    ),
}


@pytest.mark.parametrize("what", EXPIRING)
def test_what_has_expired_is_cleared_away_and_the_rest_stays(
    kernel: Kernel, principal: Principal, what: str
) -> None:
    make = EXPIRING[what]
    long_ago, later = utcnow() - timedelta(days=40), utcnow() + timedelta(days=1)
    with kernel.store.write() as session:
        session.add(make(principal.account_id, "old", long_ago))
        session.add(make(principal.account_id, "new", later))
    do_upkeep(kernel)
    kind = type(make(principal.account_id, "any", later))
    with kernel.store.read() as session:
        (left,) = session.scalars(select(kind))
    assert (getattr(left, "token_hash", None) or left.id) == "new"


def test_oauth_consents_and_tokens_that_have_expired_are_cleared_away(
    kernel: Kernel, principal: Principal
) -> None:
    long_ago, later = utcnow() - timedelta(days=1), utcnow() + timedelta(days=1)
    with kernel.store.write() as session:
        session.add(OAuthClient(id="c", name="Client", fingerprint="f"))
        session.flush()
        grant = OAuthGrant(
            account_id=principal.account_id, client_id="c", scopes=[], resource="https://x"
        )
        session.add(grant)
        session.flush()
        for name, ends in (("old", long_ago), ("new", later)):
            session.add(
                OAuthToken(token_hash=name, grant_id=grant.id, kind="access", expires_at=ends)
            )
            session.add(
                OAuthConsent(
                    id=name,
                    account_id=principal.account_id,
                    session_id="s",
                    client_id="c",
                    request={},
                    expires_at=ends,
                )
            )
    do_upkeep(kernel)
    with kernel.store.read() as session:
        assert list(session.scalars(select(OAuthToken.token_hash))) == ["new"]
        assert list(session.scalars(select(OAuthConsent.id))) == ["new"]


def test_a_step_that_fails_keeps_no_other_from_its_turn(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def fails(kernel: Kernel) -> None:
        raise ValueError("broken")

    def works(kernel: Kernel) -> None:
        done.append("works")

    monkeypatch.setattr("backread.jobs.schedule.UPKEEP", [fails, works])
    do_upkeep(kernel)
    assert done == ["works"]


def test_derived_rows_that_lag_behind_are_asked_for(kernel: Kernel) -> None:
    do_upkeep(kernel)
    with kernel.store.read() as session:
        names = set(session.scalars(select(Job.name).where(Job.state == "queued")))
    assert "ingest.catch_up" in names


def test_jobs_that_ended_long_ago_are_removed_and_others_stay(kernel: Kernel) -> None:
    old, fresh, waiting = (add(kernel, "sample.note", None, text="x") for _ in range(3))
    for job_id in (old, fresh):
        assert run_job(kernel, job_id) == "done"
    days = kernel.settings.job_keep_days
    change_job(kernel.store, old, finished_at=utcnow() - timedelta(days=days, minutes=1))
    with kernel.store.write() as session:
        session.add(JobTurn(owner="x", queue="y", served_at=utcnow() - timedelta(days=2)))
    prune_jobs(kernel)
    with kernel.store.read() as session:
        assert set(session.scalars(select(Job.id))) == {fresh, waiting}
        assert "x" not in set(session.scalars(select(JobTurn.owner)))
    assert read_job(kernel.store, waiting).state == "queued"


def test_the_database_is_tended_without_touching_what_is_in_it(kernel: Kernel) -> None:
    job_id = add(kernel, "sample.note", None, text="x")
    tend_database(kernel)
    assert read_job(kernel.store, job_id).state == "queued"
    if kernel.store.is_sqlite:
        with kernel.store.read() as session:
            assert session.scalar(text("SELECT count(*) FROM sqlite_stat1")), "has statistics"


def test_every_job_has_a_name_for_people() -> None:
    ours = {name for name in JOBS if not name.startswith("sample.")}
    assert ours <= set(WORDS), ours - set(WORDS)


def test_a_worker_without_a_broker_keeps_the_table_itself(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    entry = type(SCHEDULE[0])("test.entry", 0.01, lambda kernel: done.set())
    monkeypatch.setattr("backread.jobs.inline.SCHEDULE", (SCHEDULE[0], entry))
    monkeypatch.setattr("backread.jobs.inline._SCHEDULE_STEP_SECONDS", 0.01)
    stopping = threading.Event()
    worker = threading.Thread(target=serve_places, args=(kernel, stopping, []))
    worker.start()
    assert done.wait(20)
    stopping.set()
    worker.join(20)
