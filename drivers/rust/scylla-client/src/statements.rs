//! Statements with values, prepared statements, batches, LWT, counters, TTL, errors, warnings, tracing.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use scylla::client::caching_session::CachingSessionBuilder;
use scylla::client::session::Session;
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::{SerialConsistency, Statement};
use scylla::value::{Counter, CqlValue, MaybeUnset, Row};

use crate::world::{Outcome, World, equal, refused, truth};

async fn rows(session: &Session, text: &str) -> Result<QueryRowsResult, Box<dyn std::error::Error + Send + Sync>> {
    Ok(session.query_unpaged(text, ()).await?.into_rows_result()?)
}

async fn kv(w: &World, k: &str) -> Result<(Option<String>, Option<i32>), Box<dyn std::error::Error + Send + Sync>> {
    let found = w.session().query_unpaged("SELECT v, n FROM kv WHERE k = ?", (k,)).await?.into_rows_result()?;
    Ok(found.single_row()?)
}

pub async fn simple(w: &World) -> Outcome {
    let s = w.session();
    s.query_unpaged("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)", ("a", "it's", 1)).await?;
    let named: HashMap<&str, CqlValue> =
        HashMap::from([("num", CqlValue::Int(2)), ("key", CqlValue::Text("b".into())), ("text", CqlValue::Text("named".into()))]);
    s.query_unpaged("INSERT INTO kv (k, v, n) VALUES (:key, :text, :num)", &named).await?;
    equal("positional", kv(w, "a").await?, (Some("it's".into()), Some(1)))?;
    equal("named", kv(w, "b").await?, (Some("named".into()), Some(2)))?;
    let many = s.query_unpaged("SELECT k FROM kv WHERE k IN ?", (vec!["a", "b", "zz"],)).await?.into_rows_result()?;
    equal("IN", many.rows_num(), 2)
}

pub async fn unset(w: &World) -> Outcome {
    let insert = w.session().prepare("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)").await?;
    w.session().execute_unpaged(&insert, ("u", "before", 5)).await?;
    w.session().execute_unpaged(&insert, ("u", MaybeUnset::<&str>::Unset, MaybeUnset::Set(6))).await?;
    equal("unset", kv(w, "u").await?, (Some("before".into()), Some(6)))?;
    w.session().execute_unpaged(&insert, ("u", None::<&str>, 7)).await?;
    equal("null", kv(w, "u").await?, (None, Some(7)))
}

pub async fn reprepare(w: &World) -> Outcome {
    w.run(&["CREATE TABLE altered (k int PRIMARY KEY, a int)", "INSERT INTO altered (k, a) VALUES (1, 10)"]).await?;
    let select = w.session().prepare("SELECT * FROM altered WHERE k = ?").await?;
    let insert = w.session().prepare("INSERT INTO altered (k, a) VALUES (?, ?)").await?;
    let before = w.session().execute_unpaged(&select, (1,)).await?.into_rows_result()?;
    equal("columns", before.column_specs().len(), 2)?;
    let other = w.connect().await?;
    other.query_unpaged("ALTER TABLE altered ADD b text", ()).await?;
    other.query_unpaged("UPDATE altered SET b = 'new' WHERE k = 1", ()).await?;
    w.session().execute_unpaged(&insert, (1, 11)).await?;
    let after = w.session().execute_unpaged(&select, (1,)).await?.into_rows_result()?;
    let (k, a, b): (i32, i32, String) = after.single_row()?;
    equal("row", (k, a, b), (1, 11, "new".into()))?;
    other.query_unpaged("DROP TABLE altered", ()).await?;
    other.query_unpaged("CREATE TABLE altered (k int PRIMARY KEY, a int)", ()).await?;
    w.session().execute_unpaged(&insert, (1, 12)).await?;
    Ok(())
}

pub async fn batches(w: &World) -> Outcome {
    let insert = w.session().prepare("INSERT INTO kv (k, v) VALUES (?, ?)").await?;
    let mut batch = Batch::new(BatchType::Logged);
    batch.append_statement(insert.clone());
    batch.append_statement("UPDATE kv SET n = ? WHERE k = ?");
    batch.append_statement("INSERT INTO kv (k, v) VALUES ('b3', 'three')");
    w.session().batch(&batch, (("b1", "one"), (7, "b2"), ())).await?;
    equal("b1", kv(w, "b1").await?, (Some("one".into()), None))?;
    equal("b2", kv(w, "b2").await?, (None, Some(7)))?;
    equal("b3", kv(w, "b3").await?, (Some("three".into()), None))?;
    let mut unlogged = Batch::new(BatchType::Unlogged);
    unlogged.append_statement(insert);
    unlogged.set_timestamp(Some(4321));
    w.session().batch(&unlogged, (("b4", "x"),)).await?;
    let (written,): (i64,) = rows(w.session(), "SELECT writetime(v) FROM kv WHERE k = 'b4'").await?.single_row()?;
    equal("write time", written, 4321)?;
    let add = w.session().prepare("UPDATE counts SET c = c + ? WHERE k = ?").await?;
    let mut counters = Batch::new(BatchType::Counter);
    let values: Vec<_> = (0..10).map(|i| (Counter(i), "n")).collect();
    for _ in &values {
        counters.append_statement(add.clone());
    }
    w.session().batch(&counters, values).await?;
    let (count,): (Counter,) = rows(w.session(), "SELECT c FROM counts WHERE k = 'n'").await?.single_row()?;
    equal("counter", count, Counter(45))
}

