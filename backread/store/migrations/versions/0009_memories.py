"""Memories: deleting, superseding, where they come from; links to exports

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = '0009'
down_revision = '0008'
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.add_column('memories', sa.Column('updated_by', sa.String(length=512), nullable=True))
    op.add_column('memories', sa.Column('conversation_id', sa.String(length=26), nullable=True))
    op.add_column('memories', sa.Column('message_id', sa.String(length=26), nullable=True))
    op.add_column('memories', sa.Column('superseded_by', sa.String(length=26), nullable=True))
    op.add_column('memories', sa.Column('superseded_at', sa.DateTime(timezone=True), nullable=True))
    op.create_index('ix_memories_superseded_by', 'memories', ['superseded_by'], unique=False)
    op.create_table('forgettings',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('memory_count', sa.Integer(), nullable=False),
    sa.Column('bucket_id', _BIG, nullable=True),
    sa.Column('bucket_name', sa.String(length=200), nullable=False),
    sa.Column('bucket_created_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('forgotten_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('purge_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('undone_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('purged_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_forgettings_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_forgettings'))
    )
    op.create_index('ix_forgettings_account_id_forgotten_at', 'forgettings', ['account_id', 'forgotten_at'], unique=False)
    op.create_index('ix_forgettings_purge_at', 'forgettings', ['purge_at'], unique=False)
    op.create_table('forgotten_memories',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('forgetting_id', sa.String(length=26), nullable=False),
    sa.Column('bucket_id', _BIG, nullable=False),
    sa.Column('bucket_name', sa.String(length=200), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('updated_by', sa.String(length=512), nullable=True),
    sa.Column('conversation_id', sa.String(length=26), nullable=True),
    sa.Column('message_id', sa.String(length=26), nullable=True),
    sa.Column('superseded_by', sa.String(length=26), nullable=True),
    sa.Column('superseded_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_forgotten_memories_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['forgetting_id'], ['forgettings.id'], name=op.f('fk_forgotten_memories_forgetting_id_forgettings'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_forgotten_memories'))
    )
    op.create_index('ix_forgotten_memories_forgetting_id', 'forgotten_memories', ['forgetting_id'], unique=False)
    op.create_table('export_links',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('token_hash', sa.String(length=64), nullable=False),
    sa.Column('downloads', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_export_links_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversations.id'], name=op.f('fk_export_links_conversation_id_conversations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_export_links')),
    sa.UniqueConstraint('token_hash', name=op.f('uq_export_links_token_hash'))
    )
    op.create_index('ix_export_links_account_id', 'export_links', ['account_id'], unique=False)
    op.create_index('ix_export_links_conversation_id', 'export_links', ['conversation_id'], unique=False)
    op.create_index('ix_export_links_expires_at', 'export_links', ['expires_at'], unique=False)
