//! Statements with values, prepared statements, batches, LWT, TTL, errors, warnings, tracing.

use cdrs_tokio::consistency::Consistency;
use cdrs_tokio::frame::message_batch::BatchType;
use cdrs_tokio::query::BatchQueryBuilder;
use cdrs_tokio::query_values;
use cdrs_tokio::statement::StatementParamsBuilder;
use cdrs_tokio::types::value::Value;
use cdrs_tokio::types::{ByIndex, ByName};

use crate::world::{Outcome, Problem, World, connect, equal, first, refused, rows, truth};

async fn kv(w: &World, k: &str) -> Result<(Option<String>, Option<i32>), Problem> {
    let row = w.one(&format!("SELECT v, n FROM kv WHERE k = '{k}'")).await?;
    Ok((row.by_name("v")?, row.by_name("n")?))
}

pub async fn simple(w: &World) -> Outcome {
    let s = &w.session;
    s.query_with_values("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)", query_values!("a", "it's", 1_i32)).await?;
    let named = query_values!("key" => "b", "num" => 2_i32, "text" => "named");
    s.query_with_values("INSERT INTO kv (k, v, n) VALUES (:key, :text, :num)", named).await?;
    equal("positional", kv(w, "a").await?, (Some("it's".into()), Some(1)))?;
    equal("named", kv(w, "b").await?, (Some("named".into()), Some(2)))
}

pub async fn prepared(w: &World) -> Outcome {
    let insert = w.session.prepare("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)").await?;
    w.session.exec_with_values(&insert, query_values!("u", "before", 5_i32)).await?;
    w.session.exec_with_values(&insert, vec![Value::from("u"), Value::NotSet, Value::from(6_i32)]).await?;
    equal("unset", kv(w, "u").await?, (Some("before".into()), Some(6)))?;
    w.session.exec_with_values(&insert, vec![Value::from("u"), Value::Null, Value::from(7_i32)]).await?;
    equal("null", kv(w, "u").await?, (None, Some(7)))
}

pub async fn reprepare(w: &World) -> Outcome {
    w.run(&["CREATE TABLE altered (k int PRIMARY KEY, a int)", "INSERT INTO altered (k, a) VALUES (1, 10)"]).await?;
    let select = w.session.prepare("SELECT * FROM altered WHERE k = ?").await?;
    let insert = w.session.prepare("INSERT INTO altered (k, a) VALUES (?, ?)").await?;
    equal("a", first(w.session.exec_with_values(&select, query_values!(1_i32)).await?)?.r_by_name::<i32>("a")?, 10)?;
    let other = connect(w.version, Some(&w.keyspace)).await?;
    other.query("ALTER TABLE altered ADD b text").await?;
    other.query("UPDATE altered SET b = 'new' WHERE k = 1").await?;
    w.session.exec_with_values(&insert, query_values!(1_i32, 11_i32)).await?;
    let row = first(w.session.exec_with_values(&select, query_values!(1_i32)).await?)?;
    equal("row", (row.r_by_name::<i32>("a")?, row.r_by_name::<String>("b")?), (11, "new".into()))
}

pub async fn batches(w: &World) -> Outcome {
    let insert = w.session.prepare("INSERT INTO kv (k, v) VALUES (?, ?)").await?;
    let batch = BatchQueryBuilder::new()
        .with_consistency(Consistency::Quorum)
        .add_query_prepared(&insert, query_values!("b1", "one"))
        .add_query("UPDATE kv SET n = ? WHERE k = ?", query_values!(7_i32, "b2"))
        .build()?;
    w.session.batch(batch).await?;
    equal("b1", kv(w, "b1").await?, (Some("one".into()), None))?;
    equal("b2", kv(w, "b2").await?, (None, Some(7)))?;
    let unlogged = BatchQueryBuilder::new()
        .with_batch_type(BatchType::Unlogged)
        .with_timestamp(4321)
        .add_query_prepared(&insert, query_values!("b3", "x"))
        .build()?;
    w.session.batch(unlogged).await?;
    equal("write time", w.one("SELECT writetime(v) FROM kv WHERE k = 'b3'").await?.r_by_index::<i64>(0)?, 4321)?;
    let add = w.session.prepare("UPDATE counts SET c = c + ? WHERE k = ?").await?;
    let mut counters = BatchQueryBuilder::new().with_batch_type(BatchType::Counter);
    for i in 0..10_i64 {
        counters = counters.add_query_prepared(&add, query_values!(i, "n"));
    }
    w.session.batch(counters.build()?).await?;
    equal("counter", w.one("SELECT c FROM counts WHERE k = 'n'").await?.r_by_name::<i64>("c")?, 45)
}

