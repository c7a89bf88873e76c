"""Compares two answers. Where DynamoDB Local is known to differ from the service, a rule says so and why; its count is reported."""

import json
import re

import constraints
import units
from decimal import Decimal, InvalidOperation

# What the service says comes from DYNAMO.md; L is DynamoDB Local's answer, P Partita's.


def number(text):
    """Local returns nested numbers as they were written (`+4`, `1e3`); the service in plain decimals."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    plain = f"{value:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


def canonical(node):
    """Sets are sorted, numbers are plain."""
    if isinstance(node, dict):
        result = {}
        for name, child in node.items():
            if name in ("SS", "NS", "BS") and isinstance(child, list) and all(isinstance(c, str) for c in child):
                result[name] = sorted(number(c) if name == "NS" else c for c in child)
            elif name == "N" and isinstance(child, str):
                result[name] = number(child)
            else:
                result[name] = canonical(child)
        return result
    if isinstance(node, list):
        return [canonical(child) for child in node]
    return node


def blanked(node):
    """Local's streams write an empty map or list as `{}`."""
    if isinstance(node, dict):
        return {} if node in ({"M": {}}, {"L": []}) else {name: blanked(child) for name, child in node.items()}
    return [blanked(child) for child in node] if isinstance(node, list) else node


def table_of(name):
    """A name may be an ARN."""
    return name.rsplit("/", 1)[-1]


def by_text(items):
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def body(operation, answer):
    """The body, without what may differ."""
    result = canonical(answer.body)
    if not isinstance(result, dict):
        return result
    if operation in ("Scan", "Query") and "Items" in result:
        result["Items"] = by_text(result["Items"])
    if operation == "ExecuteStatement" and "Items" in result:
        result["Items"] = by_text(result["Items"])
    if operation == "BatchGetItem":
        result["Responses"] = {table: by_text(items) for table, items in result.get("Responses", {}).items()}
    if isinstance(result.get("ConsumedCapacity"), list):
        result["ConsumedCapacity"] = by_text(result["ConsumedCapacity"])
    return result


def capacity(result):
    return result.pop("ConsumedCapacity", None) if isinstance(result, dict) else None


