"""What an export holds beside its conversations, and how many secrets these hold

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('companions',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('reader', sa.String(length=32), nullable=False),
    sa.Column('reader_version', sa.Integer(), nullable=False),
    sa.Column('external_id', sa.String(length=512), nullable=False),
    sa.Column('content_hash', sa.String(length=64), nullable=False),
    sa.Column('codec', sa.String(length=8), nullable=False),
    sa.Column('body', sa.LargeBinary(), nullable=False),
    sa.Column('raw_bytes', sa.Integer(), nullable=False),
    sa.Column('import_id', sa.String(length=26), nullable=True),
    sa.Column('captured_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_companions_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_companions')),
    sa.UniqueConstraint('account_id', 'reader', 'external_id', 'content_hash', name=op.f('uq_companions_account_id_reader_external_id_content_hash'))
    )
    op.create_table('documents',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('platform', sa.String(length=32), nullable=False),
    sa.Column('external_id', sa.String(length=512), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('project', sa.String(length=500), nullable=False),
    sa.Column('project_external_id', sa.String(length=512), nullable=False),
    sa.Column('media_type', sa.String(length=128), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('size_bytes', sa.Integer(), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('import_id', sa.String(length=26), nullable=True),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_documents_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_documents')),
    sa.UniqueConstraint('account_id', 'platform', 'external_id', name=op.f('uq_documents_account_id_platform_external_id'))
    )
    with op.batch_alter_table('documents', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_documents_account_id_project_name'), ['account_id', 'project', 'name'], unique=False)
    op.create_table('suggested_memories',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('platform', sa.String(length=32), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('text_hash', sa.String(length=64), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('project_external_id', sa.String(length=512), nullable=False),
    sa.Column('conversation_id', sa.String(length=26), nullable=True),
    sa.Column('message_id', sa.String(length=26), nullable=True),
    sa.Column('occurred_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('import_id', sa.String(length=26), nullable=True),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('memory_id', sa.String(length=26), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('decided_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_suggested_memories_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_suggested_memories')),
    sa.UniqueConstraint('account_id', 'platform', 'text_hash', name=op.f('uq_suggested_memories_account_id_platform_text_hash'))
    )
    with op.batch_alter_table('suggested_memories', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_suggested_memories_account_id_state_platform'), ['account_id', 'state', 'platform'], unique=False)
    with op.batch_alter_table('conversations', schema=None) as batch_op:
        batch_op.add_column(sa.Column('secrets', sa.JSON(), server_default='{}', nullable=False))
        batch_op.add_column(sa.Column('secret_count', sa.Integer(), server_default='0', nullable=False))
    with op.batch_alter_table('imports', schema=None) as batch_op:
        batch_op.add_column(sa.Column('memories_found', sa.Integer(), server_default='0', nullable=False))
        batch_op.add_column(sa.Column('documents_found', sa.Integer(), server_default='0', nullable=False))
        batch_op.add_column(sa.Column('secrets_found', sa.Integer(), server_default='0', nullable=False))
        batch_op.add_column(sa.Column('secrets_by_kind', sa.JSON(), server_default='{}', nullable=False))
