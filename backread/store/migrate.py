"""Brings a database to the schema of this release. Runs at start and by `backread migrate`."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from backread.store.engine import Store

_MIGRATIONS = Path(__file__).parent / "migrations"
_PG_LOCK = 8_217_400_001  # any constant: serialises migrating processes on PostgreSQL


def upgrade(store: Store, revision: str = "head") -> None:
    """Idempotent; safe when several processes start at once."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with store.engine.connect() as connection:
        if store.is_sqlite:
            # The write lock that every transaction here begins with serialises the upgrade.
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            connection.commit()
            return
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _PG_LOCK})
        try:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            connection.commit()
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _PG_LOCK})
            connection.commit()
