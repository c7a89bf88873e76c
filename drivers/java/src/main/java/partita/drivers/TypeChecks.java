package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.type.TupleType;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.api.core.type.codec.MappingCodec;
import com.datastax.oss.driver.api.core.type.codec.TypeCodecs;
import com.datastax.oss.driver.api.core.type.reflect.GenericType;
import com.datastax.oss.protocol.internal.util.Bytes;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Every CQL type travels both ways: written as CQL text and as bound values. */
final class TypeChecks {
  record Scalar(String name, String type, String literal, Object value) {}

  private static final String KEY = "123e4567-e89b-12d3-a456-426614174000";

  private static List<Scalar> scalars() throws Exception {
    return List.of(
        new Scalar("c_ascii", "ascii", "'ascii'", "ascii"),
        new Scalar("c_bigint", "bigint", "-9223372036854775808", Long.MIN_VALUE),
        new Scalar("c_blob", "blob", "0x00ff10", Bytes.fromHexString("0x00ff10")),
        new Scalar("c_boolean", "boolean", "true", true),
        new Scalar("c_date", "date", "'1969-12-31'", LocalDate.parse("1969-12-31")),
        new Scalar("c_decimal", "decimal", "-123456789.000000000987", new BigDecimal("-123456789.000000000987")),
        new Scalar("c_double", "double", "1.5E-300", 1.5e-300),
        new Scalar("c_duration", "duration", "1y2mo3d4h5m6s7ms8us9ns", CqlDuration.newInstance(14, 3, 14706007008009L)),
        new Scalar("c_float", "float", "3.25", 3.25f),
        new Scalar("c_inet", "inet", "'192.0.2.7'", InetAddress.getByName("192.0.2.7")),
        new Scalar("c_inet6", "inet", "'2001:db8::1'", InetAddress.getByName("2001:db8::1")),
        new Scalar("c_int", "int", "-2147483648", Integer.MIN_VALUE),
        new Scalar("c_smallint", "smallint", "-32768", Short.MIN_VALUE),
        new Scalar("c_text", "text", "'Grüße, 世界 🎼, it''s'", "Grüße, 世界 🎼, it's"),
        new Scalar("c_time", "time", "'23:59:59.999999999'", LocalTime.MAX),
        new Scalar("c_timestamp", "timestamp", "'1960-02-29T12:34:56.789Z'", Instant.parse("1960-02-29T12:34:56.789Z")),
        new Scalar("c_timeuuid", "timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", UUID.fromString("50554d6e-29bb-11e5-b345-feff819cdc9f")),
        new Scalar("c_tinyint", "tinyint", "-128", Byte.MIN_VALUE),
        new Scalar("c_uuid", "uuid", KEY, UUID.fromString(KEY)),
        new Scalar("c_varint", "varint", "123456789012345678901234567890", new BigInteger("123456789012345678901234567890")));
  }

  static void register() {
    check("types: scalars as CQL text and bound", TypeChecks::scalarTypes);
    check("types: collections, tuples, nesting", TypeChecks::collections);
    check("types: user-defined types", TypeChecks::userTypes);
    check("types: vectors", TypeChecks::vectors);
    check("types: a codec of the application", TypeChecks::ownCodec);
  }

  private static void scalarTypes(World w) throws Exception {
    List<Scalar> scalars = scalars();
    String names = scalars.stream().map(Scalar::name).collect(Collectors.joining(", "));
    w.execute("CREATE TABLE scalars (id int PRIMARY KEY, " + scalars.stream().map(s -> s.name() + " " + s.type()).collect(Collectors.joining(", ")) + ")",
        "INSERT INTO scalars (id, " + names + ") VALUES (1, " + scalars.stream().map(Scalar::literal).collect(Collectors.joining(", ")) + ")");
    PreparedStatement insert = w.session.prepare("INSERT INTO scalars (id, " + names + ") VALUES (?" + ", ?".repeat(scalars.size()) + ")");
    List<Object> values = new ArrayList<>(List.of(2));
    scalars.forEach(s -> values.add(s.value()));
    w.session.execute(insert.bind(values.toArray()));
    for (int id = 1; id <= 2; id++) {
      Row row = w.one("SELECT * FROM scalars WHERE id = ?", id);
      for (Scalar s : scalars) {
        equal(row.getObject(s.name()), s.value(), "row " + id + ", " + s.name());
      }
    }
    Object[] nulls = Collections.nCopies(scalars.size() + 1, null).toArray();
    nulls[0] = 3;
    w.session.execute(insert.bind(nulls));
    Row row = w.one("SELECT * FROM scalars WHERE id = ?", 3);
    for (Scalar s : scalars) {
      truth(row.isNull(s.name()), s.name());
    }
    w.session.execute(w.session.prepare("INSERT INTO scalars (id, c_text, c_blob) VALUES (?, ?, ?)").bind(4, "", Bytes.fromHexString("0x")));
    row = w.one("SELECT c_text, c_blob, c_ascii FROM scalars WHERE id = ?", 4);
    equal(row.getString(0), "", "empty text");
    equal(row.getByteBuffer(1).remaining(), 0, "empty blob");
    truth(row.isNull(2), "null text");
  }

