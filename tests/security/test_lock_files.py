"""What is installed is what was locked: exact versions, each with its hashes, and both files of one resolution."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FILES = ("requirements.txt", "requirements-dev.txt")
PIN = re.compile(r"([a-zA-Z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)")


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """Package -> version and hashes."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found: dict[str, tuple[str, list[str]]] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pin = PIN.match(line)
        assert pin is not None, f"{name}: {line[:80]} is no exact version"
        hashes = re.findall(r"--hash=sha256:([0-9a-f]+)", line)
        found[canonicalize_name(pin[1])] = (pin[2], hashes)
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_package_has_one_version_and_its_hashes(name: str) -> None:
    packages = locked(name)
    assert len(packages) > 50
    for package, (_version, hashes) in packages.items():
        assert hashes, package
        assert all(len(value) == 64 for value in hashes), package


@pytest.mark.parametrize("name", FILES)
def test_nothing_comes_from_an_address_or_another_index(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(r"^\s*-(e|f|i|-\w*index)|@ |://", text, re.MULTILINE) is None


def test_both_files_agree() -> None:
    product, whole = locked(FILES[0]), locked(FILES[1])
    assert {name: product[name] for name in product} == {name: whole.get(name) for name in product}


def test_the_versions_that_the_project_names_are_the_locked_ones() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {
        FILES[0]: project["project"]["dependencies"],
        FILES[1]: project["project"]["dependencies"] + project["dependency-groups"]["dev"],
    }
    for name, lines in wanted.items():
        packages = locked(name)
        for line in lines:
            requirement = Requirement(line)
            version, _hashes = packages[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), (name, line, version)


def test_the_installer_checks_the_hashes() -> None:
    assert "--require-hashes" in (ROOT / "bin" / "install").read_text(encoding="utf-8")
