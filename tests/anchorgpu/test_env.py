"""A setting that is missing, malformed or must not be combined stops the start with one sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bip_utils import Bip39MnemonicGenerator, Bip39WordsNum, Bip44, Bip44Coins

from anchorgpu import policy
from anchorgpu.addresses import SettingError
from anchorgpu.env import read_env
from tests.environment import demo_settings, production_settings

Settings = dict[str, str]


@pytest.fixture
def demo(tmp_path: Path) -> Settings:
    (tmp_path / "demo").mkdir()
    return demo_settings(
        tmp_path / "demo",
        database_url="postgresql://u:p%40ss@127.0.0.1:5432/shop?sslmode=require",
        redis_url="redis://127.0.0.1:6379/0",
        ssh_port=2222,
    )


@pytest.fixture
def production(tmp_path: Path) -> Settings:
    (tmp_path / "production").mkdir()
    return production_settings(tmp_path / "production")


def _refusal(settings: Settings) -> str:
    with pytest.raises(SettingError) as caught:
        read_env(settings)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def _mnemonic() -> str:
    return str(Bip39MnemonicGenerator().FromWordsNumber(Bip39WordsNum.WORDS_NUM_12))


def _xprv() -> str:
    account = Bip44.FromSeed(bytes(range(64)), Bip44Coins.ETHEREUM).Purpose().Coin().Account(0)
    return str(account.PrivateKey().ToExtended())


def _master_xpub() -> str:
    return str(Bip44.FromSeed(bytes(range(64)), Bip44Coins.ETHEREUM).PublicKey().ToExtended())


def test_whole_settings_are_read(demo: Settings, production: Settings) -> None:
    env = read_env(demo | {"HOLD_SECONDS": "120", "TRUSTED_PROXIES": "10.0.0.0/8, 127.0.0.1"})
    assert env.demo
    assert env.database["PASSWORD"] == "p@ss"
    assert env.database["OPTIONS"] == {"sslmode": "require"}
    assert env.ssh_listen == ("127.0.0.1", 2222)
    assert env.number("HOLD_SECONDS") == 120
    assert env.number("QUOTE_VALID_SECONDS") == policy.DEFAULTS["QUOTE_VALID_SECONDS"]
    assert env.trusted_proxies == ("10.0.0.0/8", "127.0.0.1")
    assert not read_env(production).demo


def test_only_a_demo_has_no_imprint(production: Settings, demo: Settings) -> None:
    assert read_env(production).imprint.startswith("Anker GmbH\n")
    assert read_env(demo).imprint == ""
    Path(production["IMPRINT_FILE"]).write_text(" \n\n", encoding="utf-8")
    assert "IMPRINT_FILE" in _refusal(production)
    assert "empty" in _refusal(production)


def test_the_second_factor_is_asked_for_outside_a_demo(production: Settings, demo: Settings) -> None:
    assert read_env(production).staff_second_factor
    assert not read_env(demo).staff_second_factor
    assert read_env(demo | {"STAFF_SECOND_FACTOR": "1"}).staff_second_factor
    assert not read_env(production | {"STAFF_SECOND_FACTOR": "0"}).staff_second_factor
    assert "STAFF_SECOND_FACTOR" in _refusal(production | {"STAFF_SECOND_FACTOR": "yes"})


def test_mail_settings_are_taken_apart(production: Settings) -> None:
    env = read_env(production | {"EMAIL_URL": "smtp+tls://me:p%40@mail.example"})
    assert env.email["EMAIL_PORT"] == 587
    assert env.email["EMAIL_HOST_PASSWORD"] == "p@"
    assert env.email["EMAIL_USE_TLS"]
    assert not env.email["EMAIL_USE_SSL"]


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "REDIS_URL",
        "SECRET_KEY",
        "ALLOWED_HOSTS",
        "SITE_URL",
        "QUOTE_KEYS_FILE",
        "SSH_HOST_KEY_FILE",
        "SSH_LISTEN",
        "IMPRINT_FILE",
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_required_setting_is_named(production: Settings, name: str, value: str | None) -> None:
    production.pop(name)
    if value is not None:
        production[name] = value
    assert _refusal(production).startswith(f"{name} is not set")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://u:p@127.0.0.1/shop"),
        ("DATABASE_URL", "sqlite:///shop.db"),
        ("DATABASE_URL", "postgresql://u:p@127.0.0.1"),
        ("DATABASE_URL", "postgresql://u:p@127.0.0.1:notaport/shop"),
        ("DATABASE_URL", "postgresql://u:p@127.0.0.1/shop?options=-csearch_path"),
        ("REDIS_URL", "http://127.0.0.1"),
        ("REDIS_URL", "redis://"),
        ("SECRET_KEY", "short"),
        ("SECRET_KEY", "a" * 60),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "https://gpu.example"),
        ("ALLOWED_HOSTS", ","),
        ("SITE_URL", "gpu.example"),
        ("SITE_URL", "https://gpu.example/shop"),
        ("SITE_URL", "https://other.example"),
        ("SITE_URL", "http://gpu.example"),
        ("QUOTE_KEYS_FILE", "/nowhere/keys.json"),
        ("SSH_HOST_KEY_FILE", "/nowhere/key"),
        ("SSH_LISTEN", "2222"),
        ("SSH_LISTEN", "0.0.0.0:70000"),
        ("DEPOSIT_XPUB", "xpub-of-nobody"),
        ("EVM_NETWORKS_FILE", "/nowhere/networks.toml"),
        ("STRIPE_SECRET_KEY", "pk_test_1"),
        ("STRIPE_WEBHOOK_SECRET", "secret"),
        ("STRIPE_WEBHOOK_SECRET", "whsec_1, secret"),
        ("STRIPE_TRANSPORT", "post"),
        ("STRIPE_TRANSPORT", "demo"),
        ("PROVIDER", "the-cloud"),
        ("EMAIL_URL", "mail.example"),
        ("MAIL_FROM", "nobody"),
        ("TRUSTED_PROXIES", "everyone"),
        ("CURRENCY", "usd"),
        ("SHOP_COUNTRY", "Germany"),
        ("ANCHORGPU_DEMO", "yes"),
        ("HOLD_SECONDS", "-1"),
        ("ADDRESS_POOL_SIZE", "many"),
        ("ADDRESS_POOL_SIZE", "0"),
    ],
)
def test_malformed_setting_is_named(production: Settings, name: str, value: str) -> None:
    message = _refusal(production | {name: value})
    assert name in message.split(":")[0]


def _file_of(name: str, text: str) -> Callable[[Path, Settings], None]:
    def change(folder: Path, settings: Settings) -> None:
        (folder / "changed").write_text(text, encoding="utf-8")
        settings[name] = str(folder / "changed")

    return change


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("QUOTE_KEYS_FILE", "not json"),
        ("QUOTE_KEYS_FILE", '{"keys": []}'),
        ("QUOTE_KEYS_FILE", '{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "AA"}]}'),
        ("QUOTE_KEYS_FILE", "[]"),
        ("SSH_HOST_KEY_FILE", "ssh-ed25519 AAAA host"),
        ("EVM_NETWORKS_FILE", "networks ="),
        ("EVM_NETWORKS_FILE", ""),
    ],
)
def test_file_without_what_it_must_hold(tmp_path: Path, production: Settings, name: str, text: str) -> None:
    _file_of(name, text)(tmp_path, production)
    assert _refusal(production).startswith(name)


def test_private_keys_are_refused_wherever_they_are(production: Settings) -> None:
    words = _mnemonic()
    for name, value in [
        ("DEPOSIT_XPUB", _xprv()),
        ("DEPOSIT_XPUB", words),
        ("SOME_OTHER_VARIABLE", f"key={_xprv()};"),
        ("SOME_OTHER_VARIABLE", f'phrase: "{words.upper()}"'),
        ("TEST_PHRASE", "test " * 11 + "junk"),
    ]:
        message = _refusal(production | {name: value})
        assert message.startswith(f"{name} holds ")
        assert value not in message


def test_prose_is_no_mnemonic(production: Settings) -> None:
    text = "this is only a comment of some length that somebody has left in the shell for later"
    assert read_env(production | {"NOTE": text}).provider == "simulated"


@pytest.mark.parametrize("secret", [_xprv, _mnemonic])
def test_private_key_in_the_networks_file(production: Settings, secret: Callable[[], str]) -> None:
    file = Path(production["EVM_NETWORKS_FILE"])
    file.write_text(f"# {secret()}\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert _refusal(production).startswith("EVM_NETWORKS_FILE names")


def test_xpub_of_another_level(production: Settings) -> None:
    assert _refusal(production | {"DEPOSIT_XPUB": _master_xpub()}).startswith("DEPOSIT_XPUB cannot be used")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1"}, "STRIPE_SECRET_KEY"),
        ({"STRIPE_SECRET_KEY": "rk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1"}, "STRIPE_SECRET_KEY"),
        ({"ALLOWED_HOSTS": "testserver,gpu.example"}, "ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": "testserver,.example"}, "ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": "testserver,8.8.8.8"}, "ALLOWED_HOSTS"),
    ],
)
def test_demo_with_what_only_a_true_shop_has(demo: Settings, change: Settings, named: str) -> None:
    assert _refusal(demo | change).startswith(named)
    assert "demo" in _refusal(demo | change)


def test_demo_on_another_chain(demo: Settings) -> None:
    file = Path(demo["EVM_NETWORKS_FILE"])
    file.write_text(file.read_text(encoding="utf-8").replace("31337", "8453"), encoding="utf-8")
    message = _refusal(demo)
    assert message.startswith("EVM_NETWORKS_FILE names chain 8453")
    assert "demo" in message


def test_test_chain_outside_the_demo(production: Settings) -> None:
    file = Path(production["EVM_NETWORKS_FILE"])
    file.write_text(file.read_text(encoding="utf-8").replace("= 1\n", "= 31337\n"), encoding="utf-8")
    assert "only the demo" in _refusal(production)


def test_secret_key_of_a_demo_outside_it(demo: Settings, production: Settings) -> None:
    assert _refusal(production | {"SECRET_KEY": demo["SECRET_KEY"]}).startswith("SECRET_KEY is one of a demo")


def test_half_a_rail_and_none(production: Settings, demo: Settings) -> None:
    crypto = ("DEPOSIT_XPUB", "EVM_NETWORKS_FILE")
    for missing in crypto:
        halved = {name: value for name, value in production.items() if name != missing}
        assert _refusal(halved).startswith(f"{missing} is not set")
    without = {name: value for name, value in production.items() if name not in crypto}
    assert "without one of them nobody can pay" in _refusal(without)
    assert _refusal(without | {"STRIPE_SECRET_KEY": "sk_test_1"}).startswith(
        "STRIPE_WEBHOOK_SECRET is not set"
    )
    assert _refusal(without | {"STRIPE_WEBHOOK_SECRET": "whsec_1"}).startswith("STRIPE_SECRET_KEY is not set")
    stripe = {"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1"}
    assert read_env(without | stripe).evm_networks_file is None
    assert read_env({name: value for name, value in demo.items() if name not in crypto}).demo


def test_a_webhook_secret_can_be_replaced_without_a_gap(production: Settings) -> None:
    stripe = {"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_new,  whsec_old"}
    assert read_env(production | stripe).stripe_webhook_secret == "whsec_new whsec_old"


def test_the_test_bank_card_is_the_demo_s(demo: Settings, production: Settings) -> None:
    assert read_env(demo | {"STRIPE_TRANSPORT": "demo"}).stripe_transport == "demo"
    assert "only a demo" in _refusal(production | {"STRIPE_TRANSPORT": "demo"})


def test_webhooks_to_this_machine_are_the_demo_s_and_off(demo: Settings, production: Settings) -> None:
    assert read_env(demo).webhook_loopback is False
    assert read_env(demo | {"WEBHOOK_LOOPBACK": "1"}).webhook_loopback is True
    assert "only a demo" in _refusal(production | {"WEBHOOK_LOOPBACK": "1"})