  private static void collections(World w) {
    w.execute("CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, "
            + "nested map<uuid, frozen<list<frozen<set<int>>>>>, t tuple<int, text, double>)",
        "INSERT INTO collections (id, l, s, m, nested, t) VALUES (1, [3, 1, 2], {'b', 'a'}, {'z': 1, 'a': 2}, {" + KEY + ": [{2, 1}, {}]}, (1, null, 2.5))");
    TupleType type = (TupleType) w.session.getMetadata().getKeyspace(w.keyspace).orElseThrow().getTable("collections").orElseThrow().getColumn("t").orElseThrow().getType();
    TupleValue tuple = type.newValue(1, null, 2.5);
    Map<UUID, List<Set<Integer>>> nested = Map.of(UUID.fromString(KEY), List.of(Set.of(2, 1), Set.of()));
    w.session.execute(w.session.prepare("INSERT INTO collections (id, l, s, m, nested, t) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(2, List.of(3, 1, 2), Set.of("b", "a"), Map.of("z", 1L, "a", 2L), nested, tuple));
    for (int id = 1; id <= 2; id++) {
      Row row = w.one("SELECT * FROM collections WHERE id = ?", id);
      equal(row.getList("l", Integer.class), List.of(3, 1, 2), "list");
      equal(List.copyOf(row.getSet("s", String.class)), List.of("a", "b"), "set");
      equal(row.getMap("m", String.class, Long.class), Map.of("z", 1L, "a", 2L), "map");
      equal(row.get("nested", new GenericType<Map<UUID, List<Set<Integer>>>>() {}), nested, "nested");
      equal(row.getTupleValue("t"), tuple, "tuple");
    }
    w.execute("UPDATE collections SET l = l + [9], s = s - {'a'}, m['n'] = 5 WHERE id = 1");
    Row row = w.one("SELECT l, s, m FROM collections WHERE id = ?", 1);
    equal(row.getList(0, Integer.class), List.of(3, 1, 2, 9), "list");
    equal(row.getSet(1, String.class), Set.of("b"), "set");
    equal(row.getMap(2, String.class, Long.class), Map.of("z", 1L, "a", 2L, "n", 5L), "map");
  }

  private static void userTypes(World w) {
    String home = "{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}";
    w.execute("CREATE TABLE people (id int PRIMARY KEY, p frozen<person>, homes list<frozen<address>>, a address)",
        "INSERT INTO people (id, p, homes, a) VALUES (1, {name: 'Ann', home: " + home + ", phones: {'mobile': '1'}}, [" + home + "], " + home + ")");
    var ks = w.session.getMetadata().getKeyspace(w.keyspace).orElseThrow();
    UserDefinedType person = ks.getUserDefinedType("person").orElseThrow();
    UserDefinedType address = ks.getUserDefinedType("address").orElseThrow();
    UdtValue rue = address.newValue("Rue 1", 75001, Set.of("red", "blue"));
    UdtValue ann = person.newValue("Ann", rue, Map.of("mobile", "1"));
    w.session.execute(w.session.prepare("INSERT INTO people (id, p, homes, a) VALUES (?, ?, ?, ?)").bind(2, ann, List.of(rue), rue));
    for (int id = 1; id <= 2; id++) {
      Row row = w.one("SELECT * FROM people WHERE id = ?", id);
      equal(row.getUdtValue("p").getString("name"), "Ann", "name");
      equal(row.getUdtValue("p").getUdtValue("home").getInt("zip"), 75001, "zip");
      equal(row.getUdtValue("a").getSet("tags", String.class), Set.of("red", "blue"), "tags");
      equal(row.getList("homes", UdtValue.class).get(0).getString("street"), "Rue 1", "street");
    }
    w.execute("UPDATE people SET a.zip = 2 WHERE id = 1");
    equal(w.one("SELECT a FROM people WHERE id = ?", 1).getUdtValue(0).getInt("zip"), 2, "changed zip");
  }

  private static void vectors(World w) {
    w.execute("CREATE TABLE vectors (id int PRIMARY KEY, v vector<float, 3>)", "INSERT INTO vectors (id, v) VALUES (1, [1.5, -2, 0.25])");
    CqlVector<Float> vector = CqlVector.newInstance(1.5f, -2f, 0.25f);
    w.session.execute(w.session.prepare("INSERT INTO vectors (id, v) VALUES (?, ?)").bind(2, vector));
    for (int id = 1; id <= 2; id++) {
      equal(w.one("SELECT v FROM vectors WHERE id = ?", id).getVector(0, Float.class), vector, "row " + id);
    }
  }

  record Point(int x, int y) {}

  /** Keeps a point as text, in a form of its own. */
  private static final class PointCodec extends MappingCodec<String, Point> {
    PointCodec() {
      super(TypeCodecs.TEXT, GenericType.of(Point.class));
    }

    @Override
    protected Point innerToOuter(String text) {
      if (text == null) return null;
      String[] parts = text.split("/");
      return new Point(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }

    @Override
    protected String outerToInner(Point point) {
      return point == null ? null : point.x() + "/" + point.y();
    }
  }

  private static void ownCodec(World w) {
    w.execute("CREATE TABLE points (id int PRIMARY KEY, p text, l list<text>)");
    var session = w.connect(b -> b.withKeyspace(w.keyspace).addTypeCodecs(new PointCodec()));
    Point point = new Point(3, -4);
    session.execute(session.prepare("INSERT INTO points (id, p) VALUES (?, ?)").bind().setInt(0, 1).set(1, point, Point.class));
    equal(session.execute("SELECT p FROM points WHERE id = 1").one().getString(0), "3/-4", "as text");
    equal(session.execute("SELECT p FROM points WHERE id = 1").one().get(0, Point.class), point, "as a point");
    session.execute(session.prepare("INSERT INTO points (id, l) VALUES (2, ?)").bind().setList(0, List.of(point), Point.class));
    equal(session.execute("SELECT l FROM points WHERE id = 2").one().getList(0, Point.class), List.of(point), "in a list");
  }

  private TypeChecks() {}
}
