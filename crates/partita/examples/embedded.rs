//! Partita as a library: `cargo run --example embedded`.

use partita::{Database, Error, Timestamp};

fn main() -> Result<(), Error> {
    let dir = std::env::temp_dir().join(format!("partita-example-{}", std::process::id()));
    let db = Database::open(&dir)?;
    db.execute(
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        (),
    )?;
    let created = db.execute(
        "CREATE TABLE shop.orders (customer int, placed timestamp, cents bigint, PRIMARY KEY (customer, placed)) \
         WITH CLUSTERING ORDER BY (placed DESC)",
        (),
    )?;
    created.warnings().iter().for_each(|w| println!("warning: {w}"));
    for day in 0..5 {
        let placed = Timestamp(1_700_000_000_000 + day * 86_400_000);
        db.execute(
            "INSERT INTO shop.orders (customer, placed, cents) VALUES (?, ?, ?)",
            (7, placed, day * 100),
        )?;
    }
    let newest = db.execute("SELECT placed, cents FROM shop.orders WHERE customer = ? LIMIT 2", (7,))?;
    for row in newest {
        println!("{:?}: {} cents", row.get::<Timestamp>("placed")?, row.get::<i64>("cents")?);
    }
    db.close()?;
    std::fs::remove_dir_all(&dir).ok();
    Ok(())
}
