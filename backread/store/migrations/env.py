"""Alembic's entry: migrates over the connection that `backread.store.migrate` hands it."""

from typing import Literal

from alembic import context

from backread.store.base import UtcDateTime
from backread.store.models import Account


def render_item(kind: str, item: object, _context: object) -> str | Literal[False]:
    """Migrations name plain column types, so they outlive changes of our own classes."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Account.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
    render_item=render_item,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
