"""Payments and the facts that they are computed from, refunds, the books and documents."""

from billing.models.addresses import AcceptedXpub, AddressCheck, DepositAddress
from billing.models.bank_cards import CardEvent, CardFact, CardSession
from billing.models.chain import ChainState, PriceReading
from billing.models.demo import DemoCardEvent, DemoCardRecord, DemoTransfer
from billing.models.facts import BalanceReading, Claim, Transfer, TransferSighting
from billing.models.invoices import Invoice, InvoiceSeries
from billing.models.ledger import LedgerEntry, LedgerTransaction
from billing.models.payments import Acceptance, PaymentRequest, PaymentView, Rail, ScreeningVerdict
from billing.models.refunds import Credit, Refund, RefundMovement

__all__ = [
    "Acceptance",
    "AcceptedXpub",
    "AddressCheck",
    "BalanceReading",
    "CardEvent",
    "CardFact",
    "CardSession",
    "ChainState",
    "Claim",
    "Credit",
    "DemoCardEvent",
    "DemoCardRecord",
    "DemoTransfer",
    "DepositAddress",
    "Invoice",
    "InvoiceSeries",
    "LedgerEntry",
    "LedgerTransaction",
    "PaymentRequest",
    "PaymentView",
    "PriceReading",
    "Rail",
    "Refund",
    "RefundMovement",
    "ScreeningVerdict",
    "Transfer",
    "TransferSighting",
]
