"""Makes the certificates of the TLS tests with a library that is not ours: certificates.py DIRECTORY.

Every NAME.pem is a chain with its key, leaf first. Each client certificate but the good ones breaks one rule.
"""
import datetime
import ipaddress
import pathlib
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID as Usage
from cryptography.x509.oid import NameOID

directory = pathlib.Path(sys.argv[1])
now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
day = datetime.timedelta(days=1)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def p256():
    return ec.generate_private_key(ec.SECP256R1())


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def write(file, certificates, key=None):
    text = b"".join(pem(certificate) for certificate in certificates)
    if key is not None:
        text += key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = directory / file
    path.write_bytes(text)
    path.chmod(0o600)


class Authority:
    def __init__(self, text, issuer=None, key=None, bits_hash=hashes.SHA256()):
        self.name, self.key = name(text), key or p256()
        self.certificate = certificate(
            self.key.public_key(), self.name, issuer or self, is_authority=True, digest=bits_hash)

    def revocations(self, serials, last=-day, following=30 * day):
        builder = (
            x509.CertificateRevocationListBuilder().issuer_name(self.name)
            .last_update(now + last).next_update(now + following))
        for serial in serials:
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now - day).build())
        return builder.sign(self.key, hashes.SHA256())


def certificate(public_key, subject, issuer, is_authority=False, names=(), usage=(Usage.CLIENT_AUTH,),
                begins=-day, ends=30 * day, digest=hashes.SHA256(), raw_names=None):
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer.name).public_key(public_key)
        .serial_number(x509.random_serial_number()).not_valid_before(now + begins).not_valid_after(now + ends)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False))
    if is_authority:
        builder = builder.add_extension(
            x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True)
    elif usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage(list(usage)), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(list(names)), critical=False)
    if raw_names is not None:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.oid.ExtensionOID.SUBJECT_ALTERNATIVE_NAME, raw_names), critical=False)
    return builder.sign(issuer.key, None if isinstance(issuer.key, ed25519.Ed25519PrivateKey) else digest)


root = Authority("Client Root")
issuing = Authority("Client Issuing", issuer=root)
stranger = Authority("Client Root")  # the same name, another key
other = Authority("Other Root")
weak_key = rsa.generate_private_key(65537, 2047)
write("root.pem", [root.certificate])
write("issuing-only.pem", [issuing.certificate])
write("other-root.pem", [other.certificate])
write("both-roots.pem", [other.certificate, root.certificate])
write("weak-root.pem", [Authority("Weak Root", key=weak_key).certificate])

server_key = p256()
server_names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
for file, begins, ends in [("server", -day, 30 * day), ("server-expired", -3 * day, -day)]:
    made = certificate(server_key.public_key(), name("server"), root, names=server_names,
                       usage=[Usage.SERVER_AUTH], begins=begins, ends=ends)
    write(f"{file}-chain.pem", [made])
write("server-key.pem", [], server_key)
weak = certificate(weak_key.public_key(), name("server"), root, names=server_names, usage=[Usage.SERVER_AUTH])
write("server-weak-chain.pem", [weak])
write("server-weak-key.pem", [], weak_key)

backend = [
    x509.DNSName("Backend.Bank.example"), x509.UniformResourceIdentifier("spiffe://bank.example/Backend"),
    x509.RFC822Name("Ops@bank.example"), x509.IPAddress(ipaddress.ip_address("192.0.2.7")),
    x509.IPAddress(ipaddress.ip_address("2001:db8::7"))]


def client(file, issuer=root, key=None, chain=(), alter=None, **options):
    key = key or p256()
    made = certificate(key.public_key(), name(file), issuer, **({"names": backend} | options))
    text_key = key
    if alter:
        made = x509.load_der_x509_certificate(alter(made.public_bytes(serialization.Encoding.DER)))
    write(f"{file}.pem", [made, *chain], text_key)
    return made


