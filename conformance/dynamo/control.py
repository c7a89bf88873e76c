"""Random requests of the control plane and of streams: tables are made, changed, described, listed and dropped, and their streams read from
every kind of beginning. The two servers have their own ARNs, shards, sequence numbers and iterators, so a request is a pair."""

import copy
import time

import compare
import values

# A table that requests get when their name is changed; it goes with its world.
OTHER = "control.other"
# Local now and then never finishes deleting an index.
STUCK = "stuck"
LABELS = ["alpha", "beta", "gamma", "delta"]
KEY_KINDS = ["S", "S", "N", "B"]
VIEWS = ["NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES"]
UNITS = [1, 5, 10, 0, -1, 3_000_000_000_000]


def units(r):
    pick = lambda: r.choice(UNITS[:3]) if r.random() < 0.93 else r.choice(UNITS)
    return {"ReadCapacityUnits": pick(), "WriteCapacityUnits": pick()}


def schema(names):
    return [{"AttributeName": name, "KeyType": "RANGE" if at else "HASH"} for at, name in enumerate(names)]


def projection(r):
    kind = r.choice(["ALL", "ALL", "KEYS_ONLY", "INCLUDE"])
    result = {"ProjectionType": kind}
    if kind == "INCLUDE":
        result["NonKeyAttributes"] = r.sample(["a", "b", "c", "d"], r.randint(1, 3))
    return result


def global_index(r, name, attributes, on_demand):
    keys = r.sample(["g1", "g2", "sk", "pk", "l1"], r.choice([1, 2]))
    if r.random() < 0.1:
        keys = r.sample(["g1", "g2", "g3", "g4", "g5"], r.choice([3, 4]))
    for key in keys:
        attributes.setdefault(key, r.choice("SN"))
    index = {"IndexName": name, "KeySchema": schema(keys), "Projection": projection(r)}
    if len(keys) > 2:
        for element in index["KeySchema"][1:r.randint(1, len(keys))]:
            element["KeyType"] = "HASH"
    if not on_demand:
        index["ProvisionedThroughput"] = units(r)
    return index


def create(r, name):
    attributes = {"pk": r.choice(KEY_KINDS)}
    keys = ["pk"]
    if r.random() < 0.6:
        keys.append("sk")
        attributes["sk"] = r.choice(KEY_KINDS)
    request = {"TableName": name, "KeySchema": schema(keys)}
    on_demand = r.random() < 0.5
    if on_demand:
        request["BillingMode"] = "PAY_PER_REQUEST"
    else:
        request["ProvisionedThroughput"] = units(r)
        if r.random() < 0.3:
            request["BillingMode"] = "PROVISIONED"
    if len(keys) > 1 and r.random() < 0.4 or r.random() < 0.03:
        indexes = []
        for number in range(r.choice([1, 1, 2])):
            attribute = f"l{number}"
            attributes[attribute] = r.choice("SNB")
            indexes.append({"IndexName": f"lsi{number}", "KeySchema": schema(["pk", attribute]), "Projection": projection(r)})
        request["LocalSecondaryIndexes"] = indexes
    if r.random() < 0.4:
        request["GlobalSecondaryIndexes"] = [global_index(r, f"gsi{n}", attributes, on_demand) for n in range(r.choice([1, 1, 2]))]
    if r.random() < 0.6:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": r.choice(VIEWS)}
    elif r.random() < 0.1:
        request["StreamSpecification"] = {"StreamEnabled": False}
    if r.random() < 0.15:
        request["DeletionProtectionEnabled"] = r.choice([True, False])
    if r.random() < 0.1:
        request["TableClass"] = r.choice(["STANDARD", "STANDARD_INFREQUENT_ACCESS"])
    request["AttributeDefinitions"] = [{"AttributeName": n, "AttributeType": t} for n, t in attributes.items()]
    return "CreateTable", request


