"""What may differ between DynamoDB Local and Partita in the control plane and in streams. Local's texts there are its own (DYNAMO.md 8), so
errors must have the same name, and a pair of texts must be listed here."""

import re

import compare
import constraints
from control import plain

OPERATIONS = {"CreateTable", "UpdateTable", "DescribeTable", "DeleteTable", "ListTables", "UpdateTimeToLive", "DescribeTimeToLive", "ListStreams",
              "DescribeStream", "GetShardIterator", "GetRecords"}


def differ(rules, operation, request, local, partita):
    if local.status == 500 and partita.status == 400:
        rules.explained("Local fails with 500 where the service refuses the request (section 8, malformed input)")
        return None
    if local.error or partita.error:
        return errors(rules, operation, request, local, partita)
    return bodies(rules, operation, request, local.body, partita.body)


def projects_twice(request):
    indexes = request.get("GlobalSecondaryIndexes", []) + request.get("LocalSecondaryIndexes", [])
    lists = [index.get("Projection", {}).get("NonKeyAttributes", []) for index in indexes]
    return any(len(set(names)) < len(names) for names in lists)


def accepted(rules, operation, request, local, partita):
    """One of them did it, the other did not; says why that may be."""
    if operation == "CreateTable" and local.message == "Cannot have two attributes with the same name" and projects_twice(request):
        return rules.explained("Local refuses an attribute that an index projects twice")
    if operation in ("CreateTable", "UpdateTable") and local.status == 500:
        return rules.explained("Local fails with 500 (section 8, malformed input)")
    if operation == "CreateTable" and local.error is None and "Some AttributeDefinitions are not used" in partita.message:
        return rules.explained("Local overlooks a definition that no key uses now and then")
    if operation == "UpdateTable" and local.message == "Cannot change IOPS and Streams at the same time.":
        return rules.explained("Local does not change throughput and stream at once")
    if operation == "UpdateTable" and local.error is None and constraints.are_true(request, partita.message):
        return rules.explained("Local ignores throughput of an index of a table on demand (section 8)")
    if operation == "UpdateTable" and local.error is None and "Some index key attribute" in partita.message:
        return rules.explained("keys of a new index must be declared in the request, also those that the table knows (2.3)")
    unsaid = re.search(r"ProvisionedThroughput must be specified when BillingMode is PROVISIONED for index: (\S+)$", partita.message or "")
    if operation == "UpdateTable" and local.error is None and unsaid and request.get("BillingMode") == "PROVISIONED" and "GlobalSecondaryIndexUpdates" not in request:
        return rules.explained("Local keeps the throughput of indexes when a table goes on demand, so it asks for none on the way back (2.3)")
    if operation == "GetRecords" and local.error == "TrimmedDataAccessException":
        return rules.explained("Local trims the stream of a table that was deleted")
    said = {member for member, value in request.items() if value != []}
    if operation == "UpdateTable" and local.message == "Nothing to update" and said <= {"TableName", "TableClass", "DeletionProtectionEnabled"}:
        return rules.explained("Local does not change a table's class or its protection alone")
    if operation == "UpdateTable" and local.message and local.message.startswith("invalid attribute, SchemaElement redefined"):
        return rules.explained("a name that the table knows keeps its type (2.3)")
    if operation == "UpdateTable" and local.error is None and re.search(r"when BillingMode is PAY_PER_REQUEST$|is out of bounds$", partita.message):
        return rules.explained("Local ignores throughput of an index of a table on demand (section 8)")
    return False


