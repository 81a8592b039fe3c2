"""Import rules that need more than a list of modules."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("core", "catalog", "planner", "fleet", "orders", "billing", "shop", "partners", "guides", "desk")
FACES = ("views", "admin", "tasks")


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _foreign_faces(app: str, source: str) -> list[str]:
    """Views, admin and tasks of other apps that the source imports."""
    found = []
    for name in _imported(ast.parse(source)):
        other, _, rest = name.partition(".")
        if other in APPS and other != app and rest.split(".")[0] in FACES:
            found.append(name)
    return found


def test_the_rule_finds_what_it_forbids() -> None:
    assert _foreign_faces("billing", "from orders.tasks import on_lease") == ["orders.tasks.on_lease"]
    assert _foreign_faces("billing", "from orders import views") == ["orders.views"]
    assert _foreign_faces("billing", "import fleet.admin") == ["fleet.admin"]
    assert _foreign_faces("orders", "from orders.tasks import on_lease") == []
    assert _foreign_faces("billing", "from orders.services.place import place") == []


def test_no_app_imports_views_admin_or_tasks_of_another() -> None:
    files = [(app, file) for app in APPS for file in (ROOT / app).rglob("*.py")]
    assert len(files) > 50
    found = {
        str(file.relative_to(ROOT)): names
        for app, file in files
        if (names := _foreign_faces(app, file.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_web_process_never_loads_web3() -> None:
    """The whole application, with its URLs; in a process of its own, where no test has loaded it before."""
    script = (
        "import sys; import anchorgpu.wsgi; from django.urls import get_resolver; "
        "get_resolver().url_patterns; "
        "print(sorted(set(sys.modules) & {'web3', 'eth_account', 'billing.rails.evm'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "anchorgpu.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
