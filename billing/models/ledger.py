"""The books: double entry, append-only, balanced per asset by the database."""

from django.db import models
from django.db.models import Q

from core.fields import UnitsField
from orders.models import Order


class LedgerTransaction(models.Model):
    """One cause that moved money between accounts. Append-only; `key` makes it once."""

    key = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=40)
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="ledger_transactions"
    )
    facts = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class LedgerEntry(models.Model):
    """One leg: debit positive, credit negative. Append-only; a deferred trigger balances each transaction by asset."""

    transaction = models.ForeignKey(LedgerTransaction, on_delete=models.PROTECT, related_name="entries")
    account = models.CharField(max_length=80)
    asset = models.CharField(max_length=80, help_text='Currency, or "<network>:<symbol>".')
    units = UnitsField(help_text="Base units; minor units of a currency.")
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="ledger_entries"
    )
    day = models.DateField(null=True, blank=True, help_text="The day of the term that revenue was earned on.")

    class Meta:
        verbose_name_plural = "ledger entries"
        ordering = ["id"]
        indexes = [
            models.Index(fields=["account", "asset"], name="ledger_account"),
            models.Index(fields=["order", "account", "asset"], name="ledger_order"),
        ]
        constraints = [models.CheckConstraint(condition=~Q(units=0), name="ledger_entry_not_zero")]

    def __str__(self) -> str:
        return f"{self.account} {self.units} {self.asset}"
