"""Plays the service manager for `broker serve`: holds its socket, hears what it notifies, and restarts it under load.

Arguments: the broker's path, its configuration (with `listen: { systemd: true }`), a mint body, a bearer token, how many restarts.
Prints one JSON object: what was notified in each life, exit codes, mints, other statuses than 200 and 503, and connections that failed.
"""

import collections
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

FIRST_INHERITED = 3  # sd_listen_fds(3): SD_LISTEN_FDS_START


class Manager:
    def __init__(self, broker, configuration, folder):
        self.command = [broker, "serve", "--config", configuration]
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify_path = os.path.join(folder, "notify")
        self.notified.bind(self.notify_path)
        self.notified.settimeout(60)

    def start(self):
        """Starts a broker with the socket as descriptor 3, and waits until it is ready."""
        environment = {**os.environ, "LISTEN_FDS": "1", "NOTIFY_SOCKET": self.notify_path}

        def hand_over():
            if self.listener.fileno() != FIRST_INHERITED:
                os.dup2(self.listener.fileno(), FIRST_INHERITED)
            os.set_inheritable(FIRST_INHERITED, True)

        # LISTEN_PID must be the broker's own number: the shell becomes it.
        process = subprocess.Popen(
            ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *self.command],
            env=environment, preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL,
        )
        self.wait_for("READY=1")
        return process

    def wait_for(self, word):
        while True:
            if word in self.notified.recv(4096).decode().split("\n"):
                return


class Load:
    """Clients that open a new connection for each mint, until told to stop."""

    def __init__(self, port, body, token, clients=8):
        self.port, self.body = port, body
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.statuses, self.failures = collections.Counter(), []
        self.ends = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.ends.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                connection.request("POST", "/v1/assertions", self.body, self.headers)
                answer = connection.getresponse()
                answer.read()
                with self.lock:
                    self.statuses[answer.status] += 1
            except (OSError, http.client.HTTPException) as error:
                with self.lock:
                    self.failures.append(repr(error))
            finally:
                connection.close()

    def count(self):
        with self.lock:
            return sum(self.statuses.values())

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def main():
    broker, configuration, body, token, restarts = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        manager = Manager(broker, configuration, folder)
        process, exits = manager.start(), []
        process.send_signal(signal.SIGHUP)
        manager.wait_for("RELOADING=1")
        manager.wait_for("READY=1")
        load = Load(manager.port, body, token)
        for _ in range(int(restarts)):
            # Some hundred mints between two restarts.
            goal = load.count() + 200
            while load.count() < goal and not load.failures:
                threading.Event().wait(0.01)
            process.send_signal(signal.SIGTERM)
            manager.wait_for("STOPPING=1")
            exits.append(process.wait(60))
            process = manager.start()
        load.stop()
        process.send_signal(signal.SIGTERM)
        exits.append(process.wait(60))
    others = {str(status): n for status, n in load.statuses.items() if status not in (200, 503)}
    print(json.dumps({
        "exits": exits, "minted": load.statuses[200], "others": sorted(others), "failures": load.failures[:20],
    }))


main()
