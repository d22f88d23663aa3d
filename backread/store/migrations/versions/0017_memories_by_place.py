"""Memories by where they lie, by what holds, and by what the index has of them

Revision ID: 0017
Revises: 0016
"""

from alembic import op

revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    with op.batch_alter_table('memories', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_memories_account_id_bucket_id_superseded_by_created_at'), ['account_id', 'bucket_id', 'superseded_by', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_memories_account_id_superseded_by_created_at'), ['account_id', 'superseded_by', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_memories_account_id_dense_with'), ['account_id', 'dense_with'], unique=False)
        batch_op.drop_index(batch_op.f('ix_memories_superseded_by'))
