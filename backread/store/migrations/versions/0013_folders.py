"""Record folders, their keys and records

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('similarity_calibrations',
    sa.Column('embedder', sa.String(length=200), nullable=False),
    sa.Column('intercept', sa.Double(), nullable=False),
    sa.Column('cosine_weight', sa.Double(), nullable=False),
    sa.Column('words_weight', sa.Double(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('embedder', name=op.f('pk_similarity_calibrations'))
    )
    op.create_table('folders',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('generate_embeddings', sa.Boolean(), nullable=False),
    sa.Column('vector_description', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_folders_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_folders')),
    sa.UniqueConstraint('account_id', 'name', name=op.f('uq_folders_account_id_name'))
    )
    op.create_table('folder_keys',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('folder_id', sa.String(length=26), nullable=False),
    sa.Column('key_hash', sa.String(length=64), nullable=False),
    sa.Column('name', sa.String(length=100), nullable=False),
    sa.Column('is_read_only', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_folder_keys_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['folder_id'], ['folders.id'], name=op.f('fk_folder_keys_folder_id_folders'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_folder_keys')),
    sa.UniqueConstraint('key_hash', name=op.f('uq_folder_keys_key_hash'))
    )
    with op.batch_alter_table('folder_keys', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_folder_keys_folder_id'), ['folder_id'], unique=False)
    op.create_table('folder_records',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('folder_id', sa.String(length=26), nullable=False),
    sa.Column('name', sa.String(length=500), nullable=False),
    sa.Column('content', sa.Text(), nullable=False),
    sa.Column('fields', sa.JSON(), nullable=False),
    sa.Column('vector_description', sa.Text(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('derived_with', sa.String(length=120), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_folder_records_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['folder_id'], ['folders.id'], name=op.f('fk_folder_records_folder_id_folders'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_folder_records'))
    )
    with op.batch_alter_table('folder_records', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_folder_records_account_id'), ['account_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_folder_records_folder_id_created_at'), ['folder_id', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_folder_records_folder_id_name'), ['folder_id', 'name'], unique=False)
    op.create_table('record_chunks',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('folder_id', sa.String(length=26), nullable=False),
    sa.Column('record_id', sa.String(length=26), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('point_id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('lexical_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('dense_with', sa.String(length=120), server_default='', nullable=False),
    sa.Column('beside_with', sa.String(length=120), server_default='', nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_record_chunks_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['record_id'], ['folder_records.id'], name=op.f('fk_record_chunks_record_id_folder_records'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_record_chunks')),
    sa.UniqueConstraint('point_id', name=op.f('uq_record_chunks_point_id')),
    sa.UniqueConstraint('record_id', 'position', name=op.f('uq_record_chunks_record_id_position'))
    )
    with op.batch_alter_table('record_chunks', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_record_chunks_account_id_dense_with'), ['account_id', 'dense_with'], unique=False)
        batch_op.create_index(batch_op.f('ix_record_chunks_account_id_lexical_with'), ['account_id', 'lexical_with'], unique=False)
        batch_op.create_index(batch_op.f('ix_record_chunks_folder_id'), ['folder_id'], unique=False)
    op.create_table('record_fields',
    sa.Column('record_id', sa.String(length=26), nullable=False),
    sa.Column('key', sa.String(length=100), nullable=False),
    sa.Column('folder_id', sa.String(length=26), nullable=False),
    sa.Column('value_hash', sa.String(length=64), nullable=False),
    sa.ForeignKeyConstraint(['record_id'], ['folder_records.id'], name=op.f('fk_record_fields_record_id_folder_records'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('record_id', 'key', name=op.f('pk_record_fields'))
    )
    with op.batch_alter_table('record_fields', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_record_fields_folder_id_key_value_hash'), ['folder_id', 'key', 'value_hash'], unique=False)
    op.create_table('record_propositions',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('record_id', sa.String(length=26), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['record_id'], ['folder_records.id'], name=op.f('fk_record_propositions_record_id_folder_records'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_record_propositions')),
    sa.UniqueConstraint('record_id', 'position', name=op.f('uq_record_propositions_record_id_position'))
    )
    op.create_table('record_revisions',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('record_id', sa.String(length=26), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('operation', sa.String(length=16), nullable=False),
    sa.Column('name', sa.String(length=500), nullable=False),
    sa.Column('content', sa.Text(), nullable=False),
    sa.Column('fields', sa.JSON(), nullable=False),
    sa.Column('vector_description', sa.Text(), nullable=False),
    sa.Column('made_by', sa.String(length=120), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['record_id'], ['folder_records.id'], name=op.f('fk_record_revisions_record_id_folder_records'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_record_revisions')),
    sa.UniqueConstraint('record_id', 'number', name=op.f('uq_record_revisions_record_id_number'))
    )