class Rules:
    """Explained differences, each with its reason and how often it was met."""

    def __init__(self):
        self.met = {}
        # Of the world under way, by name.
        self.tables = {}
        # Transactions that Partita has done, by their tokens.
        self.done = {}
        # All items before and after the request, as Local has them, where capacity is asked for that is computed from them.
        self.seen = None
        # What Local says of each action of an update by itself; set by whoever can ask it.
        self.single_errors = lambda request: set()

    def held_whole(self, request):
        """Whether the index that is read holds whole items."""
        table = self.tables.get(request.get("TableName"))
        index = table and table.indexes.get(request.get("IndexName"))
        return index is not None and index[2]["ProjectionType"] == "ALL"

    def gsi_filter(self, operation, request, same_scanned):
        filtered = "FilterExpression" in request or "ScanFilter" in request
        if operation == "Scan" and request.get("IndexName", "").startswith("gsi") and filtered and same_scanned and not self.held_whole(request):
            return self.explained("Local filters a Scan of a global index by attributes that the index does not hold")
        return False

    def equals_of_start(self, request, left, right):
        """Behind a key that no page gave, items whose index key equals it may come or not: order among equals is free. The others must be the same."""
        table, start = self.tables.get(request.get("TableName")), canonical(request.get("ExclusiveStartKey", {}))
        if table is None or "IndexName" not in request or not start:
            return False
        names = [name for name, _ in table.indexes[request["IndexName"]][1]]
        others = [[item for item in items if any(item.get(name) != start.get(name) for name in names)] for items in (left, right)]
        return others[0] == others[1] and self.explained("an index behind a key that no page gave: order among equals is free")

    def explained(self, reason):
        self.met[reason] = self.met.get(reason, 0) + 1
        return True

    def differ(self, operation, request, local, partita):
        """None if the answers agree or their difference is explained; else a sentence."""
        if local.status == 500:
            if partita.status == 400:
                self.explained("Local fails with 500 where the service refuses the request (section 8, malformed input)")
                return None
            if "ORDER BY" in request.get("Statement", ""):
                self.explained("Local fails with 500 on ORDER BY … DESC")
                return None
            return "local failed, partita did not refuse"
        if local.error or partita.error:
            return self.errors(operation, request, local, partita)
        left, right = body(operation, local), body(operation, partita)
        if request.get("ReturnConsumedCapacity", "NONE") == "NONE" and isinstance(left, dict) and left.pop("ConsumedCapacity", None):
            self.explained("Local tells what a DeleteItem consumed although nobody asked")
        if operation == "TransactGetItems":
            for side in (left, right):
                side["Responses"] = [entry if entry.get("Item") else {} for entry in side["Responses"]]
                for cost in side.get("ConsumedCapacity", []):
                    for level in (cost, cost.get("Table", {})):
                        level.pop("ReadCapacityUnits", None)
        if request.get("ReturnItemCollectionMetrics") == "SIZE" and isinstance(right, dict) and self.metrics(request, right):
            self.explained("Local tells no ItemCollectionMetrics (section 8)")
        cost_left, cost_right = capacity(left), capacity(right)
        if left != right and not self.bodies(operation, request, left, right):
            return "bodies"
        if cost_left != cost_right and not self.costs(operation, request, cost_left, cost_right, left):
            return "capacity"
        return None

    # -- errors

    def errors(self, operation, request, local, partita):
        if local.error == partita.error and local.message == partita.message:
            left, right = canonical(local.body), canonical(partita.body)
            for member in ("Item", "CancellationReasons"):
                if left.get(member) != right.get(member) and not self.reasons(operation, left.get(member), right.get(member)):
                    return f"error member {member}"
            return None
        if local.error and partita.error == "ValidationException" and constraints.are_true(request, partita.message):
            self.explained("constraints of members are told first, in the service's form, and they are true (2.2)")
            return None
        if local.error is None and partita.error == "ValidationException" and "enum value set" in partita.message and constraints.are_true(request, partita.message):
            self.explained("Local overlooks words that are not in an enumeration (section 8)")
            return None
        token = request.get("ClientRequestToken")
        if token and local.error == "IdempotentParameterMismatchException" and partita.error is None and self.done.get(token, request) == request:
            self.explained("Local remembers the token of a transaction that failed (section 8)")
            return None
        if both_validation(local, partita) and mentions(local.message, RUNTIME) and mentions(partita.message, RUNTIME) and many_actions(request):
            # Statements are not taken apart.
            if "Statement" in request or any(alike(found, partita.message) for found in self.single_errors(request)):
                self.explained("of several run-time errors Local tells one by the order of a Java hash map; alone, that action has Partita's on Local too")
                return None
        for test, reason in ERRORS:
            if test(operation, request, local, partita):
                self.explained(reason)
                return None
        return "errors"

    def reasons(self, operation, left, right):
        if not isinstance(left, list) or not isinstance(right, list) or len(left) != len(right):
            return False
        for one, other in zip(left, right):
            if one == other:
                continue
            one, other = dict(one), dict(other)
            for entry in (one, other):
                if entry.get("Message"):
                    entry["Message"] = entry["Message"].rstrip(".")
            if one.get("Code") == other.get("Code") == "ValidationError":
                if same_words(one.get("Message"), other.get("Message")):
                    self.explained("texts of keys and numbers are the service's (section 8)")
                    continue
            if one == other:
                self.explained("Local ends the sentence of a reason with a full stop")
                continue
            return False
        return True

    # -- bodies

    def bodies(self, operation, request, left, right):
        returned = request.get("ReturnValues", "")
        if operation == "UpdateItem" and returned.startswith("UPDATED_") and isinstance(left, dict):
            if covers(left.get("Attributes", {}), right.get("Attributes", {})):
                return self.explained("UPDATED_OLD/NEW return the addressed paths, Local the whole top-level attribute")
        if operation == "Scan" and self.gsi_filter(operation, request, left["ScannedCount"] == right["ScannedCount"]):
            return True
        if operation == "Scan" and "ExclusiveStartKey" in request:
            return self.explained("a Scan after a key: the order of partitions is free")
        if operation == "UpdateItem" and returned == "UPDATED_NEW" and "[" in request.get("UpdateExpression", "") and covers(right.get("Attributes", {}), left.get("Attributes", {})):
            return self.explained("an element that was set behind the end of a list: Local looks for it at the index as written")
        if operation == "BatchExecuteStatement":
            one, other = left["Responses"], right["Responses"]
            if len(one) == len(other) and all(same_statement(a, b) for a, b in zip(one, other)):
                return self.explained("BatchExecuteStatement: texts of statements that are refused (2.8)")
        if operation == "ExecuteStatement" and "MODIFIED" in request.get("Statement", ""):
            pair = [(side.get("Items") or [{}])[0] for side in (left, right)]
            if covers(*pair):
                return self.explained("RETURNING MODIFIED returns the addressed paths, Local the whole top-level attribute")
        if operation == "UpdateItem" and "AttributeUpdates" in request and returned == "UPDATED_NEW":
            rest = {n: v for n, v in right.get("Attributes", {}).items() if v not in ({"L": []}, {"M": {}})}
            if rest == left.get("Attributes", {}) or not left.get("Attributes"):
                return self.explained("Local leaves empty lists and maps out of UPDATED_NEW of AttributeUpdates")
        return False

    def more_indexes(self, left, right):
        """Local lists indexes with whole units that Partita does not, and nothing else differs."""
        one, other = indexes_of(left), indexes_of(right)
        if isinstance(left, list) and not one:
            return sum(cost["CapacityUnits"] for cost in left) > sum(cost["CapacityUnits"] for cost in right)
        if not one and left and right and not isinstance(left, list) and "Table" not in left:
            return left["CapacityUnits"] > right["CapacityUnits"]
        tables = [{cost["TableName"]: cost.get("Table") for cost in (side if isinstance(side, list) else [side])} for side in (left, right)]
        return one != other and tables[0] == tables[1] and all(one.get(name, 0) >= units for name, units in other.items())

    def costs(self, operation, request, left, right, body_left):
        if operation == "TransactWriteItems" and units.transaction(request, self.tables, *self.seen, right):
            return self.explained("Local does not double the units of transactional writes, nor add them up right")
        if operation in ("Query", "Scan") and left and right and left.get("CapacityUnits") == 0.0 and right["CapacityUnits"] in (0.5, 1.0):
            return self.explained("Local charges nothing for a read that finds nothing; the service half a unit or one")
        if operation == "BatchGetItem" and self.keys_of_nothing(request, left, right, body_left):
            return self.explained("Local charges nothing for a key of BatchGetItem that has no item; the service half a unit or one")
        if operation == "BatchWriteItem" and self.deletes_of_nothing(request, left, right):
            return self.explained("Local charges two units for a DeleteRequest of nothing")
        if operation == "Scan" and request.get("IndexName", "").startswith("lsi") and left["CapacityUnits"] < right["CapacityUnits"] and not self.held_whole(request):
            return self.explained("Local does not charge what a Scan of a local index fetches from the table")
        if operation in ("Query", "Scan") and "IndexName" in request and left and right and left["CapacityUnits"] > right["CapacityUnits"] and not self.held_whole(request):
            return self.explained("Local counts whole items where an index holds less (section 8)")
        if operation in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem") and self.more_indexes(left, right):
            return self.explained("Local charges an index that has no entry of the item, before or after")
        if operation in ("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction") and not left and units.statements(request, self.tables, *self.seen, right):
            return self.explained("Local has no capacity for PartiQL; Partita's is what the items before and after ask for")
        return False

    def metrics(self, request, right):
        """Takes the metrics away if they are there for exactly the tables with a local index, with keys of theirs."""
        found = right.get("ItemCollectionMetrics")
        if found is None:
            return False
        by_table = {request["TableName"]: [found]} if "TableName" in request else found
        for name, entries in by_table.items():
            table = self.tables.get(name)
            if table is None or not any(kind == "LSI" for kind, _, _ in table.indexes.values()):
                return False
            if any(set(e) != {"ItemCollectionKey", "SizeEstimateRangeGB"} or set(e["ItemCollectionKey"]) != {"pk"} or e["SizeEstimateRangeGB"] != [0.0, 1.0] for e in entries):
                return False
        del right["ItemCollectionMetrics"]
        return True

    def keys_of_nothing(self, request, left, right, body_left):
        """For each table: the units of Local and one read of each key that gave no item."""
        one, other = ({cost["TableName"]: cost["CapacityUnits"] for cost in side} for side in (left or [], right or []))
        for name, entry in request["RequestItems"].items():
            missing = len(entry["Keys"]) - len((body_left.get("Responses") or {}).get(name, []))
            unit = 1.0 if entry.get("ConsistentRead") else 0.5
            if other.get(name, 0) != one.get(name, 0) + missing * unit:
                return False
        return True

    def deletes_of_nothing(self, request, left, right):
        one, other = ({cost["TableName"]: cost for cost in side} for side in (left or [], right or []))
        for name, entries in request["RequestItems"].items():
            deletes = sum("DeleteRequest" in entry for entry in entries)
            pair = [side.get(name, {}) for side in (one, other)]
            if "Table" in pair[0] and "Table" in pair[1]:
                pair = [side["Table"] for side in pair]
            elif self.tables.get(name) is not None and self.tables[name].indexes:
                # Indexes are within the sum, and Local charges some that have no entry.
                if not 0 < pair[1]["CapacityUnits"] <= pair[0]["CapacityUnits"]:
                    return False
                continue
            more = pair[0].get("CapacityUnits", 0) - pair[1].get("CapacityUnits", 0)
            if not 0 <= more <= deletes:
                return False
        local = indexes_of(left)
        return all(units <= local.get(name, 0) for name, units in indexes_of(right).items())


