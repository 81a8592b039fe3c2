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


# The one change that an append-only row admits: a text in a named column becomes the marker (docs/adr/0011).
MARKER = "[erased]"
ERASURE = RunSQL(
    """
    CREATE OR REPLACE FUNCTION anchorgpu_only_erased(former jsonb, later jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        IF former = later THEN
            RETURN true;
        END IF;
        CASE jsonb_typeof(former)
        WHEN 'string' THEN
            RETURN later = to_jsonb('[erased]'::text);
        WHEN 'object' THEN
            RETURN jsonb_typeof(later) = 'object'
                AND NOT EXISTS (
                    SELECT 1 FROM jsonb_each(former) AS f(k, v) FULL JOIN jsonb_each(later) AS l(k, v) USING (k)
                    WHERE f.v IS NULL OR l.v IS NULL OR NOT anchorgpu_only_erased(f.v, l.v)
                );
        WHEN 'array' THEN
            RETURN jsonb_typeof(later) = 'array'
                AND NOT EXISTS (
                    SELECT 1 FROM jsonb_array_elements(former) WITH ORDINALITY AS f(v, n)
                    FULL JOIN jsonb_array_elements(later) WITH ORDINALITY AS l(v, n) USING (n)
                    WHERE f.v IS NULL OR l.v IS NULL OR NOT anchorgpu_only_erased(f.v, l.v)
                );
        ELSE
            RETURN false;
        END CASE;
    END $$;

    CREATE OR REPLACE FUNCTION anchorgpu_refuse_change_but_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        former jsonb := to_jsonb(OLD);
        later jsonb;
        place text;
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            later := to_jsonb(NEW);
            FOREACH place IN ARRAY TG_ARGV LOOP
                IF anchorgpu_only_erased(former -> place, later -> place) IS NOT TRUE THEN
                    RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME;
                END IF;
                former := former - place;
                later := later - place;
            END LOOP;
            IF former = later THEN
                RETURN NEW;
            END IF;
        END IF;
        RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME;
    END $$;
    """,
    "DROP FUNCTION IF EXISTS anchorgpu_refuse_change_but_erasure();"
    " DROP FUNCTION IF EXISTS anchorgpu_only_erased(jsonb, jsonb);",
)


def append_only_but_erasure(table: str, *columns: str) -> RunSQL:
    """A migration step: of an append-only table, texts in these columns may become the marker, and nothing else."""
    names = ", ".join(f"'{column}'" for column in columns)
    return RunSQL(
        f"""
        DROP TRIGGER {table}_append_only ON {table};
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION anchorgpu_refuse_change_but_erasure({names});
        """,
        f"""
        DROP TRIGGER {table}_append_only ON {table};
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION anchorgpu_refuse_change();
        """,
    )