def holds(request, message):
    """Whether the request is wrong in the way that the message says, as far as the request itself shows it."""
    updates = [update for entry in request.get("GlobalSecondaryIndexUpdates", []) for update in entry.values() if isinstance(update, dict)]
    indexes = updates + request.get("GlobalSecondaryIndexes", [])
    found = re.search(r"ProvisionedThroughput should not be specified for index: (\S+) when BillingMode is PAY_PER_REQUEST$", message)
    if found:
        return any(index.get("IndexName") == found.group(1) and "ProvisionedThroughput" in index for index in indexes)
    found = re.search(r"ProvisionedThroughput must be specified when BillingMode is PROVISIONED for index: (\S+)$", message)
    if found:
        return any(index.get("IndexName") == found.group(1) and "ProvisionedThroughput" not in index for index in indexes)
    if message == "The KeySchema contains multiple key attributes with the same name":
        named = [[key.get("AttributeName") for key in index.get("KeySchema", [])] for index in indexes]
        return any(len(set(names)) < len(names) for names in named)
    if message.endswith("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"):
        return "ProvisionedThroughput" in request
    if message.endswith("StreamViewType must be specified when StreamEnabled is true"):
        stream = request.get("StreamSpecification", {})
        return stream.get("StreamEnabled") is True and "StreamViewType" not in stream
    return False


def errors(rules, operation, request, local, partita):
    if (local.error is None or partita.error is None) and accepted(rules, operation, request, local, partita):
        return None
    if local.error == partita.error and local.message == partita.message:
        return None
    if local.error and partita.error == "ValidationException" and constraints.are_true(request, partita.message):
        rules.explained("constraints of members are told first, in the service's form, and they are true (2.2)")
        return None
    if local.error and partita.error == "ValidationException" and operation in ("CreateTable", "UpdateTable") and holds(request, partita.message):
        rules.explained("a request with several mistakes: the service judges in another order, and what is told is true (2.3)")
        return None
    for name, one, other, reason in TEXTS:
        if name in (None, operation) and re.search(one, f"{local.error}: {local.message}") and re.search(other, f"{partita.error}: {partita.message}"):
            rules.explained(reason)
            return None
    return "errors"


def paths(left, right, at=""):
    """Where two bodies differ, as `path: local | partita`."""
    if left == right:
        return []
    if isinstance(left, dict) and isinstance(right, dict):
        return [found for name in sorted(set(left) | set(right)) for found in paths(left.get(name), right.get(name), f"{at}.{name}")]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return [found for one, other in zip(left, right) for found in paths(one, other, f"{at}[]")]
    return [f"{at}: {str(left)[:200]} | {str(right)[:200]}"]


def bodies(rules, operation, request, left, right):
    left, right = compare.canonical(plain(left)), compare.canonical(plain(right))
    if operation == "GetRecords":
        left, right = compare.blanked(left), compare.blanked(right)
    unexplained = []
    for found in paths(left, right):
        for name, pattern, reason in BODIES:
            if name in (None, operation) and re.search(pattern, found):
                rules.explained(reason)
                break
        else:
            unexplained.append(found)
    return "bodies: " + "; ".join(unexplained)[:300] if unexplained else None


