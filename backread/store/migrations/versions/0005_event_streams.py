"""Event streams of MCP clients, and the replies that wait for them

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('event_streams',
    sa.Column('id', sa.String(length=64), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_event_streams_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_event_streams'))
    )
    op.create_table('stream_replies',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('stream_id', sa.String(length=64), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['stream_id'], ['event_streams.id'], name=op.f('fk_stream_replies_stream_id_event_streams'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_stream_replies'))
    )
    with op.batch_alter_table('stream_replies', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_stream_replies_stream_id'), ['stream_id'], unique=False)
