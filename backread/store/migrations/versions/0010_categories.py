"""Smart Memory categories and the overview

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = '0010'
down_revision = '0009'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('bucket_categorisations',
    sa.Column('bucket_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=False, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('made_with', sa.String(length=200), nullable=False),
    sa.Column('memory_count', sa.Integer(), nullable=False),
    sa.Column('grouped_count', sa.Integer(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_bucket_categorisations_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['bucket_id'], ['buckets.id'], name=op.f('fk_bucket_categorisations_bucket_id_buckets'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('bucket_id', name=op.f('pk_bucket_categorisations'))
    )
    op.create_index(op.f('ix_bucket_categorisations_account_id'), 'bucket_categorisations', ['account_id'], unique=False)
    op.create_table('categories',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('bucket_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('kind', sa.String(length=8), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('phrases', sa.JSON(), nullable=False),
    sa.Column('summary', sa.JSON(), nullable=False),
    sa.Column('pointers', sa.JSON(), nullable=False),
    sa.Column('members_hash', sa.String(length=64), nullable=False),
    sa.Column('written_by', sa.String(length=200), nullable=False),
    sa.Column('is_pending', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_categories_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['bucket_id'], ['buckets.id'], name=op.f('fk_categories_bucket_id_buckets'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_categories'))
    )
    op.create_index(op.f('ix_categories_bucket_id'), 'categories', ['bucket_id'], unique=False)
    op.create_table('category_memberships',
    sa.Column('memory_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('bucket_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('category_id', sa.String(length=26), nullable=False),
    sa.Column('text_hash', sa.String(length=64), nullable=False),
    sa.Column('vector', sa.LargeBinary(), nullable=False),
    sa.Column('vector_with', sa.String(length=200), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_category_memberships_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['bucket_id'], ['buckets.id'], name=op.f('fk_category_memberships_bucket_id_buckets'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['category_id'], ['categories.id'], name=op.f('fk_category_memberships_category_id_categories'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['memory_id'], ['memories.id'], name=op.f('fk_category_memberships_memory_id_memories'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('memory_id', name=op.f('pk_category_memberships'))
    )
    op.create_index(op.f('ix_category_memberships_bucket_id'), 'category_memberships', ['bucket_id'], unique=False)
    op.create_index(op.f('ix_category_memberships_category_id'), 'category_memberships', ['category_id'], unique=False)
    op.create_table('conversation_digests',
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('made_with', sa.String(length=200), nullable=False),
    sa.Column('source_changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('language', sa.String(length=8), nullable=False),
    sa.Column('is_private', sa.Boolean(), nullable=False),
    sa.Column('months', sa.JSON(), nullable=False),
    sa.Column('body', sa.JSON(), nullable=False),
    sa.Column('vector', sa.LargeBinary(), nullable=False),
    sa.Column('in_overview', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_conversation_digests_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversations.id'], name=op.f('fk_conversation_digests_conversation_id_conversations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('conversation_id', name=op.f('pk_conversation_digests'))
    )
    op.create_index(op.f('ix_conversation_digests_account_id'), 'conversation_digests', ['account_id'], unique=False)
    op.create_table('overviews',
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('made_with', sa.String(length=200), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('conversation_count', sa.Integer(), nullable=False),
    sa.Column('portrait', sa.JSON(), nullable=False),
    sa.Column('is_pending', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_overviews_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_overviews'))
    )
