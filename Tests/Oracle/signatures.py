"""An outside judge of signatures and tokens: `cryptography` and `joserfc`.

Reads one question a line (a JSON object with "op"), writes one answer a line.
"""
import base64
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature, encode_dss_signature)
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey, import_key
from joserfc.jws import JWSRegistry


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def number(text):
    return int.from_bytes(decode(text), "big")


def minimal(value):
    return encode(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def public_key(jwk):
    if jwk["kty"] == "EC":
        return ec.EllipticCurvePublicNumbers(
            number(jwk["x"]), number(jwk["y"]), ec.SECP256R1()).public_key()
    return rsa.RSAPublicNumbers(number(jwk["e"]), number(jwk["n"])).public_key()


def pss(salt, mgf):
    return padding.PSS(mgf=padding.MGF1(mgf), salt_length=salt)


def verifies(key, message, signature):
    """As RFC 7518 sections 3.4 and 3.5 say, with the salt's length fixed and not detected."""
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            if len(signature) != 64:
                return False
            der = encode_dss_signature(
                int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            key.verify(der, message, ec.ECDSA(hashes.SHA256()))
        else:
            if len(signature) != (key.key_size + 7) // 8:
                return False
            key.verify(signature, message, pss(32, hashes.SHA256()), hashes.SHA256())
        return True
    except InvalidSignature:
        return False


def verify(question):
    """Which of the pairs of message and signature do not belong together under the key."""
    key = public_key(question["jwk"])
    return {"refused": [
        index for index, (message, signature) in enumerate(question["pairs"])
        if not verifies(key, decode(message), decode(signature))]}


def sign_es256(question):
    key = ec.generate_private_key(ec.SECP256R1())
    numbers = key.public_key().public_numbers()
    signatures = []
    for message in question["messages"]:
        r, s = decode_dss_signature(key.sign(decode(message), ec.ECDSA(hashes.SHA256())))
        signatures.append(encode(r.to_bytes(32, "big") + s.to_bytes(32, "big")))
    return {"signatures": signatures, "jwk": {
        "kty": "EC", "crv": "P-256", "x": encode(numbers.x.to_bytes(32, "big")),
        "y": encode(numbers.y.to_bytes(32, "big"))}}


RSA_VARIANTS = {
    "PS256": lambda: pss(32, hashes.SHA256()),
    "salt 0": lambda: pss(0, hashes.SHA256()),
    "salt 20": lambda: pss(20, hashes.SHA256()),
    "salt 31": lambda: pss(31, hashes.SHA256()),
    "salt 33": lambda: pss(33, hashes.SHA256()),
    "longest salt": lambda: pss(padding.PSS.MAX_LENGTH, hashes.SHA256()),
    "MGF1 with SHA-1": lambda: pss(32, hashes.SHA1()),
    "MGF1 with SHA-512": lambda: pss(32, hashes.SHA512()),
    "PKCS #1 v1.5": padding.PKCS1v15,
}


def sign_rsa(question):
    """One signature over one message for every way of padding, by a new key of so many bits."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=question["bits"])
    numbers = key.public_key().public_numbers()
    message = decode(question["message"])
    signatures = {
        name: encode(key.sign(message, scheme(), hashes.SHA256()))
        for name, scheme in RSA_VARIANTS.items()}
    signatures["SHA-384"] = encode(key.sign(message, pss(32, hashes.SHA384()), hashes.SHA384()))
    return {"signatures": signatures, "jwk": {
        "kty": "RSA", "n": minimal(numbers.n), "e": minimal(numbers.e)}}


def p256(question):
    """The public half of a private scalar."""
    numbers = ec.derive_private_key(int(question["d"], 16), ec.SECP256R1()).public_key()
    numbers = numbers.public_numbers()
    return {"x": encode(numbers.x.to_bytes(32, "big")), "y": encode(numbers.y.to_bytes(32, "big"))}


def read_jwt(question):
    """A token's header and claims, when joserfc takes it for the algorithm it should have."""
    registry = JWSRegistry(algorithms=[question["alg"]])
    registry.max_header_length = 4096  # the header of an RSA key's proof is longer than 512
    try:
        token = jwt.decode(question["token"], import_key(question["jwk"]), registry=registry)
        return {"valid": True, "header": token.header, "claims": token.claims}
    except (JoseError, ValueError) as error:
        return {"valid": False, "error": type(error).__name__}


def make_proof(question):
    """A DPoP proof with these claims by a new key, and that key's thumbprint."""
    key = (ECKey.generate_key("P-256") if question["alg"] == "ES256" else RSAKey.generate_key(2048))
    jwk = key.as_dict(private=False)
    jwk.pop("kid", None)
    header = {"typ": "dpop+jwt", "alg": question["alg"], "jwk": jwk}
    return {"thumbprint": key.thumbprint(), "proof": jwt.encode(
        header, question["claims"], key, algorithms=[question["alg"]])}


OPERATIONS = {
    "verify": verify, "sign ES256": sign_es256, "sign RSA": sign_rsa, "P-256": p256,
    "read JWT": read_jwt, "make proof": make_proof,
}

for line in sys.stdin:
    if line.strip():
        asked = json.loads(line)
        print(json.dumps(OPERATIONS[asked["op"]](asked)))
