//! CQL types travel both ways: written as CQL text and as bound values.

use std::collections::HashMap;
use std::net::IpAddr;
use std::str::FromStr;

use cdrs_tokio::types::blob::Blob;
use cdrs_tokio::types::decimal::Decimal;
use cdrs_tokio::types::duration::Duration;
use cdrs_tokio::types::list::List;
use cdrs_tokio::types::map::Map;
use cdrs_tokio::types::prelude::Tuple;
use cdrs_tokio::types::value::Value;
use cdrs_tokio::types::{AsRustType, ByIndex, ByName};
use cdrs_tokio::{IntoCdrsValue, TryFromRow, TryFromUdt, query_values};
use num_bigint::BigInt;
use uuid::Uuid;

use crate::world::{Outcome, World, equal, first};

const KEY: &str = "123e4567-e89b-12d3-a456-426614174000";
const COLUMNS: &str = "c_ascii, c_bigint, c_blob, c_boolean, c_decimal, c_double, c_duration, c_float, c_inet, c_int, c_smallint, \
    c_text, c_tinyint, c_uuid, c_varint, c_date, c_time, c_timestamp, c_timeuuid";
const TIME_UUID: &str = "50554d6e-29bb-11e5-b345-feff819cdc9f";

pub async fn scalars(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE scalars (id int PRIMARY KEY, c_ascii ascii, c_bigint bigint, c_blob blob, c_boolean boolean, c_decimal decimal, \
         c_double double, c_duration duration, c_float float, c_inet inet, c_int int, c_smallint smallint, c_text text, \
         c_tinyint tinyint, c_uuid uuid, c_varint varint, c_date date, c_time time, c_timestamp timestamp, c_timeuuid timeuuid)",
        &format!(
            "INSERT INTO scalars (id, {COLUMNS}) VALUES (1, 'ascii', -9223372036854775808, 0x00ff10, true, -1.25, 1.5E-300, 14mo3d5ns, \
             3.25, '2001:db8::1', -2147483648, -32768, 'Grüße, 世界 🎼', -128, {KEY}, 123456789012345678901234567890, '1969-12-31', '23:59:59.999999999', '1960-02-29T12:34:56.789Z', {TIME_UUID})"
        ),
    ])
    .await?;
    let big = BigInt::from_str("123456789012345678901234567890")?;
    let (uuid, time_uuid, address) = (Uuid::from_str(KEY)?, Uuid::from_str(TIME_UUID)?, "2001:db8::1".parse::<IpAddr>()?);
    let decimal = Decimal { unscaled: BigInt::from(-125), scale: 2 };
    let insert = w.session.prepare(format!("INSERT INTO scalars (id, {COLUMNS}) VALUES ({})", ["?"; 20].join(", "))).await?;
    let values = query_values!(
        2_i32,
        "ascii",
        i64::MIN,
        Blob::from(vec![0, 255, 16]),
        true,
        decimal.clone(),
        1.5e-300_f64,
        Duration::new(14, 3, 5)?,
        3.25_f32,
        address,
        i32::MIN,
        i16::MIN,
        "Grüße, 世界 🎼",
        i8::MIN,
        uuid,
        big.clone(),
        i32::MAX,
        86_399_999_999_999_i64,
        -310_476_303_211_i64,
        time_uuid
    );
    w.session.exec_with_values(&insert, values).await?;
    for id in [1, 2] {
        let row = w.one(&format!("SELECT * FROM scalars WHERE id = {id}")).await?;
        equal("ascii", row.r_by_name::<String>("c_ascii")?, "ascii".into())?;
        equal("bigint", row.r_by_name::<i64>("c_bigint")?, i64::MIN)?;
        equal("blob", row.r_by_name::<Blob>("c_blob")?.into_vec(), vec![0, 255, 16])?;
        equal("boolean", row.r_by_name::<bool>("c_boolean")?, true)?;
        equal("decimal", row.r_by_name::<Decimal>("c_decimal")?, decimal.clone())?;
        equal("double", row.r_by_name::<f64>("c_double")?, 1.5e-300)?;
        equal("float", row.r_by_name::<f32>("c_float")?, 3.25)?;
        equal("inet", row.r_by_name::<IpAddr>("c_inet")?, address)?;
        equal("int", row.r_by_name::<i32>("c_int")?, i32::MIN)?;
        equal("smallint", row.r_by_name::<i16>("c_smallint")?, i16::MIN)?;
        equal("text", row.r_by_name::<String>("c_text")?, "Grüße, 世界 🎼".into())?;
        equal("tinyint", row.r_by_name::<i8>("c_tinyint")?, i8::MIN)?;
        equal("uuid", row.r_by_name::<Uuid>("c_uuid")?, uuid)?;
        // A date is days with 2^31 as the epoch, so the day before it is the greatest signed number.
        equal("date", row.r_by_name::<i32>("c_date")?, i32::MAX)?;
        equal("time", row.r_by_name::<i64>("c_time")?, 86_399_999_999_999)?;
        equal("timestamp", row.r_by_name::<i64>("c_timestamp")?, -310_476_303_211)?;
        equal("timeuuid", row.r_by_name::<Uuid>("c_timeuuid")?, time_uuid)?;
        equal("varint", row.r_by_name::<BigInt>("c_varint")?, big.clone())?;
    }
    // This driver has no reader for durations: both writings must be the same to the server.
    let row = w.one("SELECT count(*) FROM scalars WHERE c_duration = 14mo3d5ns ALLOW FILTERING").await;
    equal("durations", row?.r_by_index::<i64>(0)?, 2)?;
    w.session
        .query_with_values("INSERT INTO scalars (id, c_text, c_int) VALUES (?, ?, ?)", query_values!(3_i32, "", None::<i32>))
        .await?;
    let row = w.one("SELECT c_text, c_int FROM scalars WHERE id = 3").await?;
    equal("empty and null", (row.by_name::<String>("c_text")?, row.by_name::<i32>("c_int")?), (Some(String::new()), None))
}

