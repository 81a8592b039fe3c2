"""New facts are append-only, every ledger transaction balances by asset, an issued document keeps its data."""

from django.db import migrations

from core.append_only import append_only

_FILL_CHAIN = """
    ALTER TABLE billing_balancereading DISABLE TRIGGER billing_balancereading_append_only;
    UPDATE billing_balancereading AS reading SET chain_id = payment.chain_id
        FROM billing_paymentrequest AS payment WHERE payment.id = reading.payment_id;
    ALTER TABLE billing_balancereading ENABLE TRIGGER billing_balancereading_append_only;
"""

_BALANCED = """
    CREATE FUNCTION anchorgpu_ledger_balanced() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (
            SELECT 1 FROM billing_ledgerentry WHERE transaction_id = NEW.transaction_id
            GROUP BY asset HAVING sum(units) <> 0
        ) THEN
            RAISE EXCEPTION 'ledger transaction % does not balance', NEW.transaction_id
                USING ERRCODE = 'check_violation';
        END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER billing_ledgerentry_balanced AFTER INSERT ON billing_ledgerentry
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION anchorgpu_ledger_balanced();
"""
_NOT_BALANCED = """
    DROP TRIGGER billing_ledgerentry_balanced ON billing_ledgerentry;
    DROP FUNCTION anchorgpu_ledger_balanced();
"""

_FROZEN = """
    CREATE FUNCTION anchorgpu_invoice_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' OR (NEW.series, NEW.number, NEW.kind, NEW.order_id, NEW.key, NEW.token, NEW.language,
            NEW.data, NEW.cancels_id, NEW.issued_at) IS DISTINCT FROM (OLD.series, OLD.number, OLD.kind,
            OLD.order_id, OLD.key, OLD.token, OLD.language, OLD.data, OLD.cancels_id, OLD.issued_at)
            OR (OLD.pdf IS NOT NULL AND NEW.pdf IS DISTINCT FROM OLD.pdf) THEN
            RAISE EXCEPTION 'an issued document is never changed or removed';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER billing_invoice_frozen BEFORE UPDATE OR DELETE ON billing_invoice
        FOR EACH ROW EXECUTE FUNCTION anchorgpu_invoice_frozen();
"""
_NOT_FROZEN = """
    DROP TRIGGER billing_invoice_frozen ON billing_invoice;
    DROP FUNCTION anchorgpu_invoice_frozen();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_capacity_and_money"), ("core", "0002_append_only")]
    operations = [
        migrations.RunSQL(_FILL_CHAIN, migrations.RunSQL.noop),
        append_only("billing_pricereading"),
        append_only("billing_acceptance"),
        append_only("billing_screeningverdict"),
        append_only("billing_cardfact"),
        append_only("billing_refundmovement"),
        append_only("billing_credit"),
        append_only("billing_ledgertransaction"),
        append_only("billing_ledgerentry"),
        migrations.RunSQL(_BALANCED, _NOT_BALANCED),
        migrations.RunSQL(_FROZEN, _NOT_FROZEN),
    ]
