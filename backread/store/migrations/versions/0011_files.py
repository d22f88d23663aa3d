"""Uploaded documents and their passages

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = '0011'
down_revision = '0010'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('file_buckets',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('is_default', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_file_buckets_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_file_buckets')),
    sa.UniqueConstraint('account_id', 'name', name=op.f('uq_file_buckets_account_id_name')),
    sqlite_autoincrement=True
    )
    op.create_table('file_originals',
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('codec', sa.String(length=8), nullable=False),
    sa.Column('body', sa.LargeBinary(), nullable=False),
    sa.Column('raw_bytes', sa.Integer(), nullable=False),
    sa.Column('stored_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_file_originals_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', 'sha256', name=op.f('pk_file_originals'))
    )
    op.create_table('files',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('bucket_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('name', sa.String(length=400), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('size_bytes', sa.Integer(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('uploaded_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('problem', sa.String(length=32), nullable=False),
    sa.Column('problem_text', sa.Text(), nullable=False),
    sa.Column('problem_hint', sa.Text(), nullable=False),
    sa.Column('remarks', sa.JSON(), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('page_unit', sa.String(length=16), nullable=False),
    sa.Column('page_count', sa.Integer(), nullable=False),
    sa.Column('character_count', sa.Integer(), nullable=False),
    sa.Column('passage_count', sa.Integer(), nullable=False),
    sa.Column('reader_version', sa.Integer(), nullable=False),
    sa.Column('read_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_files_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['bucket_id'], ['file_buckets.id'], name=op.f('fk_files_bucket_id_file_buckets'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_files')),
    sa.UniqueConstraint('bucket_id', 'name', name=op.f('uq_files_bucket_id_name'))
    )
    with op.batch_alter_table('files', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_files_account_id_sha256'), ['account_id', 'sha256'], unique=False)

    op.create_table('file_versions',
    sa.Column('file_id', sa.String(length=26), nullable=False),
    sa.Column('version', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('size_bytes', sa.Integer(), nullable=False),
    sa.Column('uploaded_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_file_versions_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['file_id'], ['files.id'], name=op.f('fk_file_versions_file_id_files'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('file_id', 'version', name=op.f('pk_file_versions'))
    )
    with op.batch_alter_table('file_versions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_file_versions_account_id_sha256'), ['account_id', 'sha256'], unique=False)

    op.create_table('file_pages',
    sa.Column('file_id', sa.String(length=26), nullable=False),
    sa.Column('number', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('label', sa.Text(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('has_table', sa.Boolean(), nullable=False),
    sa.Column('by_ocr', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_file_pages_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['file_id'], ['files.id'], name=op.f('fk_file_pages_file_id_files'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('file_id', 'number', name=op.f('pk_file_pages'))
    )
    with op.batch_alter_table('file_pages', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_file_pages_account_id'), ['account_id'], unique=False)

    op.create_table('file_passages',
    sa.Column('point_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=False, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('file_id', sa.String(length=26), nullable=True),
    sa.Column('document_id', sa.String(length=26), nullable=True),
    sa.Column('group_name', sa.String(length=32), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('first_page', sa.Integer(), nullable=False),
    sa.Column('last_page', sa.Integer(), nullable=False),
    sa.Column('start_offset', sa.Integer(), nullable=False),
    sa.Column('end_offset', sa.Integer(), nullable=False),
    sa.Column('location', sa.Text(), nullable=False),
    sa.Column('heading', sa.Text(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('token_count', sa.Integer(), nullable=False),
    sa.Column('occurred_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('lexical_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('dense_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('beside_with', sa.String(length=120), server_default='', nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_file_passages_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['document_id'], ['documents.id'], name=op.f('fk_file_passages_document_id_documents'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['file_id'], ['files.id'], name=op.f('fk_file_passages_file_id_files'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('point_id', name=op.f('pk_file_passages'))
    )
    with op.batch_alter_table('file_passages', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_file_passages_account_id_lexical_with'), ['account_id', 'lexical_with'], unique=False)
        batch_op.create_index(batch_op.f('ix_file_passages_document_id_position'), ['document_id', 'position'], unique=False)
        batch_op.create_index(batch_op.f('ix_file_passages_file_id_position'), ['file_id', 'position'], unique=False)

    op.create_table('document_readings',
    sa.Column('document_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('reader_version', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_document_readings_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['document_id'], ['documents.id'], name=op.f('fk_document_readings_document_id_documents'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('document_id', name=op.f('pk_document_readings'))
    )
    with op.batch_alter_table('document_readings', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_document_readings_account_id'), ['account_id'], unique=False)
