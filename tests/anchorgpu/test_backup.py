"""bin/backup and bin/restore by themselves: what they keep, what they refuse, and that half of one is nothing."""

import json
import os
import signal
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection as db_connection
from pytest_django import Settings

from anchorgpu import startup
from anchorgpu.addresses import SettingError, database
from anchorgpu.keeping import archive, backup, programs, restore
from anchorgpu.keeping.archive import KeepingError
from core.models import SweepRun
from tests.anchorgpu.processes import wait_for
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
FACTS = {
    "made_at": NOW.isoformat(),
    "version": "0.1.0",
    "server_major": 18,
    "migrations": [["core", "0001_initial"]],
    "xpub_fingerprint": "",
}


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / f"of-{name}" for name in archive.PARTS}
    for name, path in found.items():
        path.write_text(f"This is {name}.", encoding="utf-8")
    return found


@pytest.fixture
def packed(tmp_path: Path, parts: dict[str, Path]) -> Path:
    archive.pack(tmp_path / "good.tar", facts=FACTS, parts=parts)
    return tmp_path / "good.tar"


@pytest.fixture
def own_database(transactional_db: None) -> Iterator[str]:
    """An empty one on the server of the tests; its address."""
    name = f"restore_{uuid.uuid4().hex}"
    with db_connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    known = db_connection.settings_dict
    yield f"postgresql://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{name}"
    with db_connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_an_archive_comes_apart_as_it_was_put_together(
    packed: Path, parts: dict[str, Path], tmp_path: Path
) -> None:
    assert packed.stat().st_mode & 0o777 == 0o600
    manifest = archive.read_manifest(packed)
    assert manifest.made_at == NOW
    (tmp_path / "out").mkdir()
    found = archive.unpack(packed, tmp_path / "out", manifest)
    assert {name: path.read_bytes() for name, path in found.items()} == {
        name: path.read_bytes() for name, path in parts.items()
    }


def test_a_damaged_archive_is_refused(packed: Path, tmp_path: Path) -> None:
    content = packed.read_bytes()
    packed.write_bytes(content.replace(b"This is database.dump", b"That is database.dump"))
    (tmp_path / "out").mkdir()
    with pytest.raises(KeepingError, match=r"database\.dump is not what its manifest says"):
        archive.unpack(packed, tmp_path / "out", archive.read_manifest(packed))
    packed.write_bytes(content[:3000])
    (tmp_path / "again").mkdir()
    with pytest.raises(KeepingError, match="damaged"):
        archive.unpack(packed, tmp_path / "again", archive.read_manifest(packed))


@pytest.mark.parametrize("content", [b"", b"no tar", b"\0" * 20_000])
def test_what_is_no_backup_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(KeepingError, match="is no backup that bin/backup made"):
        archive.read_manifest(tmp_path / "file")
    with pytest.raises(KeepingError, match="cannot be read: No such file"):
        archive.read_manifest(tmp_path / "nothing")


def test_another_form_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"format": archive.FORMAT + 1}).encode()
    with tarfile.open(tmp_path / "next.tar", "w") as tar:
        entry = tarfile.TarInfo(archive.MANIFEST)
        entry.size = len(text)
        tar.addfile(entry, BytesIO(text))
    with pytest.raises(KeepingError, match="has form 2, this version reads form 1"):
        archive.read_manifest(tmp_path / "next.tar")


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path, parts: dict[str, Path]) -> None:
    facts = FACTS | {"version": "9.0", "migrations": [["core", "0001_initial"], ["billing", "9999_later"]]}
    archive.pack(tmp_path / "newer.tar", facts=facts, parts=parts)
    with pytest.raises(KeepingError, match=r"newer version \(9\.0; it has billing\.9999_later\)"):
        restore.refuse_newer(archive.read_manifest(tmp_path / "newer.tar"))


def test_nothing_is_restored_over_something(own_database: str, packed: Path) -> None:
    manifest = archive.read_manifest(packed)
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION btree_gist")
        restore.refuse_occupied(connection, manifest)  # extensions are the server's
        with (
            psycopg.connect(own_database),
            pytest.raises(KeepingError, match="Another program is connected"),
        ):
            restore.refuse_occupied(connection, manifest)
        connection.execute("CREATE SEQUENCE numbers")
        with pytest.raises(KeepingError, match="not empty"):
            restore.refuse_occupied(connection, manifest)