def update(r, name):
    request = {"TableName": name}
    for _ in range(r.choice([1, 1, 1, 2])):
        form = r.choice(["units", "billing", "create", "create", "delete", "index", "stream", "stream", "protect", "class", "nothing"])
        if form == "units":
            request["ProvisionedThroughput"] = units(r)
        elif form == "billing":
            request["BillingMode"] = r.choice(["PAY_PER_REQUEST", "PROVISIONED"])
            if request["BillingMode"] == "PROVISIONED":
                request["ProvisionedThroughput"] = units(r)
        elif form == "create":
            attributes = {}
            index = global_index(r, r.choice(["gsi0", "gsi1", "gsi2"]), attributes, r.random() < 0.5)
            request["AttributeDefinitions"] = [{"AttributeName": n, "AttributeType": t} for n, t in attributes.items()]
            request.setdefault("GlobalSecondaryIndexUpdates", []).append({"Create": index})
        elif form == "delete":
            request.setdefault("GlobalSecondaryIndexUpdates", []).append({"Delete": {"IndexName": r.choice(["gsi0", "gsi1", "lsi0", "nosuch"])}})
        elif form == "index":
            change = {"IndexName": r.choice(["gsi0", "gsi1", "nosuch"]), "ProvisionedThroughput": units(r)}
            request.setdefault("GlobalSecondaryIndexUpdates", []).append({"Update": change})
        elif form == "stream":
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": r.choice(VIEWS)} if r.random() < 0.6 else {"StreamEnabled": False}
        elif form == "protect":
            request["DeletionProtectionEnabled"] = r.choice([True, False])
        elif form == "class":
            request["TableClass"] = r.choice(["STANDARD", "STANDARD_INFREQUENT_ACCESS"])
    return "UpdateTable", request


def lists(node, found):
    if isinstance(node, dict):
        for child in node.values():
            lists(child, found)
    elif isinstance(node, list):
        found.append(node)
        for child in node:
            lists(child, found)
    return found


def objects(node, found):
    if isinstance(node, dict):
        found.append(node)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        objects(child, found)
    return found


def mutate(r, request):
    """Breaks a request in one place. What Local answers with 500 (wrong JSON types) is in the recorded scenarios instead."""
    request = copy.deepcopy(request)
    form = r.choice(["drop", "drop", "double", "shuffle", "word", "word", "empty", "name", "extra"])
    target = r.choice(objects(request, []))
    if form == "drop" and len(target) > 0:
        name = r.choice(list(target))
        # Without a name Local and Partita mean different things by the request; that is in the recorded scenarios.
        if name != "TableName":
            del target[name]
    elif form in ("double", "shuffle", "empty"):
        found = [entry for entry in lists(request, []) if entry]
        if found:
            chosen = r.choice(found)
            if form == "double":
                chosen.append(copy.deepcopy(r.choice(chosen)))
            elif form == "shuffle":
                r.shuffle(chosen)
            else:
                chosen.clear()
    elif form == "word":
        words = [name for name, value in target.items() if isinstance(value, str) and name != "TableName"]
        if words:
            name = r.choice(words)
            known = {"KeyType": ["HASH", "RANGE"], "AttributeType": ["S", "N", "B"], "ProjectionType": ["ALL", "KEYS_ONLY", "INCLUDE"],
                     "AttributeName": ["pk", "sk", "l0", "g1", "other"], "IndexName": ["gsi0", "lsi0", "ab", "a b", "x" * 256]}
            target[name] = r.choice(known.get(name, [target[name]]))
    elif form == "name":
        request["TableName"] = r.choice(["ab", "a b", "x" * 256, OTHER, "tab/le"])
    elif form == "extra" and "AttributeDefinitions" in request:
        request["AttributeDefinitions"].append({"AttributeName": r.choice(["spare", "pk", "a"]), "AttributeType": r.choice("SNB")})
    return request


# ---- what may differ in descriptions

OWN = {"CreationDateTime", "TableArn", "TableId", "LatestStreamArn", "LatestStreamLabel", "IndexArn", "LastUpdateToPayPerRequestDateTime", "WarmThroughput",
       "LastIncreaseDateTime", "LastDecreaseDateTime", "StreamArn", "StreamLabel", "CreationRequestDateTime", "LastEvaluatedStreamArn", "ShardId",
       "StartingSequenceNumber", "EndingSequenceNumber", "ShardIterator", "NextShardIterator", "eventID", "SequenceNumber", "ApproximateCreationDateTime"}


def plain(node):
    """A description without what is a server's own: names are kept, so a member that only one of them has is seen."""
    if isinstance(node, dict):
        result = {name: ("own" if name in OWN else plain(child)) for name, child in node.items()}
        if "AttributeDefinitions" in result:
            result["AttributeDefinitions"] = compare.by_text(result["AttributeDefinitions"])
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            if member in result:
                result[member] = sorted(result[member], key=lambda index: index["IndexName"])
        return result
    return [plain(child) for child in node] if isinstance(node, list) else node


