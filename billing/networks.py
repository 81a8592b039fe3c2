"""The EVM networks that this installation accepts, read from one TOML file (EVM_NETWORKS_FILE).

Free of web3, so that pages, checks and forms can use it; whether a chain answers is the worker's business.
"""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from billing.addresses import normalize_address
from billing.network_types import Asset, Network, SecondPrice, Settle, SettleMode, Tier
from core.errors import Invalid

__all__ = ["Asset", "ConfigError", "Network", "Settle", "Tier", "load_networks", "parse_networks"]

MAX_RPC_URLS = 5
MAX_TIERS = 5
_POINTER = re.compile(r"(?:/[A-Za-z0-9_.-]{1,40}){1,6}")
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_SYMBOL = re.compile(r"[A-Za-z0-9.]{1,12}")
_NETWORK_KEYS = {
    "name", "chain_id", "rpc_urls", "settle", "block_seconds", "assets", "explorer", "test", "native_symbol",
    "multicall", "tiers",
}  # fmt: skip
_ASSET_KEYS = {"symbol", "name", "contract", "decimals", "price", "feed", "second", "offered"}
_cache: dict[Path, tuple[tuple[int, int, int], dict[str, Network]]] = {}


class ConfigError(ValueError):
    """The file cannot be used; the message is one sentence that names the place."""


def load_networks(path: str | Path) -> dict[str, Network]:
    """Networks by slug; read again only when the file has changed. Raises ConfigError."""
    file = Path(path)
    try:
        stat = file.stat()
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        known = _cache.get(file)
        if known and known[0] == stamp:
            return dict(known[1])
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"The networks file {file} cannot be read: {reason}.") from error
    networks = parse_networks(text, source=str(file))
    _cache[file] = (stamp, networks)
    return dict(networks)


