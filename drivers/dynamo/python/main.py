"""The common scenario through boto3: client and resource. Prints `ok NAME`, `FAIL NAME: why`."""

import json
import os
import sys
import time
import traceback
from decimal import Decimal
from pathlib import Path

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT = os.environ["DYNAMO_ENDPOINT"]
PREFIX = os.environ.get("DYNAMO_PREFIX", "py")
ACCESS = dict(region_name="us-east-1", aws_access_key_id=os.environ.get("DYNAMO_KEY", "local"),
              aws_secret_access_key=os.environ.get("DYNAMO_SECRET", "local"), endpoint_url=ENDPOINT,
              config=Config(retries={"total_max_attempts": 1}))
client = boto3.client("dynamodb", **ACCESS)
streams = boto3.client("dynamodbstreams", **ACCESS)
resource = boto3.resource("dynamodb", **ACCESS)
ORDERS, ITEMS, NEW = f"{PREFIX}_orders", f"{PREFIX}_items", f"{PREFIX}_new"
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def refused(code, call, **arguments):
    """The error's response; anything but that error is a failure."""
    try:
        call(**arguments)
    except ClientError as error:
        equal(error.response["Error"]["Code"], code)
        return error.response
    raise AssertionError(f"not refused with {code}")


@check
def tables_are_created_described_and_listed():
    answer = client.create_table(
        TableName=ORDERS, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in (("pk", "S"), ("sk", "S"), ("status", "S"), ("total", "N"))],
        GlobalSecondaryIndexes=[{"IndexName": "by_status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"},
                                 {"AttributeName": "total", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}}],
        LocalSecondaryIndexes=[{"IndexName": "by_total", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                                {"AttributeName": "total", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    equal(answer["TableDescription"]["TableName"], ORDERS)
    client.get_waiter("table_exists").wait(TableName=ORDERS)
    table = client.describe_table(TableName=ORDERS)["Table"]
    equal((table["TableStatus"], table["ItemCount"]), ("ACTIVE", 0))
    equal([i["IndexName"] for i in table["GlobalSecondaryIndexes"]], ["by_status"])
    equal(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
    assert ORDERS in client.list_tables()["TableNames"]
    refused("ResourceInUseException", client.create_table, TableName=ORDERS, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    refused("ResourceNotFoundException", client.describe_table, TableName="nowhere")


@check
def every_type_comes_back():
    table = resource.create_table(TableName=ITEMS, KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                                  AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
                                  ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5})
    table.wait_until_exists()
    item = {"id": 1, "s": "text é", "empty": "", "n": Decimal("-12.50"), "large": Decimal("12345678901234567890123456789012345678"), "b": b"\x00\xff",
            "yes": True, "no": False, "none": None, "ss": {"a", "b"}, "ns": {1, 2}, "bs": {b"x", b"y"}, "list": [1, "two", [3]], "map": {"deep": {"er": [True]}}}
    table.put_item(Item=item)
    found = table.get_item(Key={"id": 1}, ConsistentRead=True)["Item"]
    equal(found.pop("b"), Binary(b"\x00\xff"))
    equal({bytes(b) for b in found.pop("bs")}, {b"x", b"y"})
    del item["b"], item["bs"]
    equal(found, item)
    assert "Item" not in table.get_item(Key={"id": 2})
    equal(table.get_item(Key={"id": 1}, ProjectionExpression="#m.deep.er[0], #l[1]", ExpressionAttributeNames={"#m": "map", "#l": "list"})["Item"],
          {"map": {"deep": {"er": [True]}}, "list": ["two"]})


@check
def conditions_hold_or_refuse():
    table = resource.Table(ITEMS)
    table.put_item(Item={"id": 5, "v": 1}, ConditionExpression=Attr("id").not_exists())
    answer = refused("ConditionalCheckFailedException", table.put_item, Item={"id": 5, "v": 2}, ConditionExpression="attribute_not_exists(id)",
                     ReturnValuesOnConditionCheckFailure="ALL_OLD")
    equal(answer["Item"], {"id": {"N": "5"}, "v": {"N": "1"}})
    table.put_item(Item={"id": 5, "v": 3}, ConditionExpression=Attr("v").between(1, 2) & Attr("nope").not_exists())
    equal(table.delete_item(Key={"id": 5}, ConditionExpression="v = :v", ExpressionAttributeValues={":v": 3}, ReturnValues="ALL_OLD")["Attributes"]["v"], 3)
    refused("ConditionalCheckFailedException", table.delete_item, Key={"id": 5}, ConditionExpression="attribute_exists(id)")
    refused("ValidationException", table.put_item, Item={"wrong": 1})


@check
def updates_change_parts():
    table = resource.Table(ITEMS)
    table.put_item(Item={"id": 7, "n": 1, "l": ["a"], "m": {"x": 1, "y": 2}, "s": {"p", "q"}, "gone": 1})
    answer = table.update_item(
        Key={"id": 7}, UpdateExpression="SET n = n + :one, l = list_append(l, :l), m.x = if_not_exists(m.z, :nine) REMOVE gone ADD c :one DELETE s :p",
        ExpressionAttributeValues={":one": 1, ":l": ["b"], ":nine": 9, ":p": {"p"}}, ReturnValues="ALL_NEW")["Attributes"]
    equal(answer, {"id": 7, "n": 2, "l": ["a", "b"], "m": {"x": 9, "y": 2}, "s": {"q"}, "c": 1})
    answer = table.update_item(Key={"id": 7}, UpdateExpression="SET m.y = :v", ExpressionAttributeValues={":v": 5}, ReturnValues="UPDATED_OLD")
    equal(answer["Attributes"], {"m": {"y": 2}})
    answer = table.update_item(Key={"id": 8}, UpdateExpression="ADD hits :one", ExpressionAttributeValues={":one": 1}, ReturnValues="UPDATED_NEW")
    equal(answer["Attributes"], {"hits": 1})
    refused("ValidationException", table.update_item, Key={"id": 7}, UpdateExpression="SET id = :v", ExpressionAttributeValues={":v": 1})
    refused("ValidationException", table.update_item, Key={"id": 7}, UpdateExpression="SET name = :v", ExpressionAttributeValues={":v": 1})


@check
def batches_write_and_read():
    with resource.Table(ORDERS).batch_writer() as batch:
        for customer in ("acme", "zeta"):
            for n in range(30):
                batch.put_item(Item={"pk": f"CUSTOMER#{customer}", "sk": f"ORDER#{n:04}", "total": n, "note": f"n{n}",
                                     **({"status": "open"} if n % 3 == 0 else {})})
    answer = client.batch_get_item(RequestItems={ORDERS: {"Keys": [
        {"pk": {"S": "CUSTOMER#acme"}, "sk": {"S": f"ORDER#{n:04}"}} for n in (1, 2, 99)]}}, ReturnConsumedCapacity="TOTAL")
    equal(sorted(i["total"]["N"] for i in answer["Responses"][ORDERS]), ["1", "2"])
    equal(answer["UnprocessedKeys"], {})
    # Whether the item that is not there costs half a unit is not documented.
    assert answer["ConsumedCapacity"][0]["CapacityUnits"] in (1.0, 1.5)


@check
def queries_page_in_both_directions():
    table = resource.Table(ORDERS)
    acme = Key("pk").eq("CUSTOMER#acme")
    equal([i["total"] for i in table.query(KeyConditionExpression=acme & Key("sk").begins_with("ORDER#000"))["Items"]], list(range(10)))
    equal([i["total"] for i in table.query(KeyConditionExpression=acme & Key("sk").between("ORDER#0003", "ORDER#0005"), ScanIndexForward=False)["Items"]], [5, 4, 3])
    seen, arguments = [], {"KeyConditionExpression": acme, "Limit": 7, "FilterExpression": Attr("status").eq("open")}
    pages = 0
    while True:
        page = table.query(**arguments)
        pages += 1
        seen += [i["total"] for i in page["Items"]]
        assert page["ScannedCount"] <= 7
        if "LastEvaluatedKey" not in page:
            break
        arguments["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    equal((seen, pages), (list(range(0, 30, 3)), 5))
    equal(table.query(KeyConditionExpression=acme, Select="COUNT")["Count"], 30)
    refused("ValidationException", table.query, KeyConditionExpression=Key("sk").eq("x"))


@check
def indexes_are_sparse_sorted_and_projected():
    table = resource.Table(ORDERS)
    answer = table.query(IndexName="by_status", KeyConditionExpression=Key("status").eq("open") & Key("total").gte(20))
    equal(sorted((i["pk"], i["total"]) for i in answer["Items"]),
          sorted((f"CUSTOMER#{c}", n) for c in ("acme", "zeta") for n in (21, 24, 27)))
    equal([i["total"] for i in answer["Items"]], [21, 21, 24, 24, 27, 27])
    equal(set(answer["Items"][0]), {"pk", "sk", "status", "total", "note"})
    answer = table.query(IndexName="by_total", KeyConditionExpression=Key("pk").eq("CUSTOMER#acme") & Key("total").lt(3), ConsistentRead=True)
    equal([i["sk"] for i in answer["Items"]], ["ORDER#0000", "ORDER#0001", "ORDER#0002"])
    refused("ValidationException", table.query, IndexName="by_status", KeyConditionExpression=Key("status").eq("open"), ConsistentRead=True)
    table.update_item(Key={"pk": "CUSTOMER#acme", "sk": "ORDER#0000"}, UpdateExpression="REMOVE #s", ExpressionAttributeNames={"#s": "status"})
    equal(table.query(IndexName="by_status", KeyConditionExpression=Key("status").eq("open"), Select="COUNT")["Count"], 19)


@check
def scans_split_into_segments():
    table = resource.Table(ORDERS)
    keys = set()
    for segment in range(4):
        arguments = {"Segment": segment, "TotalSegments": 4, "Limit": 9}
        while True:
            page = table.scan(**arguments)
            for item in page["Items"]:
                key = item["pk"], item["sk"]
                assert key not in keys, f"{key} is in two segments"
                keys.add(key)
            if "LastEvaluatedKey" not in page:
                break
            arguments["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    equal(len(keys), 60)
    paginator = client.get_paginator("scan")
    equal(sum(page["Count"] for page in paginator.paginate(TableName=ORDERS, FilterExpression="#t >= :n", ExpressionAttributeNames={"#t": "total"},
                                                           ExpressionAttributeValues={":n": {"N": "28"}},
                                                           PaginationConfig={"PageSize": 11})), 4)


@check
def transactions_are_all_or_nothing():
    def put(key, condition="attribute_not_exists(id)"):
        return {"Put": {"TableName": ITEMS, "Item": {"id": {"N": str(key)}}, "ConditionExpression": condition}}
    client.transact_write_items(TransactItems=[put(100), put(101)])
    answer = refused("TransactionCanceledException", client.transact_write_items, TransactItems=[put(102), put(101)])
    equal([r["Code"] for r in answer["CancellationReasons"]], ["None", "ConditionalCheckFailed"])
    found = client.transact_get_items(TransactItems=[{"Get": {"TableName": ITEMS, "Key": {"id": {"N": str(n)}}}} for n in (100, 102)])["Responses"]
    equal(found, [{"Item": {"id": {"N": "100"}}}, {}])
    token = f"{PREFIX}-{time.time_ns()}"
    add = [{"Update": {"TableName": ITEMS, "Key": {"id": {"N": "100"}}, "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}}]
    for _ in range(2):
        client.transact_write_items(TransactItems=add, ClientRequestToken=token)
    equal(client.get_item(TableName=ITEMS, Key={"id": {"N": "100"}})["Item"]["n"], {"N": "1"})


@check
def partiql_reads_and_writes():
    client.execute_statement(Statement=f'INSERT INTO "{ITEMS}" VALUE {{\'id\': ?, \'name\': \'x\'}}', Parameters=[{"N": "200"}])
    refused("DuplicateItemException", client.execute_statement, Statement=f'INSERT INTO "{ITEMS}" VALUE {{\'id\': 200}}')
    client.execute_statement(Statement=f'UPDATE "{ITEMS}" SET "name" = \'y\' WHERE id = 200')
    equal(client.execute_statement(Statement=f'SELECT "name" FROM "{ITEMS}" WHERE id = 200')["Items"], [{"name": {"S": "y"}}])
    client.execute_statement(Statement=f'DELETE FROM "{ITEMS}" WHERE id = 200')
    equal(client.execute_statement(Statement=f'SELECT * FROM "{ITEMS}" WHERE id = 200')["Items"], [])


@check
def streams_hold_every_change_in_order():
    for value in (1, 2):
        client.put_item(TableName=ORDERS, Item={"pk": {"S": "streamed"}, "sk": {"S": "1"}, "v": {"N": str(value)}})
    client.put_item(TableName=ORDERS, Item={"pk": {"S": "streamed"}, "sk": {"S": "1"}, "v": {"N": "2"}})  # changes nothing
    client.delete_item(TableName=ORDERS, Key={"pk": {"S": "streamed"}, "sk": {"S": "1"}})
    arn = client.describe_table(TableName=ORDERS)["Table"]["LatestStreamArn"]
    equal([s["StreamArn"] for s in streams.list_streams(TableName=ORDERS)["Streams"]], [arn])
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        empty = 0
        while iterator and empty < 2:
            answer = streams.get_records(ShardIterator=iterator, Limit=50)
            empty = 0 if answer["Records"] else empty + 1
            found += answer["Records"]
            iterator = answer.get("NextShardIterator")
    mine = [r for r in found if r["dynamodb"]["Keys"]["pk"]["S"] == "streamed"]
    equal([r["eventName"] for r in mine], ["INSERT", "MODIFY", "REMOVE"])
    equal([r["dynamodb"].get("NewImage", {}).get("v") for r in mine], [{"N": "1"}, {"N": "2"}, None])
    numbers = [r["dynamodb"]["SequenceNumber"] for r in mine]
    equal(numbers, sorted(numbers, key=int))
    equal(len({r["eventID"] for r in found}), len(found))
    assert len(found) >= 64


@check
def older_parameters_still_work():
    client.put_item(TableName=ITEMS, Item={"id": {"N": "300"}, "v": {"N": "1"}}, Expected={"id": {"Exists": False}})
    refused("ConditionalCheckFailedException", client.put_item, TableName=ITEMS, Item={"id": {"N": "300"}}, Expected={"v": {"Value": {"N": "2"}}})
    client.update_item(TableName=ITEMS, Key={"id": {"N": "300"}}, AttributeUpdates={"v": {"Action": "ADD", "Value": {"N": "4"}}})
    equal(client.get_item(TableName=ITEMS, Key={"id": {"N": "300"}}, AttributesToGet=["v"])["Item"], {"v": {"N": "5"}})
    answer = client.query(TableName=ORDERS, KeyConditions={"pk": {"AttributeValueList": [{"S": "CUSTOMER#zeta"}], "ComparisonOperator": "EQ"},
                          "sk": {"AttributeValueList": [{"S": "ORDER#0027"}], "ComparisonOperator": "GT"}})
    equal(answer["Count"], 2)


@check
def time_to_live_is_kept():
    client.update_time_to_live(TableName=ITEMS, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    answer = client.describe_time_to_live(TableName=ITEMS)["TimeToLiveDescription"]
    equal(answer["AttributeName"], "expires")
    assert answer["TimeToLiveStatus"] in ("ENABLED", "ENABLING")


@check
def tags_are_kept():
    arn = client.describe_table(TableName=ITEMS)["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "one"}, {"Key": "x", "Value": ""}])
    client.untag_resource(ResourceArn=arn, TagKeys=["x"])
    equal(client.list_tags_of_resource(ResourceArn=arn)["Tags"], [{"Key": "team", "Value": "one"}])


@check
def an_index_is_added_later_and_dropped():
    client.update_table(TableName=ITEMS, AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}, {"AttributeName": "n", "AttributeType": "N"}],
                        GlobalSecondaryIndexUpdates=[{"Create": {"IndexName": "by_n", "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                                                      "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}])
    until = time.monotonic() + 60
    while True:
        index = client.describe_table(TableName=ITEMS)["Table"]["GlobalSecondaryIndexes"][0]
        if index["IndexStatus"] == "ACTIVE":
            break
        assert time.monotonic() < until, index
        time.sleep(0.1)
    answer = client.query(TableName=ITEMS, IndexName="by_n", KeyConditionExpression="n = :n", ExpressionAttributeValues={":n": {"N": "2"}})
    equal([i["id"] for i in answer["Items"]], [{"N": "7"}])
    client.update_table(TableName=ITEMS, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by_n"}}])
    while client.describe_table(TableName=ITEMS)["Table"].get("GlobalSecondaryIndexes"):
        assert time.monotonic() < until
        time.sleep(0.1)


@check
def a_model_of_nosql_workbench_is_loaded():
    """A model file in Workbench's form, brought in as its commit does: CreateTable for each table, then its sample data."""
    model = json.loads((Path(__file__).parent / "model.json").read_text())
    for table in model["DataModel"]:
        name = f"{PREFIX}_{table['TableName']}"
        units = table["ProvisionedCapacitySettings"]["ProvisionedThroughput"]
        indexes = table["GlobalSecondaryIndexes"]
        definitions = {part["AttributeName"]: part["AttributeType"] for of in [table, *indexes] for part in of["KeyAttributes"].values()}
        schema = lambda of: [{"AttributeName": of["KeyAttributes"][part]["AttributeName"], "KeyType": kind}
                             for part, kind in (("PartitionKey", "HASH"), ("SortKey", "RANGE")) if part in of["KeyAttributes"]]
        client.create_table(
            TableName=name, BillingMode=table["BillingMode"], ProvisionedThroughput=units, KeySchema=schema(table),
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in definitions.items()],
            GlobalSecondaryIndexes=[{"IndexName": index["IndexName"], "KeySchema": schema(index), "Projection": index["Projection"],
                                     "ProvisionedThroughput": units} for index in indexes])
        client.get_waiter("table_exists").wait(TableName=name)
        answer = client.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": item}} for item in table["TableData"]]})
        equal(answer["UnprocessedItems"], {})
        loans = client.query(TableName=name, IndexName="ByBook", KeyConditionExpression="Book = :b", ExpressionAttributeValues={":b": {"S": "Middlemarch"}})
        equal([item["PK"]["S"] for item in loans["Items"]], ["MEMBER#2", "MEMBER#1"])
        client.delete_table(TableName=name)


@check
def tables_are_deleted():
    for name in (ORDERS, ITEMS):
        client.delete_table(TableName=name)
        client.get_waiter("table_not_exists").wait(TableName=name)
    assert not {ORDERS, ITEMS} & set(client.list_tables()["TableNames"])


def main():
    failed = 0
    wanted = os.environ.get("CHECK", "")
    for function in CHECKS:
        if wanted not in function.__name__:
            continue
        try:
            function()
            print(f"ok {function.__name__}", flush=True)
        except Exception as error:  # noqa: BLE001: every failure is told
            failed += 1
            print(f"FAIL {function.__name__}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
