"""PynamoDB, and a reader of a stream as pollers are: leases in a table, checkpoints, shards to their end. Prints `ok NAME`, `FAIL NAME: why`."""

import os
import sys
import threading
import time
import traceback

import boto3
from pynamodb.attributes import ListAttribute, MapAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute, VersionAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import DeleteError, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

ENDPOINT, PREFIX = os.environ["DYNAMO_ENDPOINT"], os.environ.get("DYNAMO_PREFIX", "orm")
os.environ.setdefault("AWS_ACCESS_KEY_ID", "local")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "local")
ACCESS = dict(region_name="us-east-1", endpoint_url=ENDPOINT)
ITEMS = 300


class ByAuthor(GlobalSecondaryIndex):
    class Meta:
        index_name = "by-author"
        projection = AllProjection()

    author = UnicodeAttribute(hash_key=True)
    views = NumberAttribute(range_key=True)


class Thread(Model):
    class Meta:
        table_name, host, region, billing_mode = f"{PREFIX}_thread", ENDPOINT, "us-east-1", "PAY_PER_REQUEST"

    forum = UnicodeAttribute(hash_key=True)
    subject = UnicodeAttribute(range_key=True)
    author = UnicodeAttribute(null=True)
    views = NumberAttribute(default=0)
    tags = UnicodeSetAttribute(null=True)
    notes = ListAttribute(default=list)
    place = MapAttribute(null=True)
    version = VersionAttribute()
    by_author = ByAuthor()


def models_are_saved_queried_and_versioned():
    Thread.create_table(wait=True)
    with Thread.batch_write() as batch:
        for n in range(60):
            batch.save(Thread("python", f"s{n:02}", author=f"a{n % 3}", views=n, tags={"x"}))
    first = Thread.get("python", "s01", consistent_read=True)
    other = Thread.get("python", "s01")
    first.update(actions=[Thread.views.add(10), Thread.notes.set(Thread.notes.append(["n"])), Thread.tags.add({"y"})], condition=Thread.author == "a1")
    assert (first.views, first.notes, first.tags) == (11, ["n"], {"x", "y"})
    try:
        other.save()
        raise AssertionError("an older version was saved")
    except PutError as error:
        assert error.cause_response_code == "ConditionalCheckFailedException", error
    assert [t.subject for t in Thread.query("python", Thread.subject.between("s10", "s12"), scan_index_forward=False)] == ["s12", "s11", "s10"]
    assert Thread.by_author.count("a0", ByAuthor.views > 30) == 9
    assert len(list(Thread.scan(Thread.tags.contains("x"), page_size=7))) == 60
    assert sum(1 for _ in Thread.batch_get([("python", f"s{n:02}") for n in range(60)])) == 60


def transactions_hold_or_fail_as_one():
    connection = Connection(region="us-east-1", host=ENDPOINT)
    with TransactWrite(connection=connection) as write:
        write.save(Thread("tx", "1", views=1), condition=Thread.forum.does_not_exist())
        write.save(Thread("tx", "2"))
    try:
        with TransactWrite(connection=connection) as write:
            write.save(Thread("tx", "3"))
            write.condition_check(Thread, "tx", "1", condition=Thread.views > 5)
        raise AssertionError("a transaction whose condition fails was made")
    except TransactWriteError as error:
        # PynamoDB sends checks first.
        assert [reason and reason.code for reason in error.cancellation_reasons] == ["ConditionalCheckFailed", None], error.cancellation_reasons
    with TransactGet(connection=connection) as get:
        futures = [get.get(Thread, "tx", n) for n in "12"]
    assert [future.get().subject for future in futures] == ["1", "2"]
    assert Thread.count("tx") == 2
    for call, kind in ((lambda: Thread("tx", "1").delete(condition=Thread.views > 5), DeleteError),
                       (lambda: Thread("tx", "1").update(actions=[Thread.views.set(2)], condition=Thread.views > 5), UpdateError)):
        try:
            call()
            raise AssertionError("not refused")
        except kind as error:
            assert error.cause_response_code == "ConditionalCheckFailedException", error


