"""gunicorn's configuration (`bin/serve web`)."""

import gc
import os
import shutil
import tempfile
from typing import Any

import gunicorn.http.wsgi

from anchorgpu import silence, startup

_env = startup.check_or_exit()
# The processes count into files, and a scrape adds them up (anchorgpu.metrics). Set before prometheus_client loads.
_counts = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="anchorgpu-metrics-")

bind = _env.serving.web_listen
worker_class = "anchorgpu.draining.DrainingWorker"
workers = _env.serving.web_workers
# As many as the pool of a process has database connections.
threads = _env.serving.web_threads
timeout = 30
graceful_timeout = _env.serving.web_grace_seconds
when_ready = silence.when_ready
keepalive = 5
# What a proxy says of the scheme counts from a trusted one alone, as its X-Forwarded-For does (core.client_address).
forwarded_allow_ips = ",".join(_env.trusted_proxies)
secure_scheme_headers = {"X-FORWARDED-PROTO": "https"}
# The longest address of ours has some 300 characters; a browser sends 20 headers.
limit_request_line = 4094
limit_request_fields = 60
limit_request_field_size = 8190
# gunicorn's own control socket lies in the home folder and would be shared between installations.
control_socket_disable = True
accesslog = None
# Each request is logged by the application, with its id.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112  # nosec B108 # heartbeat file
# One import for all workers: half the time to the first answer. Connections are made later, by each worker.
preload_app = True
# Which server answers is nobody's business; gunicorn has no setting for it.
gunicorn.http.wsgi.SERVER = "AnchorGPU"


def pre_fork(server: Any, worker: Any) -> None:
    """What is loaded is never collected: a worker that looked through it would make copies of shared memory."""
    gc.freeze()


def on_exit(server: Any) -> None:
    shutil.rmtree(_counts, ignore_errors=True)