STATUS = "Local makes tables and indexes at once and tells ACTIVE (section 8)"
MEMBERS = "a member that Local does not know, or tells always (section 8)"
# Operation, a pattern for `path: local | partita`, and why.
BODIES = [
    (None, r"Status: ACTIVE \| (CREATING|UPDATING|DELETING)$", STATUS),
    (None, r"\.(TableId|WarmThroughput): None \| own$", MEMBERS),
    ("CreateTable", r"\.LastUpdateToPayPerRequestDateTime: own \| None$", "the answer of CreateTable has no time of billing (recorded from the service)"),
    ("DeleteTable", r": .* \| None$", "little is told of a table that is being deleted (recorded from the service)"),
    (None, r"ProvisionedThroughput\.(LastIncreaseDateTime|LastDecreaseDateTime): (own \| None|None \| own)$", "Local tells times of changes that never were, and not those of indexes"),
    (None, r"Indexes\[\]\.ProvisionedThroughput\.NumberOfDecreasesToday: None \| 0$", MEMBERS),
    (None, r"Indexes\[\]\.ProvisionedThroughput: None \| .'NumberOfDecreasesToday': 0, 'ReadCapacityUnits': 0, 'WriteCapacityUnits': 0.$", MEMBERS),
    (None, r"\.OnDemandThroughput: .'MaxReadRequestUnits': -1, 'MaxWriteRequestUnits': -1. \| None$", MEMBERS),
    ("GetRecords", r"\.awsRegion: ddblocal \| us-east-1$", "the name of the region"),
    (None, r"\.LatestStream(Arn|Label): own \| None$", "Local shows the stream of a table that was deleted as that of the next one with its name"),
    ("UpdateTable", r"\.(Read|Write)CapacityUnits: \d+ \| \d+$", "the answer to UpdateTable has the throughput from before (2.3)"),
    ("UpdateTable", r"Indexes\[\]\.(ItemCount|IndexSizeBytes): (\d+|None) \| 0$", "entries of indexes are counted by DescribeTable only"),
    ("DeleteTable", r"Indexes\[\]\.(ItemCount|IndexSizeBytes): (\d+|None) \| 0$", "entries of indexes are counted by DescribeTable only"),
    ("UpdateTable", r"Indexes\[\]\.(ItemCount|IndexSizeBytes): None \| 0$", MEMBERS),
    (None, r"\.TableClassSummary: None \| ", MEMBERS),
    (None, r"\.AttributeDefinitions: ", "UpdateTable: definitions that no key uses are dropped, those of an index that goes stay in its answer (2.3)"),
    (None, r"Indexes\[\]\.IndexSizeBytes: \d+ \| \d+$", "Local counts whole items where an index holds less (section 8)"),
    (None, r"GlobalSecondaryIndexes\[\]\.ProvisionedThroughput\.(Read|Write)CapacityUnits: \d+ \| 0$", "Local keeps the throughput of indexes when a table goes on demand"),
]

