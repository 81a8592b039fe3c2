"""A fingerprint of all that the catalogue holds: what is kept in memory under it needs no other sign of age."""

from django.db import connection

# Every row as text, hashed by the database: a price table cannot change and is named by its key alone.
CATALOGUE_SQL = """concat_ws('|',
    (SELECT concat_ws(' ', max(number), max(id)) FROM catalog_priceversion),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_accelerator t),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_lot t),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_term t),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_image t),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_option t),
    (SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM catalog_option_lots t))"""


def catalogue_stamp() -> str:
    """The fingerprint of this moment: another one as soon as any row differs. 1 query."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {CATALOGUE_SQL}")  # nosec B608 # a constant of this module
        return str(cursor.fetchone()[0])