def same_statement(left, right):
    if left.get("Error", {}).get("Code") == right.get("Error", {}).get("Code") == "ResourceNotFound":
        return True
    return refused_alike(left, right)


def refused_alike(left, right):
    """Both refused before anything ran, with texts of which the service's is documented; or Local takes no nested parameters."""
    if left == right:
        return True
    one, other = left.get("Error", {}), right.get("Error", {})
    if mentions(one.get("Message"), STATEMENT_TEXTS) and mentions(other.get("Message"), STATEMENT_TEXTS):
        return True
    if one.get("Message") == "Only single item select is supported" and other.get("Message", "").startswith("PartiQL statements cannot be executed on tables with multi-attribute"):
        return True
    if "Unsupported data type: Parameter under key" in one.get("Message", "") or mentions(one.get("Message"), RUNTIME) and mentions(other.get("Message"), RUNTIME):
        return True
    if mentions(one.get("Message"), ["overlap with each other"]) and mentions(other.get("Message"), ["overlap with each other"]):
        return True
    return one.get("Message") == "Only single item select is supported" and "must specify the primary key" in other.get("Message", "")


def indexes_of(cost):
    found = {}
    for entry in cost if isinstance(cost, list) else [cost or {}]:
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            for name, units in entry.get(kind, {}).items():
                found[entry["TableName"], name] = units["CapacityUnits"]
    return found


def covers(whole, part):
    """Is `part` what remains of `whole` when only some paths are kept?"""
    if whole == part:
        return True
    if isinstance(whole, dict) and isinstance(part, dict):
        if set(whole) == set(part) == {"M"}:
            return covers(whole["M"], part["M"])
        if set(whole) == set(part) == {"L"}:
            rest = list(whole["L"])
            return all(any(covers(element, p) for element in rest) for p in part["L"])
        return all(name in whole and covers(whole[name], child) for name, child in part.items())
    return False


KEY_TEXTS = ["The provided key element does not match the schema", "One of the required keys was not given a value",
             "The number of conditions on the keys is invalid", "Missing the key", "Type mismatch for key"]
