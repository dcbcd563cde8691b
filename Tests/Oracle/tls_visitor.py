"""A client of Python's ssl that stays: tls_visitor.py PORT AUTHORITY-FILE VERSION [CHAIN-AND-KEY-FILE].

It connects, says `connected`, and then does what each line of its input says, with a line of output each:

ask      GET /certificate on the open connection: `STATUS keep|close first line of the body`, or `ended` without an answer
again    a new connection that resumes the session: `resumed` or `new`
await    waits for the server's end of the connection: `goodbye` (close_notify), `cut`, or what the client was told
"""
import socket
import ssl
import sys

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
context = ssl.create_default_context(cafile=sys.argv[2])
context.minimum_version = context.maximum_version = VERSIONS[sys.argv[3]]
if len(sys.argv) > 4:
    context.load_cert_chain(sys.argv[4])


def connect(session=None):
    plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=120)
    return context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False, session=session)


def ask(tls):
    tls.sendall(b"GET /certificate HTTP/1.1\r\nHost: a\r\n\r\n")
    data = b""
    while b"\r\n\r\n" not in data:
        more = tls.recv(65536)
        if not more:
            return "ended"
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:])
    while len(body) < int(fields["content-length"]):
        body += tls.recv(65536)
    return f"{lines[0].split()[1]} {fields.get('connection', 'keep')} {body.decode().splitlines()[0]}"


def end(tls):
    try:
        return "goodbye" if tls.recv(1) == b"" else "more"
    except ssl.SSLEOFError:
        return "cut"
    except OSError as error:
        return str(error)


visit = connect()
print("connected", flush=True)
for line in sys.stdin:
    match line.strip():
        case "ask":
            print(ask(visit), flush=True)
        case "again":
            session = visit.session
            visit.close()
            visit = connect(session)
            print("resumed" if visit.session_reused else "new", flush=True)
        case "await":
            print(end(visit), flush=True)
