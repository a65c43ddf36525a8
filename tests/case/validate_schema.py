"""Checks documents against a JSON Schema: validate_schema.py SCHEMA DOCUMENTS.

DOCUMENTS holds {"valid": [...], "invalid": [...]}. Exit code 0 if each list is what it says, 1 if
not, 77 if the module jsonschema is missing.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

with open(sys.argv[1]) as f:
    schema = json.load(f)
with open(sys.argv[2]) as f:
    documents = json.load(f)

jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0
for document in documents["valid"]:
    for error in validator.iter_errors(document):
        print(f"should be valid: {json.dumps(document)[:200]}: {error.message[:200]}")
        wrong += 1
for document in documents["invalid"]:
    if validator.is_valid(document):
        print(f"should be invalid: {json.dumps(document)[:200]}")
        wrong += 1
sys.exit(1 if wrong else 0)
