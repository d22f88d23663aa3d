"""Runs the grants' state machine for many steps against the application.

    .venv/bin/python -m tests.nightly.grants.run [--steps 10000] [--seed N]

Ends with 0 when no step broke the model: never a good token after its grant has ended, never two
living grants of one client, never a good token refused. A failure prints the shortest way to it.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from starlette.testclient import TestClient

from api.accounts.sessions import cookie_name, create_session
from api.app import create_app
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from backread.store.models import Account
from tests.nightly.grants.machine import GrantMachine

_STEPS_EACH = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20261201)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        configuration = Settings(home=Path(home), embedding_model="hashing", client_documents="off")
        store = Store(configuration.sqlalchemy_url)
        upgrade(store)
        with store.write() as session:
            account = Account(email="ada@example.org", password_hash="unused", role="owner")
            session.add(account)
            session.flush()
            token = create_session(session, account)
        store.close()
        app = create_app(configuration)
        with TestClient(app, base_url=configuration.origin, follow_redirects=False) as browser:
            browser.cookies.set(cookie_name(configuration), token)
            GrantMachine.browser = browser
            GrantMachine.kernel = app.state.kernel
            GrantMachine.grace_seconds = configuration.refresh_grace_seconds
            machine = seed(options.seed)(GrantMachine)
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=max(1, options.steps // _STEPS_EACH),
                    stateful_step_count=_STEPS_EACH,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                    phases=[Phase.generate, Phase.shrink],
                ),
            )
    sys.stdout.write(f"{options.steps} steps, no broken rule\n")


if __name__ == "__main__":
    main()
