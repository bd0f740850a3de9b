"""Model services that administrators set up, their keys, and what each is asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """There are none: what the settings name is asked until there is one."""
    op.create_table(
        "model_services",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("own_network", sa.Boolean(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("price_prompt", sa.Double[float](), nullable=True),
        sa.Column("price_completion", sa.Double[float](), nullable=True),
        sa.Column("online", sa.Boolean(), nullable=False),
        sa.Column("tested", sa.Text(), nullable=True),
        sa.Column("tested_at", _MOMENT, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("changed_at", _MOMENT, nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_model_services"),
        sa.UniqueConstraint("name_key", name="uq_model_services_name_key"),
    )
    op.create_table(
        "model_keys",
        sa.Column("service_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hosts", sa.Text(), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.Column("grant", sa.Text(), nullable=True),
        sa.Column("fresh_until", _MOMENT, nullable=True),
        sa.Column("lapsed", sa.Text(), nullable=False, server_default=""),
        sa.Column("turn", sa.Text(), nullable=False, server_default=""),
        sa.Column("turn_until", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("service_id", "name", name="pk_model_keys"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["model_services.id"], name="fk_model_keys_service_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_model_keys_key_version", "model_keys", ["key_version"])
    op.create_table(
        "model_purposes",
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("service_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("purpose", name="pk_model_purposes"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["model_services.id"], name="fk_model_purposes_service_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_model_purposes_service_id", "model_purposes", ["service_id"])
