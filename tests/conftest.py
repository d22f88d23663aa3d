"""Fixtures that everything uses. Databases are made by running the migrations.

`store` and what builds on it run once per database: SQLite always, PostgreSQL whenever
`BACKREAD_TEST_POSTGRES_URL` names a server (in CI it must: see `pytest_configure`).
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import structlog
from sqlalchemy.engine import make_url

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from backread.store.models import Account

POSTGRES_URL = os.environ.get("BACKREAD_TEST_POSTGRES_URL", "")
DATABASES = ["sqlite", "postgresql"] if POSTGRES_URL else ["sqlite"]

_MEMORY_DISK = Path("/dev/shm")
_MEMORY_NEEDED = 2 * 1024**3  # bytes; the files of the tests that run at one time take a tenth


def pytest_configure(config: pytest.Config) -> None:
    # The default shows the values of all variables, which takes minutes for a page's context.
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(
                colors=False, exception_formatter=structlog.dev.plain_traceback
            ),
        ]
    )
    _keep_files_in_memory()
    if os.environ.get("CI") and not POSTGRES_URL:
        raise pytest.UsageError(
            "CI must run the suite on PostgreSQL too: set BACKREAD_TEST_POSTGRES_URL"
        )


def _keep_files_in_memory() -> None:
    """A database and a search index per test wait for the disk most of the time, so where there
    is a disk in memory, as on Linux, temporary folders are made there."""
    has_room = _MEMORY_DISK.is_dir() and shutil.disk_usage(_MEMORY_DISK).free > _MEMORY_NEEDED
    if has_room and os.access(_MEMORY_DISK, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY_DISK))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database" in metafunc.fixturenames and not any(
        mark.name == "parametrize" and "database" in str(mark.args[0])
        for mark in metafunc.definition.iter_markers()
    ):
        metafunc.parametrize("database", DATABASES, indirect=True)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    store = Store(f"sqlite:///{path}")
    upgrade(store)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.exec_driver_sql("BEGIN")
    store.close()
    return path


@pytest.fixture(scope="session")
def postgres_template() -> Iterator[str]:
    """A migrated database that each test's own is copied from; yields its name."""
    name = f"backread_template_{uuid.uuid4().hex[:8]}"
    server = make_url(POSTGRES_URL)
    with _admin() as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    store = Store(server.set(database=name).render_as_string(hide_password=False))
    upgrade(store)
    store.close()
    yield name
    with _admin() as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _admin() -> "psycopg.Connection[tuple[object, ...]]":
    url = make_url(POSTGRES_URL).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False), autocommit=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def database(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """URL of a fresh, migrated database of the kind the test runs on."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), home / "backread.db")
        yield f"sqlite:///{home / 'backread.db'}"
        return
    template = request.getfixturevalue("postgres_template")
    name = f"backread_test_{uuid.uuid4().hex[:12]}"
    with _admin() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    yield make_url(POSTGRES_URL).set(database=name).render_as_string(hide_password=False)
    with _admin() as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def settings(home: Path, database: str) -> Settings:
    """The embedded default, with the deterministic embedder that needs no model, and without the
    one thing that would ask the internet."""
    return Settings(
        home=home, database_url=database, embedding_model="hashing", client_documents="off"
    )


@pytest.fixture
def kernel(settings: Settings) -> Iterator[Kernel]:
    kernel = Kernel(settings)
    yield kernel
    kernel.close()


@pytest.fixture
def store(kernel: Kernel) -> Store:
    return kernel.store


@pytest.fixture
def principal(store: Store) -> Principal:
    """The owner, allowed everything."""
    return new_principal(store, "ada@example.org")


@pytest.fixture
def stranger(store: Store) -> Principal:
    """Another account on the same server."""
    return new_principal(store, "boris@example.org")


def new_principal(store: Store, email: str) -> Principal:
    with store.write() as session:
        account = Account(email=email, password_hash="unused", role="member")
        session.add(account)
        session.flush()
        return Principal(account.id, scopes=frozenset(Scope))