class Poller(threading.Thread):
    """Takes leases with legacy conditions, as the KCL does, and reads its shards to their end."""

    def __init__(self, name, arn, leases):
        super().__init__(name=name)
        self.db, self.streams = boto3.client("dynamodb", **ACCESS), boto3.client("dynamodbstreams", **ACCESS)
        self.arn, self.leases, self.seen, self.fault = arn, leases, [], None

    def run(self):
        try:
            shards = self.streams.describe_stream(StreamArn=self.arn)["StreamDescription"]["Shards"]
            for shard in shards:
                if self.take(shard["ShardId"]):
                    self.read(shard["ShardId"])
        except Exception as error:
            self.fault = error

    def take(self, shard):
        try:
            self.db.update_item(
                TableName=self.leases, Key={"leaseKey": {"S": shard}},
                AttributeUpdates={"leaseOwner": {"Action": "PUT", "Value": {"S": self.name}}, "leaseCounter": {"Action": "ADD", "Value": {"N": "1"}}},
                Expected={"leaseOwner": {"Exists": False}})
            return True
        except self.db.exceptions.ConditionalCheckFailedException:
            return False

    def read(self, shard):
        iterator = self.streams.get_shard_iterator(StreamArn=self.arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while iterator:
            page = self.streams.get_records(ShardIterator=iterator, Limit=50)
            self.seen += page["Records"]
            if page["Records"]:
                last = page["Records"][-1]["dynamodb"]["SequenceNumber"]
                self.db.update_item(TableName=self.leases, Key={"leaseKey": {"S": shard}}, UpdateExpression="SET checkpoint = :c",
                                    ConditionExpression="leaseOwner = :me", ExpressionAttributeValues={":c": {"S": last}, ":me": {"S": self.name}})
            iterator = page.get("NextShardIterator")


def a_stream_is_read_to_its_end_by_pollers_with_leases():
    db, name, leases = boto3.client("dynamodb", **ACCESS), f"{PREFIX}_events", f"{PREFIX}_leases"
    for table, key, more in ((name, "pk", {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}), (leases, "leaseKey", {})):
        db.create_table(TableName=table, BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}], **more)
        db.get_waiter("table_exists").wait(TableName=table)
    arn = db.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    for n in range(ITEMS):
        db.put_item(TableName=name, Item={"pk": {"S": f"k{n % 40}"}, "n": {"N": str(n)}})
    # A stream that is turned off ends: its shards are closed and can be read to their end.
    db.update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
    pollers = [Poller(f"worker{n}", arn, leases) for n in range(2)]
    for poller in pollers:
        poller.start()
    deadline = time.monotonic() + 60
    for poller in pollers:
        poller.join(max(0, deadline - time.monotonic()))
        assert not poller.is_alive(), "a poller did not come to the end of its shards"
        assert poller.fault is None, poller.fault
    seen = [record for poller in pollers for record in poller.seen]
    assert sorted(int(record["dynamodb"]["NewImage"]["n"]["N"]) for record in seen) == list(range(ITEMS))
    assert len({record["eventID"] for record in seen}) == ITEMS
    images = {}
    for record in seen:
        change = record["dynamodb"]
        assert change.get("OldImage") == images.get(change["Keys"]["pk"]["S"]), "records of an item are out of order"
        images[change["Keys"]["pk"]["S"]] = change["NewImage"]


CHECKS = [models_are_saved_queried_and_versioned, transactions_hold_or_fail_as_one, a_stream_is_read_to_its_end_by_pollers_with_leases]

if __name__ == "__main__":
    failed = False
    for check in CHECKS:
        try:
            check()
            print(f"ok {check.__name__}", flush=True)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            failed = True
            print(f"FAIL {check.__name__}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)
    sys.exit(failed)
