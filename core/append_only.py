"""Tables whose rows are never changed or removed: the database refuses, whatever the code believes."""

from django.db.migrations import RunSQL

FUNCTION = RunSQL(
    """
    CREATE OR REPLACE FUNCTION anchorgpu_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME;
    END $$;
    """,
    "DROP FUNCTION IF EXISTS anchorgpu_refuse_change();",
)


def append_only(table: str) -> RunSQL:
    """A migration step that makes `table` append-only."""
    return RunSQL(
        f"""
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION anchorgpu_refuse_change();
        """,
        f"DROP TRIGGER IF EXISTS {table}_append_only ON {table};",
    )