pub async fn collections(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, t tuple<int, text>)",
        "INSERT INTO collections (id, l, s, m, t) VALUES (1, [3, 1, 2], {'b', 'a'}, {'z': 1, 'a': 2}, (1, 'one'))",
    ])
    .await?;
    let map = HashMap::from([("z".to_owned(), 1), ("a".to_owned(), 2)]);
    w.session
        .query_with_values(
            "INSERT INTO collections (id, l, s, m) VALUES (?, ?, ?, ?)",
            query_values!(2_i32, vec![3_i32, 1, 2], vec!["b".to_owned(), "a".to_owned()], map.clone()),
        )
        .await?;
    for id in [1, 2] {
        let row = w.one(&format!("SELECT * FROM collections WHERE id = {id}")).await?;
        equal("list", row.r_by_name::<List>("l")?.as_r_type()?, vec![3, 1, 2])?;
        equal("set", row.r_by_name::<List>("s")?.as_r_type()?, vec!["a".to_owned(), "b".to_owned()])?;
        equal("map", row.r_by_name::<Map>("m")?.as_r_type()?, map.clone())?;
    }
    let row = w.one("SELECT t FROM collections WHERE id = 1").await?;
    let tuple: Tuple = row.r_by_name("t")?;
    equal("tuple", (tuple.r_by_index::<i32>(0)?, tuple.r_by_index::<String>(1)?), (1, "one".into()))
}

#[derive(Clone, Debug, PartialEq, IntoCdrsValue, TryFromUdt)]
struct Address {
    street: String,
    zip: i32,
}

#[derive(Clone, Debug, PartialEq, TryFromRow)]
struct Person {
    id: i32,
    home: Address,
    others: Vec<Address>,
}

pub async fn user_types(w: &World) -> Outcome {
    w.run(&[
        "CREATE TABLE people (id int PRIMARY KEY, home frozen<address>, others list<frozen<address>>)",
        "INSERT INTO people (id, home, others) VALUES (1, {street: 'Rue 1', zip: 7}, [{street: 'Rue 1', zip: 7}])",
    ])
    .await?;
    let home = Address { street: "Rue 1".into(), zip: 7 };
    let values: Vec<Value> = vec![2_i32.into(), home.clone().into(), vec![home.clone()].into()];
    let insert = w.session.prepare("INSERT INTO people (id, home, others) VALUES (?, ?, ?)").await?;
    w.session.exec_with_values(&insert, values).await?;
    for id in [1, 2] {
        let row = first(w.session.query(format!("SELECT * FROM people WHERE id = {id}")).await?)?;
        let found = <Person as cdrs_tokio::frame::TryFromRow>::try_from_row(row)?;
        equal("row", found, Person { id, home: home.clone(), others: vec![home.clone()] })?;
    }
    Ok(())
}
