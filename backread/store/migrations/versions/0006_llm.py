"""What language models cost, and summaries

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.create_table('language_calls',
    sa.Column('id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('purpose', sa.String(length=64), nullable=False),
    sa.Column('model', sa.String(length=200), nullable=False),
    sa.Column('day', sa.String(length=10), nullable=False),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('tokens_in', sa.BigInteger(), nullable=False),
    sa.Column('tokens_out', sa.BigInteger(), nullable=False),
    sa.Column('is_estimated', sa.Boolean(), nullable=False),
    sa.Column('cost_micros', sa.BigInteger(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_language_calls_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_language_calls'))
    )
    with op.batch_alter_table('language_calls', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_language_calls_account_id_day'), ['account_id', 'day'], unique=False)
    op.create_table('language_budgets',
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('day_micros', sa.BigInteger(), nullable=True),
    sa.Column('month_micros', sa.BigInteger(), nullable=True),
    sa.Column('day_tokens', sa.BigInteger(), nullable=True),
    sa.Column('month_tokens', sa.BigInteger(), nullable=True),
    sa.Column('changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_language_budgets_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_language_budgets'))
    )
    op.create_table('conversation_summaries',
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('made_by', sa.String(length=200), nullable=False),
    sa.Column('maker', sa.String(length=200), nullable=False),
    sa.Column('input_hash', sa.String(length=64), nullable=False),
    sa.Column('input_changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('language', sa.String(length=16), nullable=False),
    sa.Column('sentences', sa.JSON(), nullable=False),
    sa.Column('dropped', sa.Integer(), nullable=False),
    sa.Column('why', sa.String(length=20), nullable=False),
    sa.Column('failures', sa.Integer(), nullable=False),
    sa.Column('try_after', sa.DateTime(timezone=True), nullable=True),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversations.id'], name=op.f('fk_conversation_summaries_conversation_id_conversations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('conversation_id', name=op.f('pk_conversation_summaries'))
    )
    with op.batch_alter_table('conversation_summaries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_conversation_summaries_account_id_try_after'), ['account_id', 'try_after'], unique=False)
    op.create_table('summary_parts',
    sa.Column('conversation_id', sa.String(length=26), nullable=False),
    sa.Column('input_hash', sa.String(length=64), nullable=False),
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('sentences', sa.JSON(), nullable=False),
    sa.Column('dropped', sa.Integer(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversations.id'], name=op.f('fk_summary_parts_conversation_id_conversations'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('conversation_id', 'input_hash', name=op.f('pk_summary_parts'))
    )
    op.create_table('summary_plans',
    sa.Column('account_id', sa.String(length=26), nullable=False),
    sa.Column('model', sa.String(length=200), nullable=False),
    sa.Column('maker', sa.String(length=200), nullable=False),
    sa.Column('offered_until', sa.DateTime(timezone=True), nullable=False),
    sa.Column('accepted_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('accepted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('paused_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('conversations', sa.Integer(), nullable=False),
    sa.Column('tokens_in', sa.BigInteger(), nullable=False),
    sa.Column('tokens_out', sa.BigInteger(), nullable=False),
    sa.Column('cost_micros', sa.BigInteger(), nullable=True),
    sa.Column('failures', sa.Integer(), nullable=False),
    sa.Column('why', sa.Text(), nullable=False),
    sa.Column('try_after', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['account_id'], ['accounts.id'], name=op.f('fk_summary_plans_account_id_accounts'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('account_id', name=op.f('pk_summary_plans'))
    )
