"""Random tables: key schemas, local and global indexes with every projection, streams, both billing modes."""

from values import key_value

PROJECTIONS = [{"ProjectionType": "ALL"}, {"ProjectionType": "KEYS_ONLY"}, {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]}]


class Table:
    def __init__(self, r, name):
        self.name = name
        self.types = {"pk": r.choice("SSSNB")}
        self.keys = [("pk", "HASH")]
        if r.random() < 0.75:
            self.types["sk"] = r.choice("SSNNB")
            self.keys.append(("sk", "RANGE"))
        # name -> (kind, keys, projection)
        self.indexes = {}
        if "sk" in self.types:
            for number in range(r.choice([0, 1, 2])):
                attribute = f"ls{number}"
                self.types[attribute] = r.choice("SNB")
                self.indexes[f"lsi{number}"] = ("LSI", [("pk", "HASH"), (attribute, "RANGE")], r.choice(PROJECTIONS))
        for number in range(r.choice([0, 1, 2])):
            hash_name, sort_name = f"gh{number}", f"gs{number}"
            self.types[hash_name] = r.choice("SSN")
            keys = [(hash_name, "HASH")]
            if r.random() < 0.6:
                self.types[sort_name] = r.choice("SNB")
                keys.append((sort_name, "RANGE"))
            elif "sk" in self.types and r.random() < 0.5:
                keys.append(("sk", "RANGE"))
            self.indexes[f"gsi{number}"] = ("GSI", keys, r.choice(PROJECTIONS))
        if r.random() < 0.25:
            # A global index with several attributes in both parts of its key.
            keys = [(f"mh{n}", "HASH") for n in range(r.choice([1, 2, 2, 3]))] + [(f"ms{n}", "RANGE") for n in range(r.choice([0, 1, 2, 3]))]
            self.types.update({name: r.choice("SSN") for name, _ in keys})
            self.indexes["gsim"] = ("GSI", keys, r.choice(PROJECTIONS))
        self.stream = r.choice([None, "NEW_AND_OLD_IMAGES", "NEW_AND_OLD_IMAGES", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"])
        self.on_demand = r.random() < 0.5

    def request(self):
        schema = lambda keys: [{"AttributeName": name, "KeyType": kind} for name, kind in keys]
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        request = {
            "TableName": self.name,
            "KeySchema": schema(self.keys),
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in self.types.items()],
        }
        for kind, member in (("LSI", "LocalSecondaryIndexes"), ("GSI", "GlobalSecondaryIndexes")):
            indexes = []
            for name, (of, keys, projection) in self.indexes.items():
                if of == kind:
                    index = {"IndexName": name, "KeySchema": schema(keys), "Projection": projection}
                    if kind == "GSI" and not self.on_demand:
                        index["ProvisionedThroughput"] = units
                    indexes.append(index)
            if indexes:
                request[member] = indexes
        if self.on_demand:
            request["BillingMode"] = "PAY_PER_REQUEST"
        else:
            request["ProvisionedThroughput"] = units
        if self.stream:
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": self.stream}
        return request

    def key(self, r):
        return {name: key_value(r, self.types[name], kind == "RANGE") for name, kind in self.keys}

    def index_attributes(self):
        return [(name, kind) for name, kind in self.types.items() if name not in ("pk", "sk")]

    def index_keys(self, index):
        return self.keys if index is None else self.indexes[index][1]
