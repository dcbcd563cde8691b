"""The broker and its peers: how each is started, and that each does the work it is measured by."""
import base64
import json
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from . import processes
from .errors import BenchError, Void

AUDIENCE = "https://idp.example"
JKT = base64.urlsafe_b64encode(bytes(32)).rstrip(b"=").decode()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """One running server. `answered` counts the 200s it gave; each must have its row in the end."""

    def __init__(self, name, command, env, log, port, database, rows, keys):
        self.name, self.database, self.rows, self.keys = name, database, rows, keys
        self.url = f"http://127.0.0.1:{port}"
        self.answered = 0
        self.service = processes.Service(name, command, log, env)
        self.pid, self.check = self.service.pid, self.service.check

    def stop(self):
        self.service.stop()

    def peak_mb(self):
        return processes.memory_mb(self.pid, "VmHWM")

    def resident_mb(self):
        return processes.memory_mb(self.pid, "VmRSS")

    def mint(self, request, headers=None):
        """(status, headers, body) of one mint request."""
        body = json.dumps({"client_id": request["CLIENT_ID"], "audience": AUDIENCE, "dpop_jkt": JKT}).encode()
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        if "API_TOKEN" in request:
            all_headers["Authorization"] = "Bearer " + request["API_TOKEN"]
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + "/v1/assertions", body, all_headers), timeout=5) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.headers, refusal.read()
        except OSError:
            return 0, {}, b""

    def await_mint(self, request):
        """Until it mints; then the signature is verified, by the openssl command."""
        self.service.await_(lambda: self.mint(request)[0] == 200)
        assertion = json.loads(self.mint(request)[2])["client_assertion"]
        if not verifies(assertion, self.keys[request["CLIENT_ID"]]):
            raise Void(f"{self.name}: the signature of its assertion is not good")

    def settle(self, postgres):
        """Every answer that was handed out has its row."""
        rows = postgres.count(self.rows, self.database)
        if rows < self.answered:
            raise Void(f"{self.name}: {self.answered} assertions handed out and only {rows} rows committed")


