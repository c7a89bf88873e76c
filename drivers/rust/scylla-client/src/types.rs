//! Every CQL type travels both ways: written as CQL text and as bound values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use scylla::value::{CqlDate, CqlDuration, CqlTime, CqlTimestamp, CqlTimeuuid};
use scylla::{DeserializeRow, DeserializeValue, SerializeRow, SerializeValue};
use uuid::Uuid;

use crate::world::{Outcome, World, equal};

const KEY: &str = "123e4567-e89b-12d3-a456-426614174000";

#[derive(Debug, Clone, PartialEq, SerializeRow, DeserializeRow)]
struct Scalars {
    id: i32,
    c_ascii: Option<String>,
    c_bigint: Option<i64>,
    c_blob: Option<Vec<u8>>,
    c_boolean: Option<bool>,
    c_date: Option<CqlDate>,
    c_decimal: Option<BigDecimal>,
    c_double: Option<f64>,
    c_duration: Option<CqlDuration>,
    c_float: Option<f32>,
    c_inet: Option<IpAddr>,
    c_inet6: Option<IpAddr>,
    c_int: Option<i32>,
    c_smallint: Option<i16>,
    c_text: Option<String>,
    c_time: Option<CqlTime>,
    c_timestamp: Option<CqlTimestamp>,
    c_timeuuid: Option<CqlTimeuuid>,
    c_tinyint: Option<i8>,
    c_uuid: Option<Uuid>,
    c_varint: Option<BigInt>,
}

const COLUMNS: &str = "id, c_ascii, c_bigint, c_blob, c_boolean, c_date, c_decimal, c_double, c_duration, c_float, c_inet, \
    c_inet6, c_int, c_smallint, c_text, c_time, c_timestamp, c_timeuuid, c_tinyint, c_uuid, c_varint";

fn wanted(id: i32) -> Result<Scalars, Box<dyn std::error::Error + Send + Sync>> {
    Ok(Scalars {
        id,
        c_ascii: Some("ascii".into()),
        c_bigint: Some(i64::MIN),
        c_blob: Some(vec![0, 255, 16]),
        c_boolean: Some(true),
        c_date: Some(CqlDate((1 << 31) - 1)),
        c_decimal: Some(BigDecimal::from_str("-123456789.000000000987")?),
        c_double: Some(1.5e-300),
        c_duration: Some(CqlDuration { months: 14, days: 3, nanoseconds: 14_706_007_008_009 }),
        c_float: Some(3.25),
        c_inet: Some("192.0.2.7".parse()?),
        c_inet6: Some("2001:db8::1".parse()?),
        c_int: Some(i32::MIN),
        c_smallint: Some(i16::MIN),
        c_text: Some("Grüße, 世界 🎼, it's".into()),
        c_time: Some(CqlTime(86_399_999_999_999)),
        c_timestamp: Some(CqlTimestamp(-310_476_303_211)),
        c_timeuuid: Some(CqlTimeuuid::from_str("50554d6e-29bb-11e5-b345-feff819cdc9f")?),
        c_tinyint: Some(i8::MIN),
        c_uuid: Some(Uuid::from_str(KEY)?),
        c_varint: Some(BigInt::from_str("123456789012345678901234567890")?),
    })
}

async fn read(w: &World, id: i32) -> Result<Scalars, Box<dyn std::error::Error + Send + Sync>> {
    let text = format!("SELECT {COLUMNS} FROM scalars WHERE id = ?");
    Ok(w.session().query_unpaged(text, (id,)).await?.into_rows_result()?.single_row()?)
}

pub async fn scalars(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE scalars (id int PRIMARY KEY, c_ascii ascii, c_bigint bigint, c_blob blob, c_boolean boolean, c_date date, \
         c_decimal decimal, c_double double, c_duration duration, c_float float, c_inet inet, c_inet6 inet, c_int int, \
         c_smallint smallint, c_text text, c_time time, c_timestamp timestamp, c_timeuuid timeuuid, c_tinyint tinyint, \
         c_uuid uuid, c_varint varint)",
        &format!(
            "INSERT INTO scalars ({COLUMNS}) VALUES (1, 'ascii', -9223372036854775808, 0x00ff10, true, '1969-12-31', \
             -123456789.000000000987, 1.5E-300, 1y2mo3d4h5m6s7ms8us9ns, 3.25, '192.0.2.7', '2001:db8::1', -2147483648, -32768, \
             'Grüße, 世界 🎼, it''s', '23:59:59.999999999', '1960-02-29T12:34:56.789Z', 50554d6e-29bb-11e5-b345-feff819cdc9f, \
             -128, {KEY}, 123456789012345678901234567890)"
        ),
    ])
    .await?;
    let marks = vec!["?"; 21].join(", ");
    let insert = w.session().prepare(format!("INSERT INTO scalars ({COLUMNS}) VALUES ({marks})")).await?;
    w.session().execute_unpaged(&insert, &wanted(2)?).await?;
    equal("literal", read(w, 1).await?, wanted(1)?)?;
    equal("bound", read(w, 2).await?, wanted(2)?)?;
    w.session().query_unpaged("INSERT INTO scalars (id, c_text, c_blob) VALUES (?, ?, ?)", (3, "", Vec::<u8>::new())).await?;
    let blank = read(w, 3).await?;
    equal("empty is not null", (blank.c_text, blank.c_blob, blank.c_ascii), (Some(String::new()), Some(vec![]), None))
}