class Desk:
    """One world: four table names, their streams on both servers, and what was read of them."""

    def __init__(self, run, r, prefix):
        self.run, self.r = run, r
        self.names = [f"{prefix}{label}" for label in LABELS]
        # Name of a table -> a pair of descriptions, as both servers last told them.
        self.tables = {}
        # Pairs of stream ARNs, shards, sequence numbers and iterators.
        self.streams, self.shards, self.sequences, self.iterators = [], [], [], []

    def step(self):
        r = self.r
        forms = {"create": 22, "update": 20, "describe": 6, "delete": 5, "ttl": 10, "describe_ttl": 4, "list": 6, "put": 25, "list_streams": 4,
                 "describe_stream": 6, "iterator": 12, "records": 16, "index": 8}
        form = r.choices(list(forms), list(forms.values()))[0]
        getattr(self, "do_" + form)()

    def send(self, operation, request, other=None):
        """`other` is Partita's request where it is not the same."""
        return self.run.compare_pair(operation, request, request if other is None else other)

    def name(self):
        return self.r.choice(self.names)

    def look(self, name):
        """What both say of a table when nothing is under way; remembers its stream."""
        pair = self.run.settled(name)
        if pair == STUCK:
            return self.abandon(name)
        if pair is None:
            self.tables.pop(name, None)
            return
        self.tables[name] = pair
        arns = tuple(table.get("LatestStreamArn") for table in pair)
        if all(arns) and arns not in self.streams:
            self.streams.append(arns)
        self.run.compare_bodies("DescribeTable", {"TableName": name}, *({"Table": table} for table in pair))

    def do_create(self):
        name = self.name()
        operation, request = create(self.r, name)
        if self.r.random() < 0.5:
            request = mutate(self.r, request)
        self.changed(operation, request)

    def do_update(self):
        operation, request = update(self.r, self.name())
        if self.r.random() < 0.3:
            request = mutate(self.r, request)
        self.changed(operation, request)

    def changed(self, operation, request):
        local, partita = self.send(operation, request)
        name = request.get("TableName", "")
        if (local.error is None) != (partita.error is None):
            # They went apart, which was told: the table goes from both, and so does its name, whose streams only one of them has.
            self.drop(name)
            if name in self.names:
                self.names[self.names.index(name)] = name + "y"
        elif local.error is None:
            self.look(name)

    def abandon(self, name):
        """The table stays as it is on both servers; from now on there is another in its place."""
        self.run.rules.explained("Local never finishes deleting an index now and then")
        self.tables.pop(name, None)
        if name in self.names:
            self.names[self.names.index(name)] = name + "x"

    def drop(self, name):
        if self.run.settled(name) == STUCK:
            return self.abandon(name)
        for server in (self.run.local, self.run.partita):
            server.send("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
            # An index that is being made keeps its table.
            for _ in range(500):
                if server.send("DeleteTable", {"TableName": name}).error != "ResourceInUseException":
                    break
                time.sleep(0.01)
        self.tables.pop(name, None)

    def do_describe(self):
        name = self.name() if self.r.random() < 0.8 else self.r.choice(["nosuchtable", "ab", "a b"])
        if name in self.tables:
            return self.look(name)
        self.send("DescribeTable", {"TableName": name})

    def do_delete(self):
        name = self.name()
        local, partita = self.send("DeleteTable", {"TableName": name})
        if (local.error is None) != (partita.error is None):
            self.drop(name)
        elif local.error is None:
            self.tables.pop(name, None)

    def do_ttl(self):
        specification = {"Enabled": self.r.random() < 0.6, "AttributeName": self.r.choice(["ttl", "ttl", "a", "", "x" * 256])}
        if self.r.random() < 0.1:
            specification.pop(self.r.choice(list(specification)))
        self.send("UpdateTimeToLive", {"TableName": self.name(), "TimeToLiveSpecification": specification})

    def do_describe_ttl(self):
        self.send("DescribeTimeToLive", {"TableName": self.name()})

    def do_list(self):
        r, request = self.r, {}
        if r.random() < 0.7:
            request["Limit"] = r.choice([1, 2, 3, 100, 0, 101])
        if r.random() < 0.5:
            request["ExclusiveStartTableName"] = r.choice(self.names + ["a", "ab", "zzz"])
        self.send("ListTables", request)

    def known(self):
        return self.r.choice(list(self.tables)) if self.tables else None

    def do_put(self):
        name, r = self.known(), self.r
        if name is None:
            return
        kinds = {d["AttributeName"]: d["AttributeType"] for d in self.tables[name][0]["AttributeDefinitions"]}
        keys = [element["AttributeName"] for element in self.tables[name][0]["KeySchema"]]
        key = {attribute: values.key_value(r, kinds[attribute], attribute != "pk") for attribute in keys}
        item = dict(key)
        for attribute, kind in kinds.items():
            if attribute not in key and r.random() < 0.8:
                item[attribute] = values.key_value(r, kind, True)
        for attribute in r.sample(["a", "b", "c", "m"], r.randint(0, 3)):
            item[attribute] = values.attribute(r, attribute)
        form = r.choice(["put", "put", "put", "delete", "update"])
        if form == "put":
            self.send("PutItem", {"TableName": name, "Item": item})
        elif form == "delete":
            self.send("DeleteItem", {"TableName": name, "Key": key})
        else:
            update = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"S": r.choice("xyz")}}}
            self.send("UpdateItem", {"TableName": name, "Key": key, **update})

    def do_index(self):
        """Every index, also one that was added later, holds what the other server's holds."""
        name = self.known()
        if name is None:
            return
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            for index in self.tables[name][0].get(member, []):
                self.send("Scan", {"TableName": name, "IndexName": index["IndexName"], "ReturnConsumedCapacity": self.r.choice(["NONE", "INDEXES"])})

    # -- streams

    def do_list_streams(self):
        r, request = self.r, {"TableName": self.name()}
        if r.random() < 0.3:
            request["Limit"] = r.choice([1, 100, 0, 101])
        self.send("ListStreams", request)

    def do_describe_stream(self):
        r = self.r
        if not self.streams or r.random() < 0.1:
            arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{self.name()}/stream/2020-01-01T00:00:00.000"
            self.send("DescribeStream", {"StreamArn": arn})
            return
        pair = r.choice(self.streams)
        local, partita = self.send("DescribeStream", *({"StreamArn": arn} for arn in pair))
        if local.error is None and partita.error is None:
            shards = [answer.body["StreamDescription"]["Shards"] for answer in (local, partita)]
            if all(shards):
                self.shards.append((pair, tuple(found[-1]["ShardId"] for found in shards)))

    def do_iterator(self):
        r = self.r
        if not self.shards:
            return self.do_describe_stream()
        arns, shards = r.choice(self.shards)
        kind = r.choice(["TRIM_HORIZON", "TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
        requests = [{"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind} for arn, shard in zip(arns, shards)]
        if "SEQUENCE" in kind and r.random() < 0.9 or r.random() < 0.04:
            of_stream = [pair for of, pair in self.sequences if of == arns]
            if of_stream:
                for request, number in zip(requests, r.choice(of_stream)):
                    request["SequenceNumber"] = number
        if r.random() < 0.05:
            wrong = r.choice(["shardId-00000000000000000000-00000000", "short"])
            for request in requests:
                request["ShardId"] = wrong
        local, partita = self.send("GetShardIterator", *requests)
        if local.error is None and partita.error is None:
            self.iterators.append((arns, (local.body["ShardIterator"], partita.body["ShardIterator"]), kind == "LATEST"))

    def do_records(self):
        r = self.r
        if not self.iterators:
            return self.do_iterator()
        arns, pair, latest = self.iterators.pop(r.randrange(len(self.iterators)))
        limit = {"Limit": r.choice([1, 2, 3, 10, 1000])} if r.random() < 0.6 else {}
        if r.random() < 0.03:
            limit = {"Limit": r.choice([0, 1001])}
        local, partita = self.send("GetRecords", *({"ShardIterator": iterator, **limit} for iterator in pair))
        if local.error or partita.error:
            return
        records = [answer.body["Records"] for answer in (local, partita)]
        for one, other in zip(*records):
            sequence = (one["dynamodb"]["SequenceNumber"], other["dynamodb"]["SequenceNumber"])
            if (arns, sequence) not in self.sequences:
                self.sequences.append((arns, sequence))
        following = tuple(answer.body.get("NextShardIterator") for answer in (local, partita))
        if all(following) and records[0]:
            self.iterators.append((arns, following, latest))

    def end(self):
        for name in list(self.names) + [OTHER]:
            self.drop(name)
