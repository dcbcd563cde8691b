"""What script/schemathesis knows of the broker it judges and no document can say.

Which client is registered, and which audience is its issuer, is data. So a mint call that is meant to be good is made for that
client and that issuer, all but one in four, which stay with a client that does not exist. A security scheme has no pattern
either: a DPoP field with a comma is two fields that were joined, which is no credential but broken HTTP (400). Calls that are
meant to be bad, and every check, stay as they are.
"""
import schemathesis

CLIENT, ISSUER = "app_demo", "https://idp.example"


@schemathesis.hook
def before_call(context, case, kwargs):
    meta, body = case.meta, case.body
    if meta is None or not meta.generation.mode.is_positive or not isinstance(body, dict):
        return
    for name, value in (case.headers or {}).items():
        if name.lower() == "dpop":
            case.headers[name] = value.replace(",", ".")
    if not isinstance(body.get("dpop_jkt"), str):
        return
    if body.get("client_id") == CLIENT or sum(body["dpop_jkt"].encode()) % 4:
        case.body = {**body, "client_id": CLIENT, "audience": ISSUER}
