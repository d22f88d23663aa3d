"""${message}

Every migration works with the previous release running beside it. Removing or renaming a column
takes two releases. Never change a migration that was released.

Revision ID: ${up_revision}
Revises: ${down_revision | comma,n}
"""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SET lock_timeout = '4s'")
    ${upgrades if upgrades else "pass"}