NUMBER_TEXTS = ["cannot be converted", "supports precision up to 38", "significant digits", "Number overflow", "Number underflow", "magnitude"]


def mentions(text, words):
    return text is not None and any(word in text for word in words)


def same_words(left, right):
    if mentions(right, ["Index Key", "IndexKey"]) and mentions(left, ["Index Key", "Invalid attribute value type", "empty"]):
        return True
    return mentions(left, KEY_TEXTS) and mentions(right, KEY_TEXTS) or mentions(left, NUMBER_TEXTS) and mentions(right, NUMBER_TEXTS)


# The order in which the service judges a request (DYNAMO.md 2.4, 2.5): if a request has several mistakes, Partita must tell one of an
# earlier stage than Local, whose own order is different. Most specific words first.
STAGES = [
    (8, NUMBER_TEXTS + ["Supplied AttributeValue", "may not be empty", "should not be empty", "Null attribute value", "contains duplicates."]),
    (4, ["validation error", "validation errors"]),
    (5, ["Empty attribute name"]),
    (6, ["Can not use both", "can only be specified when using expressions", "must not be empty", "contains invalid key", "contains invalid value"]),
    (7, ["ConditionalOperator"]),
    (9, ["argument(s)", "Comparison type", "comparison operator", "Exists", "AttributeValueList", "ComparisonOperator", "Duplicate value in attribute name",
         "lower bound is greater", "Only DELETE action"]),
    (10, ["Provided list of item keys contains duplicates", "Invalid UpdateExpression", "Invalid ConditionExpression", "Invalid FilterExpression",
          "Invalid ProjectionExpression", "Invalid KeyConditionExpression", "unused in expressions", "KeyConditionExpression", "cannot contain nested"]),
    (11, ["AttributesToGet or ProjectionExpression", "Cannot specify the", "ALL_PROJECTED_ATTRIBUTES can be used", "Segment", "TotalSegments"]),
    (12, ["KeyConditions", "can be of length 1 or 2", "indexable operation"]),
    (12.5, ["Item size has exceeded"]),
    (13, ["non-existent table", "resource not found"]),
    (14, ["does not have the specified index", "Consistent reads"]),
    (15, ["cannot be restarted", "starting key", "Exclusive Start Key", "exclusive start key", "Type mismatch for attribute to update"]),
    (16, ["must have equality conditions", "Query condition", "query conditions", "Query key condition", "does not match schema type", "Missing the key", "Type mismatch for key",
          "does not match the schema", "required keys", "conditions on the keys", "Invalid attribute value type", "for a key attribute", "key element"]),
    (17, ["multiple operations on one item"]),
    (18, ["Index Key", "secondary index key", "Key attributes must be scalars", "Cannot update attribute"]),
    (19, ["non-primary key attributes"]),
    (20, ["does not project", "because its projection type"]),
    (21, ["conditional request failed", "Transaction cancelled"]),
    (22, ["expression refers to an attribute", "document path provided", "incorrect data type", "to update has exceeded", "Number overflow", "38"]),
]


def stage(message):
    return next((number for number, words in STAGES if mentions(message, words)), None)


def earlier(operation, request, local, partita):
    one, other = stage(local.message), stage(partita.message)
    if "KeyConditions" in request and mentions(local.message, ["is not valid for", "lower bound is greater", "same type", "argument(s)"]):
        # Of key conditions, types are judged later than those of filters.
        one = 12
    return local.error and partita.error == "ValidationException" and one is not None and other is not None and other < one


RUNTIME = ["The provided expression refers to an attribute", "The document path provided in the update", "An operand in the update expression",
           "Number overflow", "Number underflow", "38 significant digits", "supports precision"]


def alike(local, partita):
    """The same sentence, or one of numbers that has the service's own words."""
    return local == partita or number_texts(local, partita)


def both_validation(local, partita):
    return local.error == partita.error == "ValidationException"


def texts(words_local, words_partita, reason):
    def test(operation, request, local, partita):
        return both_validation(local, partita) and mentions(local.message, words_local) and mentions(partita.message, words_partita)
    return test, reason


NUMBER_PAIRS = [("A value provided cannot be converted into a number", "The parameter cannot be converted to a numeric value"),
                ("The parameter cannot be converted to a numeric value", "The parameter cannot be converted to a numeric value"),
                ("DynamoDB only supports precision up to 38 digits", "Attempting to store more than 38 significant digits in a Number"),
                ("Number overflow", "Number overflow"), ("Number underflow", "Number underflow")]


def number_texts(local, partita):
    return any(one in local and other in partita for one, other in NUMBER_PAIRS)


SCHEMA_TEXT = "The provided key element does not match the schema"


def key_texts(operation, local, partita):
    """Puts name the key that is missing or of another type, everything else has one sentence (2.4)."""
    if not mentions(local, KEY_TEXTS):
        return False
    if operation == "PutItem":
        return partita.startswith(("One or more parameter values were invalid: Missing the key", "One or more parameter values were invalid: Type mismatch for key"))
    return partita == SCHEMA_TEXT


def names_of(message):
    return sorted(message[message.index("[") + 1:message.rindex("]")].split(", ")) if "[" in message else message