ABSENT = r"^ResourceNotFoundException: Cannot do operations on a non-existent table$"
OWN_TEXTS = "Local's control plane has its own texts (section 8)"
INVALID = r"^ValidationException: One or more parameter values were invalid: "
# Operation, what Local says, what Partita says, and why. Errors about members are not here: constraints.py holds them against the request.
TEXTS = [
    ("UpdateTable", r"^ResourceNotFoundException: Requested resource not found$", r"throughput for the table will not change", "throughput is judged before indexes are looked for (2.3)"),
    ("UpdateTable", r"Index is being created", r"Attempting to create an index which already exists", "Local is not ready with the index that is there"),
    (None, ABSENT, r"^ResourceNotFoundException: Requested resource not found: Table: .* not found$", OWN_TEXTS),
    (None, ABSENT, r"^ValidationException: ", "what is wrong with the request is told before the table is looked for (1.2)"),
    ("CreateTable", r"Cannot create preexisting table", r"^ResourceInUseException: Table already exists: ", OWN_TEXTS),
    ("CreateTable", r"Cannot create preexisting table", r"^ValidationException: ", "what is wrong with the request is told before the table is looked for (1.2)"),
    (None, r"Invalid table/index name\.", r"^ValidationException: TableName must be at least 3 characters long and at most 255 characters long$", OWN_TEXTS),
    (None, r"Cannot have two attributes with the same name", INVALID + "Cannot have two attributes with the same name$", OWN_TEXTS),
    (None, r"Cannot increase provisioned throughput to more than 40,000", r"Given value \d+ for (Read|Write)CapacityUnits is out of bounds$", OWN_TEXTS),
    ("CreateTable", r"[GL]SI list is empty/invalid", INVALID + "List of (Global|Local)SecondaryIndexes is empty$", OWN_TEXTS),
    (None, r"(not specified in Attribute Definitions|No Attribute Schema Defined)", INVALID + "Some index key attributes are not defined in AttributeDefinitions", OWN_TEXTS),
    (None, r"(not specified in Attribute Definitions|No Attribute Schema Defined)", r"Invalid KeySchema: Some index key attribute have no definition$", OWN_TEXTS),
    (None, r"Indexes must have a projection specified", INVALID + "Unknown ProjectionType: null$", OWN_TEXTS),
    (None, r"Invalid StreamViewType", INVALID + "StreamViewType must be specified when StreamEnabled is true$", OWN_TEXTS),
    (None, r"(Invalid key order|No Hash Key specified)", r"Invalid KeySchema: The (first|second) KeySchemaElement is not a (HASH|RANGE) key type$", OWN_TEXTS),
    (None, r"No provisioned throughput specified", INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified", OWN_TEXTS),
    (None, r"The number of attributes in key schema must match", INVALID + "(Number of attributes in KeySchema does not exactly|Some AttributeDefinitions are not used)", OWN_TEXTS),
    (None, r"Two keys can not have the same name", r"(have the same name|with the same name)$", OWN_TEXTS),
    (None, r"(must have different names|have the same name)", INVALID + "Duplicate index name", OWN_TEXTS),
    ("UpdateTable", r"Nothing to update", r"^ValidationException: At least one of ProvisionedThroughput", OWN_TEXTS),
    ("UpdateTable", r"Only one global secondary index update per index", INVALID + "Only one global secondary index update per index", OWN_TEXTS),
    ("UpdateTable", r"(Cannot delete an index that is not|Invalid global secondary index name)", r"^ResourceNotFoundException: Requested resource not found$", OWN_TEXTS),
    ("UpdateTable", r"Table (already has an enabled stream|has no stream to disable)$", r"Table (already has an enabled stream|has no stream to disable): TableName: ", OWN_TEXTS),
    ("UpdateTable", r"The requested throughput value equals the current value", r"will not change\. The requested value equals the current value", OWN_TEXTS),
    ("UpdateTimeToLive", r"TimeToLive is active on a different AttributeName$", r"TimeToLive is active on a different AttributeName: current AttributeName is ", OWN_TEXTS),
    (None, r"Attribute .* is not defined in AttributeDefinitions$", INVALID + "Some index key attributes are not defined in AttributeDefinitions", OWN_TEXTS),
    ("CreateTable", r"Local Secondary indices are not allowed on hash tables", INVALID + "Table KeySchema does not have a range key", OWN_TEXTS),
    ("CreateTable", r"The number of attributes in key schema must match", INVALID + "List of (Local|Global)SecondaryIndexes is empty$", "an empty list is told before spare definitions (2.3)"),
    ("UpdateTable", r"invalid attribute, SchemaElement redefined", r"BillingMode is PAY_PER_REQUEST$", "billing is judged first (2.3)"),
    (None, r"If Projection type INCLUDE is specified", INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified$", OWN_TEXTS),
    (None, r"No attributes should be specified to be projected unless", INVALID + "ProjectionType is (ALL|KEYS_ONLY), but NonKeyAttributes is specified$", OWN_TEXTS),
    (None, r"Too many hash keys specified", r"The second KeySchemaElement is not a RANGE key type$", OWN_TEXTS),
    (None, r"must match the number of attributes defined", r"Given value \d+ for (Read|Write)CapacityUnits is out of bounds$", "billing is judged first (2.3)"),
    (None, r"Cannot have two attributes with the same name", r"Given value \d+ for (Read|Write)CapacityUnits is out of bounds$", "billing is judged first (2.3)"),
    (None, r"Cannot have two attributes with the same name", INVALID + "Some index key attributes are not defined", "keys are judged before spare definitions (2.3)"),
    (None, r"Cannot have two attributes with the same name", r"^ResourceInUseException: Table already exists", "Local refuses an attribute that an index projects twice"),
    ("UpdateTable", ABSENT, r"^LimitExceededException: Subscriber limit exceeded", "what is wrong with the request is told before the table is looked for (1.2)"),
    ("UpdateTable", r"Cannot change IOPS and Streams at the same time", r"BillingMode is PAY_PER_REQUEST$", "billing is judged first (2.3)"),
    ("UpdateTable", r"", r"Given value \d+ for (Read|Write)CapacityUnits is out of bounds$", "units are judged with the request (2.3)"),
    ("UpdateTable", r"No provisioned throughput specified for the table", INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED", OWN_TEXTS),
    ("UpdateTable", r"Table has no stream to disable", r"BillingMode is (PAY_PER_REQUEST|PROVISIONED)$", "throughput is judged before streams (2.3)"),
    ("UpdateTable", r"^LimitExceededException: Subscriber limit exceeded|Attempting to create an index which already exists", INVALID + "(One of GlobalSecondaryIndexUpdate|Unknown ProjectionType|ProjectionType is)",
     "what is wrong with the request is told before its table is looked at (1.2)"),
    ("UpdateTable", r"Update global secondary index action is null", INVALID + "One of GlobalSecondaryIndexUpdate.Update", OWN_TEXTS),
    (None, r"Cannot increase provisioned throughput to more than 40,000", INVALID + "(ProjectionType is|Unknown ProjectionType)", "projections are judged before throughput of indexes (2.3)"),
    ("UpdateTable", r"Only one global secondary index update per index", INVALID + "(ProjectionType is|Unknown ProjectionType)", "each update is judged by itself first"),
    ("UpdateTable", r"^ResourceNotFoundException: Requested resource not found$", r"BillingMode is PAY_PER_REQUEST$", "billing is judged first (2.3)"),
    ("CreateTable", r"", r"^ValidationException: Given value \d+ for (Read|Write)CapacityUnits is out of bounds$", "billing is judged first (2.3)"),
    ("UpdateTable", r"Cannot change IOPS and Streams at the same time", r"Table (already has an enabled stream|has no stream to disable): TableName: ", OWN_TEXTS),
    ("UpdateTable", r"Invalid global secondary index name", INVALID + "One of ProvisionedThroughput, OnDemandThroughput, WarmThroughput must be specified", "what is wrong with the request is told before the index is looked for"),
    ("CreateTable", r"Local Secondary indices must have the same hash key", INVALID + "Index KeySchema does not have the same leading hash key", OWN_TEXTS),
    ("UpdateTable", r"invalid attribute, SchemaElement redefined", r"^ValidationException: ", "a name that the table knows keeps its type (2.3)"),
    ("UpdateTable", r"No provisioned throughput specified for the global secondary index", INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED for index: ", OWN_TEXTS),
    ("UpdateTable", r"Attempting to create an index which already exists", r"BillingMode is PAY_PER_REQUEST$", "billing is judged first (2.3)"),
    (None, r"(Invalid key order|Too many hash keys)", INVALID + "All HASH key attributes must precede RANGE key attributes", OWN_TEXTS),
    ("CreateTable", r"Cannot have two attributes with the same name", r"^ValidationException: ", "spare definitions are judged last (2.3)"),
    ("UpdateTable", r"Attempting to create an index which already exists", INVALID + "ProjectionType is", "what is wrong with the request is told before the index is looked for"),
    ("UpdateTable", r"(Invalid global secondary index name|Cannot delete an index that is not)", r"throughput for the table will not change", "throughput is judged before indexes are looked for (2.3)"),
    ("UpdateTable", r"Invalid global secondary index name", INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED for index: ", "billing is judged first (2.3)"),
    ("CreateTable", r"Local Secondary indices must have the same hash key", INVALID + "Some index key attributes are not defined", "definitions of keys are judged first (2.3)"),
    ("GetShardIterator", r"Invalid SequenceNumber$", INVALID + "SequenceNumber cannot be null$", OWN_TEXTS),
    ("GetShardIterator", r"Shard does not exist$", r"Requested resource not found: Shard does not exist", OWN_TEXTS),
]
