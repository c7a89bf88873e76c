"""Takes an update with several actions apart and asks DynamoDB Local what it says of each by itself."""

import re

SCRATCH = "scratch-of-single-actions"


def actions(expression):
    """The actions of an update expression, each with its section's word in front."""
    found, word, start, depth = [], None, 0, 0
    for match in re.finditer(r"[()]|,|(?i:\b(?:SET|REMOVE|ADD|DELETE)\b)(?=\s)", expression):
        text = match.group()
        if text in "()":
            depth += 1 if text == "(" else -1
        elif text == "," and depth == 0 or text not in ",":
            if depth or expression[match.start() - 1:match.start()] in ("#", ":", "."):
                continue
            if word:
                found.append(f"{word} {expression[start:match.start()].strip()}")
            word = word if text == "," else text
            start = match.end()
    if word:
        found.append(f"{word} {expression[start:].strip()}")
    return found


def used(text, named):
    return {name: value for name, value in (named or {}).items() if re.search(re.escape(name) + r"(?![A-Za-z0-9_])", text)}


def errors(local, request):
    """What Local says at run time of each action alone, on a copy of the item in a table of its own."""
    if "TransactItems" in request:
        updates = [entry["Update"] for entry in request["TransactItems"] if "Update" in entry]
        return set().union(*(errors(local, update) for update in updates)) if updates else set()
    parts = []
    if "AttributeUpdates" in request:
        parts = [{"AttributeUpdates": {name: update}} for name, update in request["AttributeUpdates"].items()]
    for action in actions(request.get("UpdateExpression", "")):
        part = {"UpdateExpression": action}
        for member in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if used(action, request.get(member)):
                part[member] = used(action, request.get(member))
        parts.append(part)
    if not parts or not request.get("Key"):
        return set()
    key = {"pk": {"S": "copy"}}
    local.send("CreateTable", {"TableName": SCRATCH, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                               "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})
    item = (local.send("GetItem", {"TableName": request["TableName"], "Key": request["Key"], "ConsistentRead": True}).body or {}).get("Item")
    found = set()
    for part in parts:
        local.send("DeleteItem", {"TableName": SCRATCH, "Key": key})
        if item:
            local.send("PutItem", {"TableName": SCRATCH, "Item": {**item, **key}})
        found.add(local.send("UpdateItem", {"TableName": SCRATCH, "Key": key, **part}).message)
    # Lists of tables are compared too.
    local.send("DeleteTable", {"TableName": SCRATCH})
    return found - {None}