def verifies(assertion, key):
    """Whether the compact JWS is by this private key's public half, for ES256 and PS256."""
    signed, _, signature = assertion.rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    options = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]
    if len(raw) == 64:
        options = []
        parts = [int.from_bytes(raw[i : i + 32], "big") for i in (0, 32)]
        body = b"".join(b"\x02" + bytes([n.bit_length() // 8 + 1]) + n.to_bytes(n.bit_length() // 8 + 1, "big") for n in parts)
        raw = b"\x30" + bytes([len(body)]) + body
    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        done = subprocess.run(["openssl", "dgst", "-sha256", "-prverify", str(key), *options, "-signature", file.name],
                              input=signed.encode(), capture_output=True)
    return done.returncode == 0


class Broker:
    """Declares the clients and starts `broker serve` on one of the databases."""

    name = "broker"
    clients = {"app_es256": ("ES256", "backend_token"), "app_dpop": ("ES256", "dpop"), "app_ps256": ("PS256", "backend_token")}

    def __init__(self, root, program, scratch, postgres):
        self.root, self.program, self.scratch, self.postgres = root, program, scratch, postgres
        self.keys = {client: scratch / f"{client}.pem" for client in self.clients}
        for client, (alg, _) in self.clients.items():
            processes.run([program, "key", "generate", "--alg", alg, "--out", self.keys[client]], "making a key")

    def prepare(self):
        """Migrates the database `broker`, declares the clients with limits that never refuse, and makes a token."""
        limit = "{ burst: 1000000, rate: 1000000, per: 1 }"
        clients = "".join(
            f'{client}: {{ issuers: ["{AUDIENCE}"], alg: "{alg}", gates: ["{gate}"], '
            f'keys: [{{ uri: "file:{self.keys[client]}", state: "active" }}], limits: {{ install: {limit}, client: {limit} }} }},\n'
            for client, (alg, gate) in self.clients.items())
        declaration = self.scratch / "declaration.json5"
        declaration.write_text(f"{{ tenants: {{ bench: {{ limits: {{ tenant: {limit} }}, clients: {{\n{clients}}} }} }} }}\n")
        env = {"DATABASE_URL": self.postgres.url("broker")}
        processes.run([self.program, "migrate", "--migrations", self.root / "migrations"], "broker migrate", env)
        processes.run([self.program, "apply", declaration], "broker apply", env)
        command = [self.program, "token", "create", "--tenant", "bench", "--scope", "mint", "--label", "bench"]
        self.token = processes.run(command, "broker token create", env).strip()

    def request(self, client):
        """The environment mint.lua and openloop take."""
        gate = self.clients[client][1]
        return {"CLIENT_ID": client, "AUDIENCE": AUDIENCE, **({"API_TOKEN": self.token} if gate == "backend_token" else {})}

    def clear(self, database="broker"):
        self.postgres.clear(database, "broker.assertion_jti", "broker.proof_jti", "broker.install_rate")

    def start(self, database="broker"):
        port = free_port()
        config = self.scratch / "broker.json5"
        config.write_text(f'{{ listen: {{ address: "127.0.0.1", port: {port} }}, public_url: "http://127.0.0.1:{port}", '
                          f'migrations_directory: "{self.root}/migrations" }}\n')
        # Its log goes to a file, as everything it does goes into its figures.
        log = self.scratch / "broker.log"
        server = Server(self.name, [self.program, "serve", "--config", config], {"DATABASE_URL": self.postgres.url(database)},
                        log, port, database, "broker.assertion_jti", self.keys)
        server.await_mint(self.request("app_es256"))
        return server

    def nonce(self, server):
        status, headers, _ = server.mint(self.request("app_dpop"), {"DPoP": "e30.e30.AA"})
        if not headers.get("DPoP-Nonce"):
            raise BenchError(f"the broker gave no DPoP nonce, but status {status}")
        return headers["DPoP-Nonce"]


class Peer:
    """What a tenant would write instead: one statement and one commit a request."""

    def __init__(self, name, command, pool, env, scratch, postgres, key, root):
        self.name, self.command, self.pool, self.env = name, command, pool, env
        self.scratch, self.postgres, self.key, self.root = scratch, postgres, key, root

    def request(self, _client):
        return {"CLIENT_ID": "app_es256", "AUDIENCE": AUDIENCE}

    def clear(self):
        self.postgres.sql((self.root / "bench/peers/schema.sql").read_text(), "peers")
        self.postgres.clear("peers", "peer_rate", "peer_jti")

    def start(self):
        port = free_port()
        env = {"KEY": str(self.key), "PORT": str(port), "POOL": str(self.pool),
               "MINT_SQL": str(self.root / "bench/peers/mint.sql"),
               "DSN": " ".join(f"{name}={value}" for name, value in zip(
                   ("host", "port", "user", "dbname"), self.postgres.environment("peers").values())),
               **self.postgres.environment("peers"), **self.env}
        command = [str(word).replace("{port}", str(port)) for word in self.command]
        server = Server(self.name, command, env, self.scratch / f"{self.name}.log", port, "peers", "peer_jti", {"app_es256": self.key})
        server.await_mint(self.request("app_es256"))
        return server


def peers(root, binaries, scratch, postgres, key, cores):
    """The pools have sizes that are usual for two cores; other sizes were not tried."""
    bench = root / "bench/peers"
    node_path = f"{root}/.dev/node/usr/share/nodejs:/usr/share/nodejs"
    uvicorn = [root / ".dev/bench-venv/bin/python", "-m", "uvicorn", "--app-dir", bench / "python", "server:app", "--host", "127.0.0.1",
               "--port", "{port}", "--workers", cores, "--loop", "uvloop", "--http", "httptools", "--no-access-log",
               "--log-level", "warning", "--backlog", "4096"]
    common = scratch, postgres, key, root
    return [
        Peer("go", [binaries / "peer"], 32, {"GOGC": "400"}, *common),
        Peer("node", ["node", bench / "node/server.js"], 16, {"WORKERS": str(cores), "NODE_PATH": node_path}, *common),
        Peer("python", uvicorn, 16, {"PYTHONDONTWRITEBYTECODE": "1"}, *common),
    ]