pub async fn lwt(w: &World) -> Outcome {
    let applied = |result: QueryRowsResult| -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let row: Row = result.first_row()?;
        Ok(row.columns[0] == Some(CqlValue::Boolean(true)))
    };
    let mut insert = w.session().prepare("INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS").await?;
    insert.set_serial_consistency(Some(SerialConsistency::LocalSerial));
    equal("first", applied(w.session().execute_unpaged(&insert, ("lwt", "first")).await?.into_rows_result()?)?, true)?;
    let second = w.session().execute_unpaged(&insert, ("lwt", "second")).await?.into_rows_result()?;
    let (done, _, _, v): (bool, String, Option<i32>, String) = second.single_row()?;
    equal("second", (done, v), (false, "first".to_owned()))?;
    let s = w.session();
    equal("update", applied(rows(s, "UPDATE kv SET v = 'x' WHERE k = 'lwt' IF v = 'first'").await?)?, true)?;
    equal("delete", applied(rows(s, "DELETE FROM kv WHERE k = 'lwt' IF v = 'first'").await?)?, false)?;
    let mut batch = Batch::new(BatchType::Logged);
    batch.append_statement(insert);
    equal("batch", applied(s.batch(&batch, (("lwt", "again"),)).await?.into_rows_result()?)?, false)
}

pub async fn times(w: &World) -> Outcome {
    w.session().query_unpaged("INSERT INTO kv (k, v) VALUES (?, ?) USING TTL ?", ("ttl", "x", 1000)).await?;
    let found = rows(w.session(), "SELECT ttl(v), writetime(v) FROM kv WHERE k = 'ttl'").await?;
    let (ttl, written): (i32, i64) = found.single_row()?;
    truth((990..=1000).contains(&ttl), ttl)?;
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?;
    truth((now - written).abs() < 30_000_000, written)?;
    let mut stamped = Statement::new("INSERT INTO kv (k, v) VALUES ('stamp', 'x')");
    stamped.set_timestamp(Some(1_234_567));
    w.session().query_unpaged(stamped, ()).await?;
    let (written,): (i64,) = rows(w.session(), "SELECT writetime(v) FROM kv WHERE k = 'stamp'").await?.single_row()?;
    equal("client timestamp", written, 1_234_567)
}

pub async fn errors(w: &World) -> Outcome {
    let s = w.session();
    refused(s.query_unpaged("SELEC * FROM kv", ()).await, "DbError(SyntaxError")?;
    refused(s.query_unpaged("SELECT * FROM absent", ()).await, "DbError(Invalid")?;
    refused(s.query_unpaged("SELECT nope FROM kv", ()).await, "Undefined column name nope")?;
    refused(s.query_unpaged("SELECT * FROM kv WHERE v = 'x'", ()).await, "ALLOW FILTERING")?;
    refused(s.prepare("SELECT * FROM absent WHERE k = ?").await, "Invalid")?;
    let exists = s.query_unpaged("CREATE TABLE kv (k int PRIMARY KEY)", ()).await;
    refused(exists, &format!("AlreadyExists {{ keyspace: {:?}, table: \"kv\" }}", w.keyspace))?;
    let text = "CREATE KEYSPACE never WITH replication = {'class': 'NoSuchStrategy', 'replication_factor': 1}";
    refused(s.query_unpaged(text, ()).await, "DbError(ConfigError")?;
    refused(s.query_unpaged("INSERT INTO kv (k) VALUES (?)", (None::<&str>,)).await, "DbError(Invalid")
}

pub async fn warnings(w: &World) -> Outcome {
    let result = w.session().query_unpaged("SELECT count(*) FROM kv", ()).await?;
    let found: Vec<&str> = result.warnings().collect();
    truth(found.iter().any(|t| t.contains("Aggregation query used without partition key")), found)
}

pub async fn tracing(w: &World) -> Outcome {
    let mut statement = Statement::new("SELECT * FROM kv WHERE k = 'a'");
    statement.set_tracing(true);
    let result = w.session().query_unpaged(statement, ()).await?;
    let id = result.tracing_id().ok_or("no tracing id")?;
    let info = w.session().get_tracing_info(&id).await?;
    truth(info.duration.is_some() && info.started_at.is_some() && !info.events.is_empty(), &info)?;
    equal("request", info.request.as_deref(), Some("Execute CQL3 query"))
}

pub async fn caching(w: &World) -> Outcome {
    let session = CachingSessionBuilder::new(w.connect().await?).max_capacity(10).build();
    for i in 0..20 {
        session.execute_unpaged("INSERT INTO kv (k, n) VALUES (?, ?)", (format!("cached {i}"), i)).await?;
    }
    let found = session.execute_unpaged("SELECT n FROM kv WHERE k = ?", ("cached 7",)).await?.into_rows_result()?;
    equal("n", found.single_row::<(i32,)>()?, (7,))
}