type Nested = HashMap<Uuid, Vec<BTreeSet<i32>>>;
type CollectionRow = (Vec<i32>, BTreeSet<String>, BTreeMap<String, i64>, Nested, (i32, Option<String>, f64));

pub async fn collections(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, \
         nested map<uuid, frozen<list<frozen<set<int>>>>>, t tuple<int, text, double>)",
        &format!(
            "INSERT INTO collections (id, l, s, m, nested, t) VALUES (1, [3, 1, 2], {{'b', 'a'}}, {{'z': 1, 'a': 2}}, \
             {{{KEY}: [{{2, 1}}, {{}}]}}, (1, null, 2.5))"
        ),
    ])
    .await?;
    let row: CollectionRow = (
        vec![3, 1, 2],
        BTreeSet::from(["a".to_owned(), "b".to_owned()]),
        BTreeMap::from([("z".to_owned(), 1), ("a".to_owned(), 2)]),
        HashMap::from([(Uuid::from_str(KEY)?, vec![BTreeSet::from([1, 2]), BTreeSet::new()])]),
        (1, None, 2.5),
    );
    let insert = w.session().prepare("INSERT INTO collections (id, l, s, m, nested, t) VALUES (2, ?, ?, ?, ?, ?)").await?;
    w.session().execute_unpaged(&insert, &row).await?;
    for id in [1, 2] {
        let rows = w
            .session()
            .query_unpaged("SELECT l, s, m, nested, t FROM collections WHERE id = ?", (id,))
            .await?
            .into_rows_result()?;
        equal("row", rows.single_row::<CollectionRow>()?, row.clone())?;
    }
    w.session()
        .query_unpaged("UPDATE collections SET l = l + ?, s = s - ?, m[?] = ? WHERE id = 1", (vec![9], vec!["a"], "n", 5_i64))
        .await?;
    let rows = w.session().query_unpaged("SELECT l, s, m FROM collections WHERE id = 1", ()).await?.into_rows_result()?;
    let (l, s, m): (Vec<i32>, Vec<String>, BTreeMap<String, i64>) = rows.single_row()?;
    equal("changed", (l, s, m["n"]), (vec![3, 1, 2, 9], vec!["b".to_owned()], 5))
}

#[derive(Debug, Clone, PartialEq, SerializeValue, DeserializeValue)]
struct Address {
    street: Option<String>,
    zip: Option<i32>,
    tags: Option<BTreeSet<String>>,
}

#[derive(Debug, Clone, PartialEq, SerializeValue, DeserializeValue)]
struct Person {
    name: String,
    home: Address,
    phones: HashMap<String, String>,
}

pub async fn user_types(w: &World) -> Outcome {
    let literal = "{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}";
    w.run(&[
        "CREATE TABLE people (id int PRIMARY KEY, p frozen<person>, homes list<frozen<address>>, a address)",
        &format!(
            "INSERT INTO people (id, p, homes, a) VALUES (1, {{name: 'Ann', home: {literal}, phones: {{'mobile': '1'}}}}, \
             [{literal}], {literal})"
        ),
    ])
    .await?;
    let home = Address {
        street: Some("Rue 1".into()),
        zip: Some(75001),
        tags: Some(BTreeSet::from(["red".to_owned(), "blue".to_owned()])),
    };
    let ann = Person { name: "Ann".into(), home: home.clone(), phones: HashMap::from([("mobile".into(), "1".into())]) };
    w.session()
        .query_unpaged("INSERT INTO people (id, p, homes, a) VALUES (2, ?, ?, ?)", (&ann, vec![home.clone()], &home))
        .await?;
    for id in [1, 2] {
        let rows = w.session().query_unpaged("SELECT p, homes, a FROM people WHERE id = ?", (id,)).await?.into_rows_result()?;
        let found: (Person, Vec<Address>, Address) = rows.single_row()?;
        equal("row", found, (ann.clone(), vec![home.clone()], home.clone()))?;
    }
    Ok(())
}

pub async fn vectors(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE vectors (id int PRIMARY KEY, v vector<float, 3>, t vector<text, 2>)",
        "INSERT INTO vectors (id, v, t) VALUES (1, [1.5, -2, 0.25], ['a', 'bc'])",
    ])
    .await?;
    let row = (vec![1.5_f32, -2.0, 0.25], vec!["a".to_owned(), "bc".to_owned()]);
    w.session().query_unpaged("INSERT INTO vectors (id, v, t) VALUES (2, ?, ?)", &row).await?;
    for id in [1, 2] {
        let rows = w.session().query_unpaged("SELECT v, t FROM vectors WHERE id = ?", (id,)).await?.into_rows_result()?;
        equal("row", rows.single_row::<(Vec<f32>, Vec<String>)>()?, row.clone())?;
    }
    Ok(())
}
