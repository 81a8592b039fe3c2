"""gunicorn's configuration (`gunicorn -c python:anchorgpu.web anchorgpu.wsgi`)."""

import gc
import os
from typing import Any

from anchorgpu import silence, startup

bind = os.environ.get("WEB_LISTEN", "127.0.0.1:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
# As many as the pool of a process has database connections.
threads = int(os.environ.get("WEB_THREADS", "8"))
timeout = 30
graceful_timeout = 4
when_ready = silence.when_ready
keepalive = 5
# gunicorn's own control socket lies in the home folder and would be shared between installations.
control_socket_disable = True
accesslog = None
# Each request is logged by the application, with its id.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112  # nosec B108 # heartbeat file
# One import for all workers: half the time to the first answer. Connections are made later, by each worker.
preload_app = True


def pre_fork(server: Any, worker: Any) -> None:
    """What is loaded is never collected: a worker that looked through it would make copies of shared memory."""
    gc.freeze()


startup.check_or_exit()
