"""Quotes, orders and events as the document shows them; a test holds their shape to that of real answers."""

import json
from typing import Any

_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG8ZWxTnQeSHdVZmWz0Jw5rFqYjz3mZ0k2cQ9m1o5b7E ada@example.com"
_BILL_TO: dict[str, Any] = {"country": "DE", "kind": "consumer", "vat_id": None}
_LINES: list[dict[str, Any]] = [
    {
        "kind": "lot",
        "code": "b200-180x2",
        "facts": {"accelerator": "NVIDIA B200", "cards": "2", "days": "7"},
        "quantity": 1,
        "unit_amount": "2028.00",
        "amount": "2028.00",
    },
    {
        "kind": "tax",
        "code": "DE",
        "facts": {"treatment": "demo", "rate": "0.00"},
        "quantity": 1,
        "unit_amount": "0.00",
        "amount": "0.00",
    },
]

QUOTE_BODY: dict[str, Any] = {
    "lot": "b200-180x2",
    "lots": 1,
    "days": 7,
    "image": "pt-cu128",
    "options": [{"code": "nvme-extra", "quantity": 1}],
    "starts_at": None,
    "bill_to": _BILL_TO,
}
QUOTE: dict[str, Any] = {
    "id": "qt_7G2MKX9QWDN4RTBVJ3HSYFAC56E",
    "status": "open",
    "lot": "b200-180x2",
    "lots": 1,
    "days": 7,
    "image": "pt-cu128",
    "options": [],
    "starts_at": None,
    "bill_to": _BILL_TO,
    "lines": _LINES,
    "subtotal": "2028.00",
    "tax": "0.00",
    "total": "2028.00",
    "currency": "USD",
    "price_version": 1,
    "created_at": "2026-12-01T09:00:00Z",
    "expires_at": "2026-12-01T09:30:00Z",
    "document": json.dumps({"accelerator": "b200-180", "bill_to": _BILL_TO}, separators=(",", ":")),
    "signature": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kA==",
    "key_id": "2026-12",
}

ORDER_BODY: dict[str, Any] = {
    "quote": QUOTE["id"],
    "contact": {"name": "Ada", "email": "ada@example.com", "company": "", "language": "de"},
    "bill_to": _BILL_TO,
    "ssh_keys": [_KEY],
    "pay_with": {"rail": "crypto", "network": "local", "asset": "USDC"},
    "accept_terms": "2026-11-30",
    "notify": "buyer",
    "metadata": {"customer": "4711"},
}
PAYMENT: dict[str, Any] = {
    "rail": "crypto",
    "status": "awaiting",
    "flags": [],
    "network": "local",
    "chain_id": 31337,
    "asset": "USDC",
    "contract": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "amount": "2028.000000",
    "amount_units": "2028000000",
    "received": "0.000000",
    "settled": "0.000000",
    "due": "2028.000000",
    "expires_at": "2026-12-01T10:05:00Z",
    "still_checking": False,
    "last_block": 102,
    "checked_at": "2026-12-01T09:05:02Z",
}
ORDER: dict[str, Any] = {
    "id": "ord_5KQ8ZT3NWRXB7HMD2VYJ4CGAF9S",
    "status": "awaiting_payment",
    "quote": QUOTE["id"],
    "extends": None,
    "lot": "b200-180x2",
    "lots": 1,
    "days": 7,
    "image": "pt-cu128",
    "options": [],
    "starts_at": None,
    "total": "2028.00",
    "currency": "USD",
    "bill_to": _BILL_TO,
    "contact": ORDER_BODY["contact"],
    "notify": "buyer",
    "ssh_key_fingerprints": ["SHA256:Vb1tZ3mYy0i3Qx0qgG7hQm3S0nqkq8Qd1e3Rz8wX2uM"],
    "metadata": {"customer": "4711"},
    "placed_at": "2026-12-01T09:05:00Z",
    "payment": PAYMENT,
    "lease": None,
    "refunds": [],
    "url": "https://gpu.example/de/orders/uZ3nq8mYy0i3Qx0qgG7hQm3S0nqkq8Qd1e3Rz8wX2uM/",
}
CLAIM_BODY: dict[str, Any] = {
    "transaction_hash": "0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b"
}
EXTENSION_BODY: dict[str, Any] = {"days": 7, "pay_with": ORDER_BODY["pay_with"]}
EXTENSION: dict[str, Any] = ORDER | {
    "id": "ord_9XW4NRB6TQKH2MZD8VYJ5CGAF3S",
    "quote": "qt_3MKX7G9QWDN4RTBVJ2HSYFAC56E",
    "extends": ORDER["id"],
    "ssh_key_fingerprints": [],
    "metadata": {},
    "lease": {
        "status": "ready",
        "ready_by": "2026-12-01T11:20:00Z",
        "starts_at": "2026-12-01T09:31:00Z",
        "ends_at": "2026-12-08T09:31:00Z",
        "last_safe_export_at": None,
    },
}
EARLY_END: dict[str, Any] = {
    "order": ORDER["id"],
    "ended_at": "2026-12-04T10:00:00Z",
    "unused_days": 3,
    "amount": "434.57",
    "currency": "USD",
    "parts": [{"order": ORDER["id"], "days": 3, "amount": "434.57"}],
}
ACCESS: dict[str, Any] = {
    "host": "gpu.example",
    "port": 2222,
    "user": "lease-7g2m",
    "host_key": "[gpu.example]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEXAMPLE",
    "host_key_fingerprint": "SHA256:4d1e3Rz8wX2uMVb1tZ3mYy0i3Qx0qgG7hQm3S0nqkq8",
    "ssh_key_fingerprints": ORDER["ssh_key_fingerprints"],
    "cards": [{"node": "b200-n00", "index": 0, "serial": "b200-n00-0", "accelerator": "NVIDIA B200"}],
    "starts_at": "2026-12-01T09:31:00Z",
    "ends_at": "2026-12-08T09:31:00Z",
}
EVENT: dict[str, Any] = {
    "id": "evt_000000000123",
    "type": "order.placed",
    "at": "2026-12-01T09:05:00.123456Z",
    "order": ORDER["id"],
    "data": {},
}
