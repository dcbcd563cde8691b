"""An outside judge of keys made of seeds, and of what they sign and open: `cryptography`, with an OpenSSL of its own.

Reads one question a line (a JSON object with "op"), writes one answer a line. Octets are base64url without padding.
"""
import base64
import hashlib
import hmac
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, mldsa, mlkem, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.serialization import (
    Encoding, PublicFormat, load_der_public_key)


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def spki(key):
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def public_of_seed(question):
    """The public key that FIPS 203 and FIPS 204 make of a seed."""
    maker = {"ML-DSA-65": mldsa.MLDSA65PrivateKey, "ML-KEM-768": mlkem.MLKEM768PrivateKey}[question["algorithm"]]
    return {"public_key": encode(spki(maker.from_seed_bytes(decode(question["seed"])).public_key()))}


def verify(question):
    key = load_der_public_key(decode(question["public_key"]))
    signature, message = decode(question["signature"]), decode(question["message"])
    try:
        if isinstance(key, mldsa.MLDSA65PublicKey):
            key.verify(signature, message, decode(question["context"]))
        else:
            assert key.curve.name == "secp256r1" and len(signature) == 64
            der = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            # ECDSA takes the digest's first 32 octets, whatever made it (FIPS 186-5 section 6.4.1).
            key.verify(der, message[:32], ec.ECDSA(utils.Prehashed(SHA256())))
    except InvalidSignature:
        return {"good": False}
    return {"good": True}


def labeled(label, octets, length=None):
    head = b"" if length is None else length.to_bytes(2, "big")
    return head + b"HPKE-v1" + b"KEM\x00\x10" + label + octets


def encapsulate(question):
    key = load_der_public_key(decode(question["public_key"]))
    if isinstance(key, mlkem.MLKEM768PublicKey):
        secret, ciphertext = key.encapsulate()
    else:
        # RFC 9180 section 4.1 by its words.
        point = lambda k: k.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        ciphertext = point(ephemeral.public_key())
        agreed = ephemeral.exchange(ec.ECDH(), key)
        extracted = hmac.new(b"", labeled(b"eae_prk", agreed), hashlib.sha256).digest()
        info = labeled(b"shared_secret", ciphertext + point(key), 32)
        secret = HKDFExpand(SHA256(), 32, info).derive(extracted)
    return {"ciphertext": encode(ciphertext), "secret": encode(secret)}


def hkdf(question):
    return {"key": encode(HKDF(
        SHA256(), question["count"], decode(question["salt"]), decode(question["info"])
    ).derive(decode(question["secret"])))}


operations = {"public_of_seed": public_of_seed, "verify": verify, "encapsulate": encapsulate, "hkdf": hkdf}
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps(operations[question["op"]](question)), flush=True)
