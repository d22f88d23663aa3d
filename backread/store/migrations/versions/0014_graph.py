"""What agents' memory resources show

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('team_items',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('team_id', sa.String(length=200), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('text_hash', sa.String(length=64), nullable=False),
    sa.Column('memory_id', sa.String(length=26), nullable=True),
    sa.Column('client_id', sa.String(length=512), nullable=True),
    sa.Column('shared_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_team_items_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_team_items')),
    sa.UniqueConstraint('team_id', 'account_id', 'text_hash', name=op.f('uq_team_items_team_id_account_id_text_hash'))
    )
    with op.batch_alter_table('team_items', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_team_items_team_id_shared_at'), ['team_id', 'shared_at'], unique=False)
    op.create_table('agent_sessions',
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('made_with', sa.String(length=64), nullable=False),
    sa.Column('source_changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('project', sa.String(length=500), nullable=False),
    sa.Column('is_subagent', sa.Boolean(), nullable=False),
    sa.Column('body', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_agent_sessions_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversations.id'], name=op.f('fk_agent_sessions_conversation_id_conversations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('conversation_id', name=op.f('pk_agent_sessions'))
    )
    with op.batch_alter_table('agent_sessions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_agent_sessions_account_id_project'), ['account_id', 'project'], unique=False)
    op.create_table('graph_entities',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('type', sa.String(length=16), nullable=False),
    sa.Column('name', sa.String(length=300), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('message_id', sa.String(length=26), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_graph_entities_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['conversation_id'], ['agent_sessions.conversation_id'], name=op.f('fk_graph_entities_conversation_id_agent_sessions'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_graph_entities')),
    sa.UniqueConstraint('conversation_id', 'type', 'name', name=op.f('uq_graph_entities_conversation_id_type_name'))
    )
    with op.batch_alter_table('graph_entities', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_graph_entities_account_id_type_name'), ['account_id', 'type', 'name'], unique=False)
    op.create_table('graph_relations',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('relation', sa.String(length=16), nullable=False),
    sa.Column('source_type', sa.String(length=16), nullable=False),
    sa.Column('source', sa.String(length=300), nullable=False),
    sa.Column('target_type', sa.String(length=16), nullable=False),
    sa.Column('target', sa.String(length=300), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('message_id', sa.String(length=26), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_graph_relations_account_id_accounts'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['conversation_id'], ['agent_sessions.conversation_id'], name=op.f('fk_graph_relations_conversation_id_agent_sessions'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_graph_relations')),
    sa.UniqueConstraint('conversation_id', 'relation', 'source_type', 'source', 'target_type', 'target', name=op.f('uq_graph_relations_once'))
    )
    with op.batch_alter_table('graph_relations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_graph_relations_account_id_relation'), ['account_id', 'relation'], unique=False)
    with op.batch_alter_table('memories', schema=None) as batch_op:
        batch_op.add_column(sa.Column('use_count', sa.Integer(), server_default='0', nullable=False))
        batch_op.add_column(sa.Column('used_at', sa.DateTime(timezone=True), nullable=True))