def with_sha1(der):
    """The library signs nothing with SHA-1, so this is the openssl command's work."""
    request = x509.CertificateSigningRequestBuilder().subject_name(name("sha1")).sign(sha1_key, hashes.SHA256())
    files = [directory / part for part in ("sha1.csr", "sha1-issuer.pem", "sha1.der")]
    files[0].write_bytes(request.public_bytes(serialization.Encoding.PEM))
    write(files[1].name, [root.certificate], root.key)
    subprocess.run(
        ["openssl", "x509", "-req", "-sha1", "-days", "2", "-in", files[0], "-CA", files[1], "-CAkey", files[1],
         "-outform", "DER", "-out", files[2]], check=True, stderr=subprocess.DEVNULL)
    made = files[2].read_bytes()
    for file in files:
        file.unlink()
    return made


def broken(der):
    return der[:-1] + bytes([der[-1] ^ 1])


good = client("good")
revoked = client("revoked")
client("by-issuing", issuing, chain=[issuing.certificate])
revoked_below = client("revoked-below", issuing, chain=[issuing.certificate])
client("without-issuing", issuing)
client("no-usage", usage=())
client("two-usages", usage=(Usage.SERVER_AUTH, Usage.CLIENT_AUTH))
client("no-names", names=())
client("rsa", key=rsa.generate_private_key(65537, 2048))
client("ed25519", key=ed25519.Ed25519PrivateKey.generate())
client("short", ends=datetime.timedelta(hours=1))

client("self-signed", issuer=type("Self", (), {"name": name("self"), "key": p256()}))
client("unknown-authority", other)
client("forged-authority", stranger)
client("expired", begins=-3 * day, ends=-day)
client("not-yet-valid", begins=day, ends=3 * day)
client("server-usage", usage=(Usage.SERVER_AUTH,))
client("any-usage", usage=(Usage.ANY_EXTENDED_KEY_USAGE,))
client("broken-signature", alter=broken)
client("weak-rsa", key=weak_key)
client("p224", key=ec.generate_private_key(ec.SECP224R1()))
sha1_key = p256()
client("sha1", key=sha1_key, alter=with_sha1)
client("by-no-authority", type("Leaf", (), {"name": good.subject, "key": p256()}), chain=[good])
client("nul-in-dns", names=[x509.DNSName("backend.bank.example\0.evil.example")])
client("nul-in-uri", names=[x509.UniformResourceIdentifier("spiffe://bank.example/a\0b")])
client("nul-in-email", names=[x509.RFC822Name("ops@bank.example\0.evil.example")])
client("blank-in-dns", names=[x509.DNSName("backend.bank.example ")])
client("empty-dns", names=(), raw_names=bytes.fromhex("30028200"))
client("odd-address", names=(), raw_names=bytes.fromhex("300787050a00000001"))
client("broken-names", names=(), raw_names=bytes.fromhex("3005820a6162"))
client("high-octet-in-dns", names=(), raw_names=bytes.fromhex("30048202c3a9"))
client("many-names", names=[x509.DNSName(f"n{number}.bank.example") for number in range(65)])
client("most-names", names=[x509.DNSName(f"n{number}.bank.example") for number in range(64)])
client("long-name", names=[x509.UniformResourceIdentifier("urn:" + "x" * 2048)])
client("huge", names=[x509.UniformResourceIdentifier("urn:" + "x" * 40000)])

chain, issuer = [], root
for depth in range(6):
    issuer = Authority(f"Deep {depth}", issuer=issuer)
    chain.insert(0, issuer.certificate)
client("deep", issuer, chain=chain)


def lists(file, *made):
    path = directory / file
    path.write_bytes(b"".join(one.public_bytes(serialization.Encoding.PEM) for one in made))


root_list = root.revocations([revoked.serial_number])
lists("lists.pem", root_list, issuing.revocations([revoked_below.serial_number]))
lists("lists-root-only.pem", root_list)
lists("lists-issuing-only.pem", issuing.revocations([revoked_below.serial_number]))
lists("lists-issuing-revoked.pem", root.revocations([issuing.certificate.serial_number]), issuing.revocations([]))
lists("lists-expired.pem", root.revocations([], last=-3 * day, following=-day))
lists("lists-later.pem", root.revocations([], last=day, following=3 * day))
lists("lists-forged.pem", stranger.revocations([]))
