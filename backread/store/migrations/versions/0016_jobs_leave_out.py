"""What jobs went on without, where they were asked for, and since when they are paused

Revision ID: 0016
Revises: 0015
"""

import sqlalchemy as sa
from alembic import op

revision = '0016'
down_revision = '0015'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.add_column('jobs', sa.Column('left_out', sa.Integer(), server_default='0', nullable=False))
    op.add_column('jobs', sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True))
    op.add_column('jobs', sa.Column('traceparent', sa.String(length=55), server_default='', nullable=False))
