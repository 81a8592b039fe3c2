"""gunicorn's threaded worker with an end that loses no request: who was let in is answered, others go elsewhere."""

from gunicorn.workers.gthread import ThreadWorker


class DrainingWorker(ThreadWorker):  # type: ignore[misc]
    """The stock worker keeps the port open while it finishes: the kernel lets clients in whom nobody answers, and
    they are cut off in the end. Here they are let in before the port is closed, and refused from then on: a proxy
    takes another server, or waits where systemd holds the port.
    """

    _is_closed = False

    def set_accept_enabled(self, enabled: bool) -> None:
        if self._is_closed:
            return
        super().set_accept_enabled(enabled)
        if not self.alive:
            # A stop may come while the port was not looked at: then it is not registered either.
            super().set_accept_enabled(False)
            self._close_port()

    def _close_port(self) -> None:
        self._is_closed = True
        for listener in self.sockets:
            listener.setblocking(False)
            let_in = -1
            while let_in < self.nr_conns:
                let_in = self.nr_conns
                self.accept(listener)
            listener.close()
