"""Vectors of a second embedding model

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.add_column('passages', sa.Column('beside_with', sa.String(length=120), server_default='', nullable=False))
    op.add_column('memories', sa.Column('beside_with', sa.String(length=120), server_default='', nullable=False))
    op.create_table('embedding_models',
    sa.Column('role', sa.String(length=16), nullable=False),
    sa.Column('name', sa.String(length=300), nullable=False),
    sa.Column('signature', sa.String(length=120), nullable=False),
    sa.Column('error', sa.Text(), nullable=False),
    sa.Column('since', sa.DateTime(timezone=True), nullable=False),
    sa.Column('until', sa.DateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('role', name=op.f('pk_embedding_models'))
    )
