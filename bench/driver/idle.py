"""Connections that stay open and say nothing, as those of apps and gateways do."""
import contextlib
import resource
import select
import socket

from .errors import Missing, Void

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
PER_ADDRESS = 1000  # the broker takes at most 2048 from one address


def require_descriptors(connections):
    """Raises the limit of open files, for the servers started later too."""
    wanted = connections + 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise Missing(f"at most {hard} open files are allowed here and {connections} idle connections need {wanted}: ulimit -Hn")
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextlib.contextmanager
def connections(url, count):
    """So many kept connections, each after one answered request, from as many loopback addresses as it takes."""
    port = int(url.rsplit(":", 1)[1])
    sockets = []
    try:
        while len(sockets) < count:
            batch = []
            for n in range(len(sockets), min(count, len(sockets) + 200)):
                s = socket.socket()
                sockets.append(s)
                batch.append(s)
                s.bind((f"127.0.1.{1 + n // PER_ADDRESS}", 0))
                s.settimeout(10)
                s.connect(("127.0.0.1", port))
                s.sendall(REQUEST)
            for s in batch:
                if not s.recv(4096).startswith(b"HTTP/1.1 200"):
                    raise Void("an idle connection's first request was not answered with 200")
        yield
        # Readable now means closed by the server.
        poll = select.poll()
        for s in sockets:
            poll.register(s, select.POLLIN)
        if closed := len(poll.poll(0)):
            raise Void(f"{closed} of {count} idle connections were closed before the end")
    finally:
        for s in sockets:
            s.close()