def only_other_reasons(operation, request, local, partita):
    """Both cancelled, and Partita has a ValidationError that the service tells before it looks at conditions."""
    if operation not in ("TransactWriteItems", "ExecuteTransaction") or not local.error == partita.error == "TransactionCanceledException":
        return False
    texts = [reason.get("Message", "") for reason in partita.body["CancellationReasons"] if reason["Code"] == "ValidationError"]
    return any(mentions(text, ["Cannot update attribute", "Key attributes must be scalars", "does not match the schema", "for key", "Index Key", "Missing the key"] + RUNTIME)
               for text in texts)


def many_actions(request):
    """Whether an update, or a transaction, does more than one thing, so that more than one of them can fail."""
    if "TransactItems" in request:
        return len(request["TransactItems"]) > 1 or many_actions(next(iter(request["TransactItems"][0].values())))
    if "AttributeUpdates" in request:
        return len(request["AttributeUpdates"]) > 1
    if "Statement" in request:
        return len(re.findall(r"\b(SET|REMOVE)\b", request["Statement"])) > 1 or "," in request["Statement"]
    text = request.get("UpdateExpression", "")
    return "," in text or len(re.findall(r"(?i)\b(SET|REMOVE|ADD|DELETE)\b", text)) > 1


def runtime_in_transaction(operation, request, local, partita):
    return operation in ("TransactWriteItems", "ExecuteTransaction", "TransactGetItems") and local.error == "ValidationException" \
        and partita.error == "TransactionCanceledException" and "ValidationError" in partita.message


# What is said of statements that are wrong in more than one way: which of them is told first is nobody's promise.
NESTED = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"


def depth(node):
    """Containers around the deepest value of a request or item."""
    if isinstance(node, dict):
        return max([depth(child) + (name in ("L", "M")) for name, child in node.items()], default=0)
    return max(map(depth, node), default=0) if isinstance(node, list) else 0


STATEMENT_TEXTS = ["Table name should be within the length", "Number of parameters in request and statement", "Aliasing is not supported", "resolves to a boolean",
                   "EXISTS can only be used", "Unexpected from source", "wasn't well formed", "does not have the specified index", "Only select from a single table",
                   "Path component cannot be an empty string", "Unexpected path component", "Unsupported", "mandatory equality", "must specify the primary key", "A path may contain at most 2 components", "Key value must be of type S, N, or B", "Empty attribute name", "The first argument to SET_", "The first operand of set_", "data type should match its data type", "Incorrect operand type"]


def start_at_the_far_end(operation, request, local, partita):
    """The last key of a page may be the bound itself (a limit met exactly at the end), so a query has to go on from there."""
    return (operation == "Query" and mentions(local.message or "", ["does not match the range key predicate"]) and partita.status == 200
            and partita.body.get("Items", []) == [] and partita.body.get("Count") == 0 and "ExclusiveStartKey" in request)


def two_mistakes(operation, request, local, partita):
    statements = "Statement" in request or "TransactStatements" in request
    return statements and both_validation(local, partita) and mentions(local.message, STATEMENT_TEXTS) and mentions(partita.message, STATEMENT_TEXTS)


