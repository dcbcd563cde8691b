"""An outside client of TLS, Python's ssl: tls_client.py PORT AUTHORITY-FILE.

Reads `VERSION tab FILE` a line, where VERSION is 1.2 or 1.3 and FILE holds a chain and its key, or is empty. Asks
GET /certificate and answers `answered tab SHA-256 of the file's first certificate tab body`, the body's lines joined by
`|`, or `refused tab reason`. An end of the connection that is no alert is told as such.
"""
import hashlib
import socket
import ssl
import sys

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
REQUEST = b"GET /certificate HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def ask(version, file):
    context = ssl.create_default_context(cafile=sys.argv[2])
    # What is weak must be able to leave here: it is the server's turn to refuse it.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = VERSIONS[version]
    digest = ""
    if file:
        context.load_cert_chain(file)
        with open(file, encoding="ascii") as text:
            first = text.read().split("-----END CERTIFICATE-----")[0] + "-----END CERTIFICATE-----\n"
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=120) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as tls:
                tls.sendall(REQUEST)
                data = bytearray()
                while more := tls.recv(65536):
                    data += more
        body = data.partition(b"\r\n\r\n")[2].decode()
        return "answered", digest, body.replace("\n", "|")
    except ssl.SSLError as error:
        return "refused", error.reason or str(error)
    except OSError as error:
        return "refused", f"no alert: {error}"


for line in sys.stdin:
    print(*ask(*line.rstrip("\n").split("\t")), sep="\t", flush=True)
