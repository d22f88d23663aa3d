"""Grants by client, for telling clients in use from those that nobody allowed anything

Revision ID: 0018
Revises: 0017
"""

from alembic import op

revision = '0018'
down_revision = '0017'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_index(op.f('ix_oauth_grants_client_id'), 'oauth_grants', ['client_id'], unique=False)
