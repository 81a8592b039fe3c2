"""Settings of the test run: whole and valid, so that a test changes one and sees what happens."""

from pathlib import Path

from anchorgpu.demo import keys

# Nothing listens on that port: tests that need a chain make their own networks from the `anvil` fixture.
NETWORKS = """\
[networks.local]
name = "Anchor test chain"
chain_id = 31337
rpc_urls = ["http://127.0.0.1:9"]
test = true
block_seconds = 2
settle = { mode = "finalized" }

[[networks.local.assets]]
symbol = "USDC"
name = "USD Coin"
contract = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
decimals = 6
price = "1"
"""


def demo_settings(folder: Path, *, database_url: str, redis_url: str, ssh_port: int) -> dict[str, str]:
    """Those of a demo; the files they name are made in the folder."""
    keys.write_private(folder / "quote-keys.json", keys.quote_keys())
    keys.write_private(folder / "ssh_host_key", keys.ssh_host_key())
    (folder / "networks.toml").write_text(NETWORKS, encoding="utf-8")
    return {
        "ANCHORGPU_DEMO": "1",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": keys.demo_secret_key(),
        "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
        "SITE_URL": "http://testserver",
        "QUOTE_KEYS_FILE": str(folder / "quote-keys.json"),
        "SSH_HOST_KEY_FILE": str(folder / "ssh_host_key"),
        "SSH_LISTEN": f"127.0.0.1:{ssh_port}",
        "DEPOSIT_XPUB": keys.throwaway_xpub(),
        "EVM_NETWORKS_FILE": str(folder / "networks.toml"),
    }


def production_settings(folder: Path) -> dict[str, str]:
    """Those of a true installation; nothing listens where they point."""
    settings = demo_settings(
        folder,
        database_url="postgresql://shop:secret@127.0.0.1:9/shop",
        redis_url="redis://127.0.0.1:9/0",
        ssh_port=2222,
    )
    networks = NETWORKS.replace("31337", "1").replace("test = true\n", "")
    (folder / "networks.toml").write_text(networks, encoding="utf-8")
    (folder / "imprint.txt").write_text(
        "Anker GmbH\nHafen 1\n20457 Hamburg\nshop@gpu.example\n", encoding="utf-8"
    )
    return settings | {
        "ANCHORGPU_DEMO": "0",
        "SECRET_KEY": keys.demo_secret_key().removeprefix("demo-"),
        "ALLOWED_HOSTS": "gpu.example",
        "SITE_URL": "https://gpu.example",
        "IMPRINT_FILE": str(folder / "imprint.txt"),
    }