ERRORS = [
    (lambda o, q, l, p: o == "ExecuteTransaction" and l.error == "TransactionCanceledException" and "ValidationError" in l.message
     and p.message == NESTED and depth(q) > 31, "values of parameters are judged with the request, as those of items (2.2)"),
    (lambda o, q, l, p: o in ("PutItem", "UpdateItem", "DeleteItem") and l.error == "ConditionalCheckFailedException" and p.message == NESTED and depth(q.get("Expected", {})) > 31,
     "Local does not look how deep a value of a condition is (2.2)"),
    (lambda o, q, l, p: o in ("Query", "Scan", "PutItem", "UpdateItem", "DeleteItem") and l.error is None and "Nesting Levels have exceeded supported limits" in p.message
     and depth(q.get("ExpressionAttributeValues", {})) > 31, "Local does not look how deep a value of a condition is (2.2)"),
    (lambda o, q, l, p: both_validation(l, p) and "Tuple keys must be of type String" in l.message and "wasn't well formed" in p.message,
     "an expression in the place of an attribute's name: Local reads it and says what it cannot do, Partita cannot read it"),
    (lambda o, q, l, p: o == "PutItem" and both_validation(l, p) and stage(l.message) == 6 and p.message == NESTED and depth(q["Item"]) > 31,
     "values of the item are judged before what is mixed or alone (2.4)"),
    (lambda o, q, l, p: both_validation(l, p) and l.message.startswith("Argument to ORDER BY must be of type VariableReference") and "wasn't well formed" in p.message
     and re.search(r"ORDER BY\s*[^\w\s\"]", q.get("Statement", "")), "Local reads an expression behind ORDER BY before it says that a key is wanted (2.8)"),
    (lambda o, q, l, p: both_validation(l, p) and "A path cannot start with a list index" in l.message and "wasn't well formed" in p.message,
     "a path that begins with an index: Local has words of its own for that"),
    (lambda o, q, l, p: both_validation(l, p) and re.search(r"number of operands: [01]$", l.message) and "wasn't well formed" in p.message
     and re.search(r"\w+\s*\(\s*(\)|[^)]*( OR | AND |=|<|>))", q.get("Statement", "")), "a call of nothing, or of a condition, in a statement: Local counts its operands, Partita cannot read it"),
    (lambda o, q, l, p: both_validation(l, p) and "wasn't well formed" in p.message and mentions(l.message, ["operator or function: -", "right hand argument of type Seq"])
     and re.search(r"-\s*[\[(?\w'\"]", q.get("Statement", "")), "a minus before something else than digits: Local reads it and says what it cannot do, Partita cannot read it"),
    (lambda o, q, l, p: o == "BatchGetItem" and both_validation(l, p) and p.message == "Too many items requested for the BatchGetItem call"
     and sum(len(entry.get("Keys") or []) for entry in q["RequestItems"].values()) > 100, "BatchGetItem of more than 100: told with the members, first (2.6)"),
    (lambda o, q, l, p: both_validation(l, p) and "Comparison type does not exist" in l.message and p.message.endswith("Input collection contains duplicates") and '"NS"' in json.dumps(q.get("Key", {})),
     "values of the key are judged before legacy conditions (2.4)"),
    (lambda o, q, l, p: o == "Query" and both_validation(l, p) and "KeyConditionExpression" in l.message and p.message.startswith("Must specify the AttributesToGet or ProjectionExpression")
     and q.get("Select") == "SPECIFIC_ATTRIBUTES" and "ProjectionExpression" not in q, "Select is judged before what a key condition says (2.5)"),
    (lambda o, q, l, p: o == "TransactGetItems" and p.error == "ResourceNotFoundException" and "nosuchtable" in json.dumps(q)
     and mentions(l.message, ["multiple operations on one item"]), "tables are looked for before items are compared (2.7)"),
    (lambda o, q, l, p: both_validation(l, p) and "Nesting Levels have exceeded" in l.message and "Nesting Levels have exceeded" in p.message and o == "TransactWriteItems",
     "Local has a shorter sentence for nesting in transactions"),
    (lambda o, q, l, p: o == "BatchWriteItem" and mentions(p.message, ["at 'requestItems' failed to satisfy constraint: Map value must"]) and sum(map(len, q["RequestItems"].values())) > 25,
     "BatchWriteItem of more than 25: told with the members, first (2.6)"),
    (lambda o, q, l, p: o == "ExecuteTransaction" and l.error is None and mentions(p.message, ["multiple operations on one item"]), "1 and 1.0 are one key; Local compares the text"),
    (lambda o, q, l, p: o in ("TransactWriteItems", "ExecuteTransaction") and l.error is None and p.error == "TransactionCanceledException"
     and all(mentions(r["Message"], ["for Index Key", "secondary index key"]) for r in p.body["CancellationReasons"] if r["Code"] != "None"),
     "Local forgets to check a key of a local index now and then"),
    (lambda o, q, l, p: o == "TransactWriteItems" and p.error == "ResourceNotFoundException" and "nosuchtable" in json.dumps(q) and mentions(l.message, ["must be scalars"] + RUNTIME),
     "tables are looked for before anything that needs one (2.7)"),
    (lambda o, q, l, p: both_validation(l, p) and "operator or function: attribute_type, operand type: {" in l.message and l.message.split("{")[0] == p.message.split("{")[0],
     "the order of the valid types varies (3.3)"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(l.message, ["Cannot update attribute", "must be scalars"]) and mentions(p.message, ["Cannot update attribute", "must be scalars"]),
     "an update of a key and a path into one: either may be told"),
    (two_mistakes, "a broken statement with two mistakes: either may be told"),
    (lambda o, q, l, p: l.error is None and re.search(r"-\s+-", q.get("Statement", "")) and "wasn't well formed" in p.message, "Local takes two signs before a number"),
    (lambda o, q, l, p: "ClientRequestToken" in q and l.error == "IdempotentParameterMismatchException" and p.error in ("TransactionCanceledException", "ValidationException"),
     "Local remembers the token of a transaction that failed (section 8)"),
    (lambda o, q, l, p: o == "Scan" and "TotalSegments" in q and mentions(l.message, ["must lie within the segment"]) and p.error is None, "which item is in which segment is a server's own affair"),
    (lambda o, q, l, p: o == "Scan" and "TotalSegments" in q and l.error is None and mentions(p.message, ["ExclusiveStartKey with correct Segment"]), "which item is in which segment is a server's own affair"),
    (lambda o, q, l, p: o == "ExecuteTransaction" and mentions(l.message, ["Requested resource not found"]) and mentions(p.message, ["ResourceNotFound"]), "an absent table is a reason of its statement"),
    (lambda o, q, l, p: o == "Scan" and mentions(l.message, ["must lie within the segment"]) and mentions(p.message, ["ExclusiveStartKey with correct Segment"]), "the service's words"),
    texts(["Consistent reads are not supported on global secondary indexes"], ["PartiQL statements cannot be executed on tables with multi-attribute"], "an index that PartiQL does not read is told before the kind of read"),
    texts(["Path component cannot be an empty string"], ["Empty attribute name"], "the service's words for an empty name (2.2)"),
    (lambda o, q, l, p: l.error == p.error == "IdempotentParameterMismatchException" and not l.message, "Local says nothing about a token that is used twice (section 8)"),
    (lambda o, q, l, p: both_validation(l, p) and "Statement wasn't well formed" in l.message and ("Statement" in q or "TransactStatements" in q),
     "Local reads a statement to its end before it judges any of it"),
    (lambda o, q, l, p: both_validation(l, p) and o == "Scan" and mentions(p.message, ["Segment parameter is", "TotalSegments parameter is"])
     and mentions(l.message, ["'segment' failed to satisfy", "total segment must also be specified", "a particular segment must also be"]), "texts of segments are the service's (2.5)"),
    (lambda o, q, l, p: both_validation(l, p) and l.message == "Too many items requested for the BatchWriteItem call" and "at 'requestItems' failed to satisfy constraint: Map value must" in p.message,
     "BatchWriteItem of more than 25: the service's form (2.6)"),
    (lambda o, q, l, p: both_validation(l, p) and l.message == "Member must have length less than or equal to 100" and p.message.endswith(l.message), "the service's form of the limit of a transaction (2.7)"),
    texts(["PartiQL statements cannot be executed on tables with composite HASH keys"], ["PartiQL statements cannot be executed on tables with multi-attribute HASH keys"], "composite keys are multi-attribute keys in 2026 (5)"),
    texts(["Consistent reads are not supported on global secondary indexes"], ["Strongly consistent read is not supported on Global Secondary Indexes"], "PartiQL has its own words for consistent reads (2.8)"),
    (lambda o, q, l, p: o == "ExecuteTransaction" and both_validation(l, p) and "wasn't well formed" in l.message and p.message.endswith(l.message), "Local forgets the place of a statement that it cannot read"),
    (lambda o, q, l, p: o == "Query" and mentions(l.message, ["does not match the range key predicate"]) and mentions(p.message, ["outside query boundaries", "at most one row"]),
     "Local has one sentence for every start key that does not fit (2.5)"),
    (lambda o, q, l, p: o == "Query" and l.error is None and mentions(p.message, ["at most one row"]) and "ExclusiveStartKey" in q, "Local goes on from a key with nothing behind it (2.5)"),
    texts(["Return values set to invalid value"], ["ReturnValues can only be ALL_OLD or NONE"], "ReturnValues of Put and Delete: the service's text"),
    (lambda o, q, l, p: l.error == "DuplicateItem" and p.error == "DuplicateItemException", "the service's name of the error ends in Exception"),
    (start_at_the_far_end, "Local refuses to go on from a key that is the inclusive bound at the far end"),
    (runtime_in_transaction, "run-time errors of an action are a reason of a cancelled transaction; Local tells them at the top"),
    texts(["DELETE action with value is not supported for the type", "ADD action is not supported for the type"],
          ["DELETE action with value is not supported for the type", "ADD action is not supported for the type"], "legacy updates name types as S, not STRING"),
    (lambda o, q, l, p: p.error == "ValidationException" and l.error and p.message.startswith("ConditionalOperator can"),
     "ConditionalOperator is judged before the conditions it joins (2.4)"),
    (lambda o, q, l, p: p.error == "ValidationException" and l.error and p.message == "ReturnValues can only be ALL_OLD or NONE",
     "ReturnValues is judged with the members, before the table (2.4)"),
    (lambda o, q, l, p: l.error and mentions(p.message, ["Only DELETE action is allowed", "action with value is not supported", "ADD action is not supported"]),
     "AttributeUpdates are judged before the table and the condition (2.4)"),
    (lambda o, q, l, p: l.error and mentions(p.message, ["Cannot update attribute"]), "an update of the key is refused before the condition is looked at"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(p.message, ["for Index Key", "IndexKey: ", "secondary index key"])
     and mentions(l.message, ["Invalid attribute value type", "Type mismatch for Index Key", "empty string value", "empty binary value", "Index Key"]),
     "texts of index keys are the service's (2.4)"),
    (lambda o, q, l, p: both_validation(l, p) and "Invalid attribute value type" in l.message and mentions(p.message, KEY_TEXTS), "texts of keys are the service's (section 8)"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(p.message, ["overlap with each other"]) and l.message.split("path one")[0] == p.message.split("path one")[0],
     "Local names another path as the second of two that overlap"),
    (lambda o, q, l, p: both_validation(l, p) and "HeapByteBuffer" in l.message and l.message.split("lower bound operand")[0] == p.message.split("lower bound operand")[0],
     "Local shows binaries by the name of a Java class"),
    texts(["Member must satisfy enum value set: [ADD, DELETE, PUT]"], ["Member must satisfy enum value set: [ADD, DELETE, PUT]"], "Action of AttributeUpdates: the form of the older layer"),
    (lambda o, q, l, p: "Unsupported data type: Parameter under key" in json.dumps(l.body), "Local takes no parameters within lists and maps of statements"),
    texts(["Query key condition not supported"], ["not an indexable operation"], "KeyConditions: the service's text"),
    texts(["Comparison type does not exist in DynamoDB"], ["Invalid comparison operator"], "the service's text for unknown operators"),
    texts(["starting key", "Exclusive Start Key", "Type mismatch for attribute to update"], ["starting key is invalid", "exclusive start key is invalid"], "texts of start keys are the service's"),
    (lambda o, q, l, p: both_validation(l, p) and number_texts(l.message, p.message), "texts of numbers are the service's (section 8)"),
    (lambda o, q, l, p: both_validation(l, p) and key_texts(o, l.message, p.message), "texts of keys are the service's (section 8)"),
    texts(["Input collection of type BS contains duplicates"], ["of type BS contains duplicates"], "the service lists the members of a set with duplicates"),
    (lambda o, q, l, p: o in ("BatchGetItem", "TransactWriteItems", "TransactGetItems") and mentions(p.message, ["contains duplicates", "multiple operations on one item"]),
     "1 and 1.0 are one key; Local compares the text"),
    (lambda o, q, l, p: both_validation(l, p) and "BETWEEN operator requires" in l.message and l.message.split(";")[0] == p.message.split(";")[0],
     "numbers and lists in messages are shown as they are stored"),
    texts(["Query condition missed key schema element"], ["Query condition missed key schema element", "The number of query conditions"], "the service names the key that is missed"),
    (lambda o, q, l, p: o in ("ExecuteTransaction",) and l.error == p.error and "ValidationError" in l.message and "DuplicateItem" in p.message,
     "PartiQL in transactions: the reason is DuplicateItem (section 8)"),
    (lambda o, q, l, p: mentions(p.message, ["reserved keyword: size", "reserved keyword: convert"]), "Local lets the reserved words size and convert pass (3.1)"),
    (lambda o, q, l, p: o == "Query" and l.error is None and mentions(p.message, ["exclusive start key is invalid"]), "a start key for a table without sort key (2.5)"),
    (lambda o, q, l, p: o == "ExecuteTransaction" and mentions(l.message, ["ValidationError Where clause"]), "Local forgets the place of the statement in one message"),
    (lambda o, q, l, p: mentions(p.message, ["comparisonOperator' failed to satisfy"]), "a condition without operator: the form of the older layer"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(l.message, ["does not project ["]) and sorted(l.message.split()) and names_of(l.message) == names_of(p.message),
     "the order of names in a message, which is that of a Java hash map"),
    (lambda o, q, l, p: o == "Query" and "KeyConditions" in q and "QueryFilter" in q and stage(l.message) == stage(p.message) == 9,
     "both KeyConditions and QueryFilter are wrong: the filter is told first (2.5)"),
    (lambda o, q, l, p: mentions(l.message, ["The list of keys in RequestItems for BatchGetItem is required"]) and mentions(p.message, ["member.keys"]), "BatchGetItem without keys: the form of the older layer"),
    (lambda o, q, l, p: o == "TransactGetItems" and l.error == p.error == "TransactionCanceledException" and mentions(l.message, KEY_TEXTS + ["Invalid attribute value type"]),
     "TransactGetItems: Local puts the reason's sentence at the top"),
    (lambda o, q, l, p: mentions(l.message, ["Expression is null", "Expression are null"]) and mentions(p.message, ["can not be empty"]), "an empty expression is there, and empty"),
    (lambda o, q, l, p: l.error is None and mentions(p.message, ["Type mismatch for Index Key", "IndexKey: "]), "Local forgets to check a key of a local index now and then"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(l.message, ["contains duplicates"]) and p.message.replace("contains duplicates.", "contains duplicates") == l.message, "a full stop after duplicates (2.2)"),
    (lambda o, q, l, p: both_validation(l, p) and "AttributeUpdates" in q and mentions(p.message, ["enum value set: [ADD, DELETE, PUT]"]), "an unknown Action is told with the members, first"),
    (lambda o, q, l, p: o == "TransactGetItems" and mentions(l.message, ["multiple operations on one item"]) and stage(p.message) == 10, "what is wrong with one action is told before what is wrong with two (2.7)"),
    (lambda o, q, l, p: o == "BatchWriteItem" and mentions(l.message, ["contains duplicates"]) and mentions(p.message, KEY_TEXTS), "a wrong key and a double key: either may be told"),
    (lambda o, q, l, p: o == "TransactWriteItems" and l.error is None and "must be scalars" in json.dumps(p.body), "Local does not look at paths of conditions in transactions"),
    (lambda o, q, l, p: o == "BatchGetItem" and mentions(l.message, ["contains duplicates"]) and stage(p.message) == 10, "mistakes in two tables of a batch: either may be told"),
    (lambda o, q, l, p: both_validation(l, p) and p.message == "Invalid KeyConditionExpression: " + l.message, "KeyConditionExpressions cannot have …: the service's prefix (2.5)"),
    (lambda o, q, l, p: o == "TransactGetItems" and mentions(l.message, KEY_TEXTS) and mentions(p.message, ["must be scalars"]), "TransactGetItems: a wrong key and a wrong path, either may be told"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(l.message, ["must be scalars"]) and mentions(p.message, ["must be scalars"]), "two paths lead into keys: either may be told"),
    (lambda o, q, l, p: both_validation(l, p) and mentions(l.message, ["Invalid attribute type name found"]) and l.message.split("valid types")[0] == p.message.split("valid types")[0],
     "the order of the valid types varies (3.3)"),
    (only_other_reasons, "Local judges a transaction's actions in another order, and does not tell all reasons"),
    (lambda o, q, l, p: both_validation(l, p) and re.search(r'near: "\.\s*:', p.message), "Local takes a value placeholder for a name in a path"),
    (lambda o, q, l, p: o == "BatchGetItem" and both_validation(l, p) and stage(l.message) in (8, 10) and stage(p.message) in (8, 10) and len(q["RequestItems"]) > 1,
     "mistakes in two tables of a batch: either may be told"),
    (lambda o, q, l, p: o == "Query" and "KeyConditions" in q and mentions(l.message, ["is not valid for", "lower bound"]) and mentions(p.message, ["indexable operation", "not supported"]),
     "two key conditions are wrong: either may be told"),
    (earlier, "a request with several mistakes: the service tells another first (2.4, 2.5)"),
    (lambda o, q, l, p: l.error == p.error == "ResourceNotFoundException", "the control plane's and the data plane's texts for absent tables (section 8)"),
]
