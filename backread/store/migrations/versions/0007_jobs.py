"""Jobs: priorities, fairness and the dead-letter list

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    op.add_column('jobs', sa.Column('losses', sa.Integer(), server_default='0', nullable=False))
    op.add_column('jobs', sa.Column('revivals', sa.Integer(), server_default='0', nullable=False))
    op.add_column('jobs', sa.Column('claimed_at', sa.DateTime(timezone=True), nullable=True))
    op.add_column('jobs', sa.Column('units_per_second', sa.Float(), server_default='0', nullable=False))
    op.add_column('jobs', sa.Column('error_code', sa.String(length=32), server_default='', nullable=False))
    op.add_column('jobs', sa.Column('dismissed_at', sa.DateTime(timezone=True), nullable=True))
    op.create_index(op.f('ix_jobs_state_account_id_name_run_after'), 'jobs', ['state', 'account_id', 'name', 'run_after'], unique=False)
    op.create_table('job_turns',
    sa.Column('owner', sa.String(length=26), nullable=False),
    sa.Column('queue', sa.String(length=16), nullable=False),
    sa.Column('served_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('owner', 'queue', name=op.f('pk_job_turns'))
    )
