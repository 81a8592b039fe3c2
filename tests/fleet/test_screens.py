"""The screens of a simulated machine against what the real commands print."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fleet.gateway import screens
from fleet.gateway.logins import CardView, Login

CARD = CardView(node="node-b", index=0, serial="s0", model="NVIDIA RTX 4090", memory_gb=24, power_w=450)
LOGIN = Login(
    key_id=1,
    lease_id=1,
    username="l1042",
    is_test=False,
    image="PyTorch",
    stack="CUDA",
    stack_version="12.8",
    driver="570.86.15",
    nvme_gb=1600,
    cards=(CARD, replace(CARD, node="node-a", serial="s1")),
    ends_at=None,
)
NOW = datetime(2026, 12, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("gigabytes", "shown"),
    [
        # What GNU df prints for these sizes: powers of 1024, rounded up, one place below ten.
        (1, "954M"),
        (9, "8.4G"),
        (960, "895G"),
        (1000, "932G"),
        (1099, "1.0T"),
        (1600, "1.5T"),
        (7680, "7.0T"),
        (15360, "14T"),
        (30720, "28T"),
    ],
)
def test_df_rounds_as_the_real_one(gigabytes: int, shown: str) -> None:
    lines = screens.disk(replace(LOGIN, nvme_gb=gigabytes)).splitlines()
    assert lines[0].startswith("# Simulated")
    assert lines[1] == "Filesystem      Size  Used Avail Use% Mounted on"
    assert lines[2] == f"/dev/nvme0n1   {shown:>5}     0 {shown:>5}   0% /scratch"


def test_df_of_an_unknown_disk_shows_no_size() -> None:
    assert screens.disk(replace(LOGIN, nvme_gb=None)).splitlines()[2].split()[1:4] == ["-", "0", "-"]


def test_the_prompt_names_the_host_that_hostname_names() -> None:
    assert screens.hostname(LOGIN).splitlines()[1:] == ["node-a", "node-b"]
    assert screens.prompt(LOGIN) == "l1042@node-a:~$ "


def test_lease_says_how_the_memory_of_the_order_and_of_the_tool_belong_together() -> None:
    shown = screens.lease(LOGIN, NOW)
    assert "24 GB a card of 10^9 bytes each, as sold; 22888 MiB" in shown
    assert "22888MiB" in screens.smi_table(LOGIN, NOW)
    unknown = replace(LOGIN, cards=(replace(CARD, memory_gb=None),))
    assert "10^9" not in screens.lease(unknown, NOW)