def test_an_interrupted_restore_leaves_a_database_that_nothing_starts_on(
    own_database: str, packed: Path
) -> None:
    """Here the dump is no dump, so that it ends between marker and last step."""
    environ = dict(os.environ) | {"DATABASE_URL": own_database}
    with pytest.raises(KeepingError, match="pg_restore failed: "):
        restore.restore(packed, environ=environ, force=False)
    with psycopg.connect(own_database) as connection:
        with pytest.raises(SettingError, match="whose restore has not finished"):
            startup.refuse_unfinished_restore(connection)
        with pytest.raises(KeepingError, match="was interrupted: drop it, make a new one"):
            restore.refuse_occupied(connection, archive.read_manifest(packed))


def test_a_database_in_use_is_no_restore_to_finish(db: None) -> None:
    with pytest.raises(CommandError, match="Nothing is being restored"):
        call_command("finish_restore", made_at=NOW.isoformat(), of_version="0.1.0")


def test_keys_are_put_back_where_they_are_missing_and_never_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part, place = tmp_path / "part", tmp_path / "deep" / "key"
    part.write_text("of the backup", encoding="utf-8")
    environ = {"SSH_HOST_KEY_FILE": str(place)}

    def put_back(*, force: bool = False) -> str:
        restore.put_key_back(part, environ, "SSH_HOST_KEY_FILE", force=force)
        return capsys.readouterr().out

    assert "is the backup's" in put_back()
    assert place.stat().st_mode & 0o777 == 0o600
    assert put_back() == ""
    place.write_text("a newer one", encoding="utf-8")
    assert "--force" in put_back()
    assert place.read_text(encoding="utf-8") == "a newer one"
    put_back(force=True)
    assert place.read_text(encoding="utf-8") == "of the backup"
    assert (tmp_path / "deep" / "key.before-restore-1").read_text(encoding="utf-8") == "a newer one"
    with pytest.raises(SettingError, match="QUOTE_KEYS_FILE is not set"):
        restore.put_key_back(part, {}, "QUOTE_KEYS_FILE", force=False)


def test_the_manifest_names_settings_and_holds_none(tmp_path: Path) -> None:
    environ = production_settings(tmp_path) | {
        "STRIPE_SECRET_KEY": "sk_test_secret",
        "STRIPE_WEBHOOK_SECRET": "whsec_secret",
        "SOMETHING_ELSE": "1",
    }
    found = backup.settings_named(environ)
    assert set(found) == set(environ) - {"SOMETHING_ELSE"}


def test_a_program_of_another_version_is_not_used() -> None:
    assert programs.program("pg_dump", server_major=18).is_file()
    with pytest.raises(KeepingError, match=r"install its client .*postgresql-client-99"):
        programs.program("pg_dump", server_major=99)


def test_a_backup_that_fails_leaves_nothing_and_says_so(db: None, tmp_path: Path, settings: Settings) -> None:
    settings.QUOTE_KEYS_FILE = str(tmp_path / "gone")
    with pytest.raises(CommandError, match="No backup was made"):
        call_command("backup", str(tmp_path / "kept"))
    assert [path.name for path in (tmp_path / "kept").rglob("*")] == [backup.UNFINISHED]
    run = SweepRun.objects.get(name="backup")
    assert "gone" in run.last_error
    assert run.last_finished_at is None


def test_killed_in_the_middle_it_leaves_no_half_archive(transactional_db: None, tmp_path: Path) -> None:
    """It waits for a table that somebody holds; then the machine goes away. The next one clears up and succeeds."""
    folder, known = tmp_path / "kept", db_connection.settings_dict
    url = f"postgresql://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"
    with psycopg.connect(url) as holder:
        holder.execute("LOCK TABLE core_event IN ACCESS EXCLUSIVE MODE")
        child = subprocess.Popen(
            [ROOT / "bin" / "backup", folder],
            env={**os.environ, "DATABASE_URL": url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        dump = folder / backup.UNFINISHED / archive.DATABASE
        wait_for(dump.exists, seconds=30, what="the dump has begun")
        with pytest.raises(CommandError, match="Another backup is being written"):
            call_command("backup", str(folder))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        holder.rollback()
    assert list(folder.glob("*.tar")) == []
    call_command("backup", str(folder))
    (made,) = folder.glob("*.tar")
    assert list((folder / backup.UNFINISHED).iterdir()) == []
    assert ("core", "0001_initial") in archive.read_manifest(made).migrations
    assert database(url)["NAME"] not in made.name
