"""Notes and their revisions

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('notes',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('path', sa.String(length=512), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.Column('front', sa.Text(), nullable=True),
    sa.Column('frontmatter', sa.JSON(), nullable=False),
    sa.Column('tags', sa.JSON(), nullable=False),
    sa.Column('folded', sa.Text(), nullable=False),
    sa.Column('size_bytes', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('seq', sa.BigInteger(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_notes_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_notes')),
    sa.UniqueConstraint('account_id', 'path', name=op.f('uq_notes_account_id_path'))
    )
    with op.batch_alter_table('notes', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_notes_account_id_seq'), ['account_id', 'seq'], unique=False)
    op.create_table('note_revisions',
    sa.Column('note_id', sa.String(length=26), nullable=False),
    sa.Column('number', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('seq', sa.BigInteger(), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.Column('front', sa.Text(), nullable=True),
    sa.Column('is_deleted', sa.Boolean(), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('author', sa.Text(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_note_revisions_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['note_id'], ['notes.id'], name=op.f('fk_note_revisions_note_id_notes'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('note_id', 'number', name=op.f('pk_note_revisions')),
    sa.UniqueConstraint('account_id', 'seq', name=op.f('uq_note_revisions_account_id_seq'))
    )
    op.create_table('note_passages',
    sa.Column('point_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=False, nullable=False),
    sa.Column('note_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('ordinal', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('occurred_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('lexical_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('dense_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('beside_with', sa.String(length=120), server_default='', nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_note_passages_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['note_id'], ['notes.id'], name=op.f('fk_note_passages_note_id_notes'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('point_id', name=op.f('pk_note_passages'))
    )
    with op.batch_alter_table('note_passages', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_note_passages_account_id'), ['account_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_note_passages_note_id'), ['note_id'], unique=False)
