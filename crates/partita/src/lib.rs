//! Partita in your process: open a folder, run CQL with parameters, get typed rows. No socket.
//!
//! ```
//! # fn main() -> Result<(), partita::Error> {
//! # let dir = std::env::temp_dir().join(format!("partita-doc-{}", std::process::id()));
//! let db = partita::Database::open(&dir)?;
//! db.execute("CREATE KEYSPACE IF NOT EXISTS app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", ())?;
//! db.execute("CREATE TABLE IF NOT EXISTS app.readings (sensor text, at timestamp, celsius double, PRIMARY KEY (sensor, at))", ())?;
//! db.execute("INSERT INTO app.readings (sensor, at, celsius) VALUES (?, ?, ?)", ("attic", partita::Timestamp(1_700_000_000_000), 21.5))?;
//! let rows = db.execute("SELECT celsius FROM app.readings WHERE sensor = ?", ("attic",))?;
//! assert_eq!(rows.rows()[0].get::<f64>("celsius")?, 21.5);
//! db.close()?;
//! # std::fs::remove_dir_all(&dir).ok();
//! # Ok(())
//! # }
//! ```
//!
//! It is the server's own engine and dialect: the same files, the same statements, the same answers.
//! One process at a time may have a folder open.

mod embedded;
mod error;
mod params;
mod rows;

pub use embedded::{Database, Durability, Options};
pub use error::Error;
pub use model::value::Value;
pub use params::{Date, IntoValue, Params, Time, TimeUuid, Timestamp, Uuid};
pub use rows::{FromValue, Row, Rows};
