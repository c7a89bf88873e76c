"""cqlengine, the object mapper that comes with both Python drivers."""

import os
import uuid
from decimal import Decimal

os.environ["CQLENG_ALLOW_SCHEMA_MANAGEMENT"] = "1"

from cassandra.cqlengine import columns, connection, functions  # noqa: E402
from cassandra.cqlengine.management import create_keyspace_simple, drop_keyspace, drop_table, sync_table, sync_type  # noqa: E402
from cassandra.cqlengine.models import Model  # noqa: E402
from cassandra.cqlengine.query import BatchQuery, DoesNotExist, LWTException  # noqa: E402
from cassandra.cqlengine.usertype import UserType  # noqa: E402

from scenario import HOST, KEYSPACE, PORT, check, eq, raises  # noqa: E402

SPACE = f"{KEYSPACE}_mapper"


class Place(UserType):
    __keyspace__ = SPACE
    street = columns.Text()
    zip = columns.Integer()


class Book(Model):
    __keyspace__ = SPACE
    __options__ = {"default_time_to_live": 0, "comment": "books by shelf"}
    shelf = columns.Text(partition_key=True)
    id = columns.UUID(primary_key=True, default=uuid.uuid4)
    rank = columns.Integer(primary_key=True, clustering_order="DESC")
    title = columns.Text(required=True)
    owner = columns.Text(static=True)
    tags = columns.Set(columns.Text)
    notes = columns.List(columns.Text)
    prices = columns.Map(columns.Text, columns.Decimal)
    place = columns.UserDefinedType(Place)


class Hits(Model):
    __keyspace__ = SPACE
    page = columns.Text(primary_key=True)
    hits = columns.Counter()


@check("mapper: cqlengine makes and changes tables")
def sync(world):
    connection.setup([HOST], KEYSPACE, port=PORT, protocol_version=5)
    drop_keyspace(SPACE)
    create_keyspace_simple(SPACE, 1)
    sync_type(SPACE, Place)
    sync_table(Book)
    sync_table(Hits)
    sync_table(Book)
    metadata = connection.get_cluster().metadata
    table = metadata.keyspaces[SPACE].tables["book"]
    eq([c.name for c in table.primary_key], ["shelf", "id", "rank"])

    class Wider(Book):
        __table_name__ = "book"
        __keyspace__ = SPACE
        isbn = columns.Ascii()
    sync_table(Wider)
    assert "isbn" in metadata.keyspaces[SPACE].tables["book"].columns


@check("mapper: cqlengine creates, reads, updates, deletes")
def crud(world):
    book = Book.create(shelf="a", rank=1, title="One", owner="Ann", tags={"x", "y"}, notes=["n1"], place=Place(street="S", zip=1))
    for i in range(2, 6):
        Book.create(shelf="a", rank=i, title=f"Book {i}")
    found = Book.get(shelf="a", id=book.id, rank=1)
    eq((found.title, found.owner, found.tags, found.notes, found.place.zip), ("One", "Ann", {"x", "y"}, ["n1"], 1))
    found.title = "Uno"
    found.tags.add("z")
    found.notes.append("n2")
    found.prices["eur"] = Decimal("1.50")
    found.place = Place(street="S", zip=2)
    found.save()
    found = Book.get(shelf="a", id=book.id, rank=1)
    eq((found.title, sorted(found.tags), found.notes, str(found.prices["eur"].normalize()), found.place.zip), ("Uno", ["x", "y", "z"], ["n1", "n2"], "1.5", 2))
    eq(Book.objects(shelf="a").count(), 5)
    eq(len(list(Book.objects(shelf="a").limit(3))), 3)
    Book.objects(shelf="a", id=book.id, rank=1).update(title="Eins", notes__append=["n3"], tags__remove={"x"})
    found = Book.get(shelf="a", id=book.id, rank=1)
    eq((found.title, found.notes, sorted(found.tags)), ("Eins", ["n1", "n2", "n3"], ["y", "z"]))
    found.delete()
    raises(DoesNotExist, Book.get, shelf="a", id=book.id, rank=1)
    eq(len(list(Book.objects.filter(title="Book 3").allow_filtering())), 1)
    eq(len(list(Book.objects.filter(pk__token__gt=functions.Token("a")))) + len(list(Book.objects.filter(pk__token__lte=functions.Token("a")))), 4)


@check("mapper: cqlengine ttl, timestamp, batch, lwt, counter")
def more(world):
    key = uuid.uuid4()
    Book.ttl(500).create(shelf="t", id=key, rank=1, title="brief")
    row = world.session.execute(f"SELECT ttl(title) AS t FROM {SPACE}.book WHERE shelf = 't'").one()
    assert 490 <= row.t <= 500, row
    with BatchQuery() as batch:
        for i in range(3):
            Book.batch(batch).create(shelf="batch", rank=i, title="b")
    eq(Book.objects(shelf="batch").count(), 3)
    Book.if_not_exists().create(shelf="lwt", id=key, rank=1, title="first")
    raises(LWTException, Book.if_not_exists().create, shelf="lwt", id=key, rank=1, title="second")
    Book.objects(shelf="lwt", id=key, rank=1).iff(title="first").update(title="third")
    raises(LWTException, Book.objects(shelf="lwt", id=key, rank=1).iff(title="first").update, title="fourth")
    Hits.create(page="p").update(hits=3)
    hits = Hits.get(page="p")
    hits.hits += 4
    hits.save()
    eq(Hits.get(page="p").hits, 7)
    drop_table(Hits)
    drop_keyspace(SPACE)
    connection.unregister_connection("default")
