"""An outside judge of docs/openapi.json itself: openapi-spec-validator. Prints the version it took the document for."""
import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator

document = json.load(sys.stdin)
OpenAPIV31SpecValidator(document).validate()
print(document["openapi"])