def parse_networks(text: str, *, source: str = "networks file") -> dict[str, Network]:
    """The networks in a TOML text; raises ConfigError with one sentence that starts with `source`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: this is not TOML, {_first_line(error)}.") from error
    _only_keys(document, {"networks"}, source)
    tables = document.get("networks")
    if not isinstance(tables, dict) or not tables:
        raise ConfigError(f"{source}: at least one [networks.<slug>] table is needed.")
    networks = {slug: _network(slug, table, f"{source}: networks.{slug}") for slug, table in tables.items()}
    chain_ids: dict[int, str] = {}
    for network in networks.values():
        other = chain_ids.setdefault(network.chain_id, network.slug)
        if other != network.slug:
            raise ConfigError(
                f"{source}: {other} and {network.slug} have the same chain id {network.chain_id}."
            )
    return networks


def _network(slug: str, table: Any, where: str) -> Network:
    if not _SLUG.fullmatch(slug):
        raise ConfigError(f"{where}: a slug is 1 to 32 small letters, digits and hyphens.")
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: this must be a table.")
    _only_keys(table, _NETWORK_KEYS, where)
    return Network(
        slug=slug,
        name=_text(table, "name", where),
        chain_id=_whole(table, "chain_id", where, low=1, high=2**53 - 1),
        rpc_urls=_rpc_urls(table, where),
        settle=_settle(table.get("settle"), f"{where}.settle"),
        block_seconds=_seconds(table, where),
        assets=_assets(table.get("assets"), where),
        tiers=_tiers(table, where),
        explorer=_explorer(table, where),
        test=_flag(table, "test", where),
        native_symbol=_symbol(table, "native_symbol", where, default="ETH"),
        multicall=_contract(table, "multicall", where),
    )


def _assets(rows: Any, where: str) -> tuple[Asset, ...]:
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{where}: at least one [[assets]] table is needed.")
    assets = tuple(_asset(row, f"{where}.assets[{position}]") for position, row in enumerate(rows))
    if len({asset.symbol for asset in assets}) != len(assets):
        raise ConfigError(f"{where}: two assets have the same symbol.")
    if len({asset.contract for asset in assets}) != len(assets):
        raise ConfigError(f"{where}: two assets have the same contract.")
    return assets


def _asset(row: Any, where: str) -> Asset:
    if not isinstance(row, dict):
        raise ConfigError(f"{where}: this must be a table.")
    _only_keys(row, _ASSET_KEYS, where)
    contract = _contract(row, "contract", where)
    if contract is not None and ("feed" in row or "second" in row):
        raise ConfigError(f"{where}: only the native coin has a feed and a second source.")
    if ("feed" in row) != ("second" in row):
        raise ConfigError(f"{where}: feed and second are needed together, as two prices must agree.")
    return Asset(
        symbol=_symbol(row, "symbol", where),
        name=_text(row, "name", where),
        contract=contract,
        decimals=_whole(row, "decimals", where, low=0, high=36),
        price=_price(row, where, native=contract is None),
        feed=_contract(row, "feed", where),
        second=_second(row, f"{where}.second") if "second" in row else None,
        offered=_flag(row, "offered", where, default=True),
    )


def _second(row: dict[str, Any], where: str) -> SecondPrice:
    """Another feed, or a number in a JSON document that is read over https."""
    table = row["second"]
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: a table with a feed, or with a url and a pointer, is needed.")
    _only_keys(table, {"feed", "url", "pointer"}, where)
    if "feed" in table:
        if len(table) > 1 or table["feed"] == row.get("feed"):
            raise ConfigError(f"{where}.feed: another feed than the first is needed, and nothing beside it.")
        return SecondPrice(feed=_contract(table, "feed", where))
    url, pointer = table.get("url"), table.get("pointer")
    if not _is_url(url) or not str(url).startswith("https://"):
        raise ConfigError(f"{where}.url: this must be an https:// address.")
    if not isinstance(pointer, str) or not _POINTER.fullmatch(pointer):
        raise ConfigError(f"{where}.pointer: a JSON pointer such as /data/amount is needed.")
    return SecondPrice(url=str(url), pointer=pointer)


def _contract(table: dict[str, Any], key: str, where: str) -> str | None:
    if key not in table:
        return None
    try:
        return normalize_address(_text(table, key, where))
    except Invalid as error:
        raise ConfigError(f"{where}.{key}: this is not an address with a right checksum.") from error


def _price(row: dict[str, Any], where: str, *, native: bool) -> Decimal | None:
    """Stable coins are held at one dollar by policy; another figure would sell at a frozen rate."""
    if native:
        if "price" in row:
            raise ConfigError(f"{where}.price: the native coin has no fixed price; give it feed and second.")
        return None
    value = row.get("price", "1")
    try:
        is_one = isinstance(value, str) and Decimal(value) == 1
    except InvalidOperation:
        is_one = False
    if not is_one:
        raise ConfigError(f'{where}.price: this must be "1", the only fixed price there is.')
    return Decimal(1)


def _settle(table: Any, where: str) -> Settle:
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: a table with a mode is needed.")
    _only_keys(table, {"mode", "value"}, where)
    mode = table.get("mode")
    if mode not in ("finalized", "confirmations", "age"):
        raise ConfigError(f"{where}.mode: this must be finalized, confirmations or age.")
    if mode == "finalized":
        if "value" in table:
            raise ConfigError(f"{where}.value: the mode finalized takes no value.")
        return Settle(mode="finalized")
    return Settle(mode=cast(SettleMode, mode), value=_whole(table, "value", where, low=1, high=10**6))


def _tiers(table: dict[str, Any], where: str) -> tuple[Tier, ...]:
    """Rules by amount, ascending; no larger amount may have a laxer rule as far as two rules can be compared."""
    rows = table.get("tiers", [])
    if not isinstance(rows, list) or len(rows) > MAX_TIERS:
        raise ConfigError(f"{where}.tiers: at most {MAX_TIERS} [[tiers]] tables are allowed.")
    tiers = [_tier(row, f"{where}.tiers[{position}]") for position, row in enumerate(rows)]
    if any(later.up_to <= earlier.up_to for earlier, later in pairwise(tiers)):
        raise ConfigError(f"{where}.tiers: each amount up_to must be larger than the one before.")
    rules = [*(tier.settle for tier in tiers), _settle(table.get("settle"), f"{where}.settle")]
    if any(_is_laxer(later, than=earlier) for earlier, later in pairwise(rules)):
        raise ConfigError(f"{where}.tiers: a larger amount must not settle by a laxer rule.")
    return tuple(tiers)


def _tier(row: Any, where: str) -> Tier:
    if not isinstance(row, dict):
        raise ConfigError(f"{where}: this must be a table.")
    rule = {key: value for key, value in row.items() if key != "up_to"}
    try:
        text = row.get("up_to")
        up_to = Decimal(text) if isinstance(text, str) else Decimal("NaN")
    except InvalidOperation:
        up_to = Decimal("NaN")
    if not up_to.is_finite() or up_to <= 0:
        raise ConfigError(f'{where}.up_to: an amount in quotes is needed, such as "500".')
    return Tier(up_to=up_to, settle=_settle(rule, where))


def _is_laxer(rule: Settle, *, than: Settle) -> bool:
    if rule.mode == than.mode:
        return rule.value < than.value
    return than.mode == "finalized"


def _rpc_urls(table: dict[str, Any], where: str) -> tuple[str, ...]:
    urls = table.get("rpc_urls")
    if (
        not isinstance(urls, list)
        or not 1 <= len(urls) <= MAX_RPC_URLS
        or len(set(map(str, urls))) != len(urls)
    ):
        raise ConfigError(f"{where}.rpc_urls: a list of 1 to {MAX_RPC_URLS} different addresses is needed.")
    for url in urls:
        if not _is_url(url):  # the address itself is not repeated: it may carry a key
            raise ConfigError(f"{where}.rpc_urls: each entry is an http:// or https:// address.")
    return tuple(urls)


def _explorer(table: dict[str, Any], where: str) -> str | None:
    if "explorer" not in table:
        return None
    url = table["explorer"]
    if not _is_url(url):
        raise ConfigError(f"{where}.explorer: this must be an http:// or https:// address.")
    return str(url).rstrip("/")


def _is_url(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _seconds(table: dict[str, Any], where: str) -> float:
    value = table.get("block_seconds")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise ConfigError(f"{where}.block_seconds: a number above 0 and up to 3600 is needed.")
    return float(value)


def _whole(table: dict[str, Any], key: str, where: str, *, low: int, high: int) -> int:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(f"{where}.{key}: a whole number from {low} to {high} is needed.")
    return value


def _flag(table: dict[str, Any], key: str, where: str, *, default: bool = False) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{where}.{key}: this must be true or false.")
    return value


def _text(table: dict[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip() or len(value) > 100 or not value.isprintable():
        raise ConfigError(f"{where}.{key}: a text of 1 to 100 characters is needed.")
    return value.strip()


def _symbol(table: dict[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not _SYMBOL.fullmatch(value):
        raise ConfigError(f"{where}.{key}: 1 to 12 letters, digits or full stops are needed.")
    return value


def _only_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise ConfigError(f"{where}: the key {unknown[0]!r} is not known.")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