pub async fn lwt(w: &World) -> Outcome {
    let insert = w.session.prepare("INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS").await?;
    let params = |v: &str| {
        StatementParamsBuilder::new()
            .with_values(query_values!("lwt", v))
            .with_serial_consistency(Consistency::LocalSerial)
            .build()
    };
    let row = first(w.session.exec_with_params(&insert, &params("first")).await?)?;
    equal("first", row.r_by_name::<bool>("[applied]")?, true)?;
    let row = first(w.session.exec_with_params(&insert, &params("second")).await?)?;
    equal("second", (row.r_by_name::<bool>("[applied]")?, row.r_by_name::<String>("v")?), (false, "first".into()))?;
    let row = w.one("UPDATE kv SET v = 'x' WHERE k = 'lwt' IF v = 'wrong'").await?;
    equal("update", (row.r_by_name::<bool>("[applied]")?, row.r_by_name::<String>("v")?), (false, "first".into()))
}

pub async fn times(w: &World) -> Outcome {
    w.session.query_with_values("INSERT INTO kv (k, v) VALUES (?, ?) USING TTL ?", query_values!("ttl", "x", 1000_i32)).await?;
    let ttl: i32 = w.one("SELECT ttl(v) FROM kv WHERE k = 'ttl'").await?.r_by_index(0)?;
    truth((990..=1000).contains(&ttl), ttl)?;
    let params = StatementParamsBuilder::new().with_timestamp(1_234_567).build();
    w.session.query_with_params("INSERT INTO kv (k, v) VALUES ('stamp', 'x')", params).await?;
    equal("write time", w.one("SELECT writetime(v) FROM kv WHERE k = 'stamp'").await?.r_by_index::<i64>(0)?, 1_234_567)
}

pub async fn errors(w: &World) -> Outcome {
    let s = &w.session;
    refused(s.query("SELEC * FROM kv").await, "ty: Syntax")?;
    refused(s.query("SELECT * FROM absent").await, "ty: Invalid")?;
    refused(s.query("SELECT nope FROM kv").await, "Undefined column name nope")?;
    refused(s.query("SELECT * FROM kv WHERE v = 'x'").await, "ALLOW FILTERING")?;
    refused(s.prepare("SELECT * FROM absent WHERE k = ?").await, "ty: Invalid")?;
    refused(s.query("CREATE TABLE kv (k int PRIMARY KEY)").await, "ty: AlreadyExists")?;
    refused(s.query("CREATE KEYSPACE never WITH replication = {'class': 'NoSuchStrategy'}").await, "ty: Config")
}

pub async fn warnings(w: &World) -> Outcome {
    let answer = w.session.query("SELECT count(*) FROM kv").await?;
    let found = answer.warnings.clone();
    truth(found.iter().any(|t| t.contains("Aggregation query used without partition key")), found)?;
    equal("rows", rows(answer)?.len(), 1)
}

pub async fn tracing(w: &World) -> Outcome {
    let mut params = StatementParamsBuilder::new().build();
    params.tracing = true;
    let answer = w.session.query_with_params("SELECT * FROM kv WHERE k = 'a'", params).await?;
    let id = answer.tracing_id.ok_or("no tracing id")?;
    // The session row is written after the answer; its duration comes last.
    for _ in 0..500 {
        let found = rows(w.session.query(format!("SELECT duration FROM system_traces.sessions WHERE session_id = {id}")).await?)?;
        if found.first().is_some_and(|r| r.by_name::<i32>("duration").is_ok_and(|d| d.is_some())) {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    Err("the trace never got its duration".into())
}
