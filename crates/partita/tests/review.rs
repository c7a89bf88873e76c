//! The review inside the database: warnings, refusals, access patterns that are kept, and what breaks them.

use partita::{Database, Error};
use tempfile::TempDir;

struct World {
    dir: TempDir,
    db: Option<Database>,
}

impl World {
    /// A new database with a keyspace `k` that has these further properties.
    fn new(properties: &str) -> World {
        let dir = tempfile::tempdir().expect("a folder");
        let db = Some(Database::open(dir.path()).expect("opens"));
        let world = World { dir, db };
        let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
        world.run(&format!("CREATE KEYSPACE k WITH replication = {replication}{properties}"));
        world
    }

    fn reopen(&mut self) {
        if let Some(db) = self.db.take() {
            db.close().expect("closes");
        }
        self.db = Some(Database::open(self.dir.path()).expect("opens again"));
    }

    fn try_run(&self, cql: &str) -> Result<partita::Rows, Error> {
        self.db.as_ref().expect("open").execute(cql, ())
    }

    /// The warnings of a statement that must succeed.
    fn run(&self, cql: &str) -> Vec<String> {
        self.try_run(cql).unwrap_or_else(|e| panic!("{cql}: {e}")).warnings().to_vec()
    }

    fn refused(&self, cql: &str) -> String {
        match self.try_run(cql) {
            Ok(_) => panic!("{cql} is not refused"),
            Err(error) => error.to_string(),
        }
    }

    /// One text column of every row.
    fn texts(&self, cql: &str, column: &str) -> Vec<String> {
        let rows = self.try_run(cql).unwrap_or_else(|e| panic!("{cql}: {e}"));
        rows.rows().iter().map(|row| row.get::<String>(column).unwrap_or_default()).collect()
    }
}

const SENSOR: &str = "CREATE TABLE k.sensor_readings (sensor_id uuid, recorded_at timestamp, value double,
  PRIMARY KEY (sensor_id, recorded_at))";
const USERS: &str = "CREATE TABLE k.users (user_id uuid PRIMARY KEY, name text, email text)";
const BY_ID: &str = "CREATE ACCESS PATTERN k.user_by_id AS SELECT name, email FROM users WHERE user_id = ? WITH peak_rate = 100 AND owner = 'accounts'";

#[test]
fn a_bad_key_warns_and_a_good_one_does_not() {
    let world = World::new("");
    let warnings = world.run(SENSOR);
    assert!(warnings.len() <= 5, "{warnings:?}");
    let first = warnings.first().expect("a warning");
    assert!(first.starts_with("review error (unbounded-partition): "), "{first}");
    assert!(first.ends_with("[partita review --explain unbounded-partition]"), "{first}");
    assert!(warnings.iter().all(|w| w.chars().count() < 500), "{warnings:?}");
    assert_eq!(world.run(USERS), [""; 0]);
    // A statement that does nothing says nothing.
    let again = SENSOR.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
    assert_eq!(world.run(&again), [""; 0]);
}

#[test]
fn a_comment_with_a_reason_allows_a_finding() {
    let world = World::new("");
    let allowed = format!(
        "/* partita:allow unbounded-partition, no-retention: gateways are replaced weekly */ {SENSOR}"
    );
    assert_eq!(world.run(&allowed), [""; 0]);
}

#[test]
fn the_table_wins_over_the_keyspace() {
    let world = World::new(" AND review = 'enforce'");
    let text = world.refused(SENSOR);
    for part in ["unbounded-partition", "Fix:\n", "CREATE TABLE", "--explain"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(world.run(&format!("{SENSOR} WITH review = 'off'")).is_empty());
    assert!(!world.run(&format!("{} WITH review = 'warn'", SENSOR.replace("readings", "values"))).is_empty());
    world.run("ALTER KEYSPACE k WITH review = 'off'");
    assert!(world.run(&SENSOR.replace("readings", "numbers")).is_empty());
    let own = format!("{} WITH review = 'enforce'", SENSOR.replace("readings", "others"));
    assert!(world.refused(&own).contains("unbounded-partition"));
    assert!(world.refused("CREATE TABLE k.x (k int PRIMARY KEY) WITH review = 'loud'").contains("review"));
}

#[test]
fn altering_tells_only_what_is_new() {
    let world = World::new("");
    assert!(!world.run(SENSOR).is_empty());
    assert!(world.run("ALTER TABLE k.sensor_readings ADD unit text").is_empty());
    assert!(world.run("ALTER TABLE k.sensor_readings WITH comment = 'x'").is_empty());
    world.run("CREATE TABLE k.posts (post_id uuid PRIMARY KEY, body text)");
    let warnings = world.run("ALTER TABLE k.posts ADD comments list<text>");
    assert!(warnings.iter().any(|w| w.contains("unbounded-collection")), "{warnings:?}");
}

#[test]
fn a_pattern_is_judged_with_its_numbers() {
    let world = World::new("");
    world.run("CREATE TABLE k.orders_by_merchant (merchant_id uuid, placed_at timestamp, order_id uuid, note text, PRIMARY KEY (merchant_id, placed_at, order_id))");
    let warnings = world.run(
        "CREATE ACCESS PATTERN k.merchant_orders AS SELECT * FROM orders_by_merchant WHERE merchant_id = ? LIMIT 50
         WITH rows_per_partition = {'p50': 20000, 'max': 9000000} AND row_bytes = 250",
    );
    assert!(warnings.iter().any(|w| w.contains("review error (unbounded-partition)")), "{warnings:?}");
    let warnings =
        world.run("CREATE ACCESS PATTERN k.by_note AS SELECT * FROM orders_by_merchant WHERE note = ?");
    assert!(warnings.iter().any(|w| w.contains("needs-filtering")), "{warnings:?}");
    let warnings = world.run("CREATE ACCESS PATTERN k.early AS SELECT * FROM not_yet WHERE id = ?");
    assert!(warnings.iter().any(|w| w.contains("cannot run as the schema stands")), "{warnings:?}");
    world.run("ALTER KEYSPACE k WITH review = 'enforce'");
    let text = world
        .refused("CREATE ACCESS PATTERN k.by_order AS SELECT * FROM orders_by_merchant WHERE order_id = ?");
    assert!(text.contains("needs-filtering") && text.contains("CREATE TABLE"), "{text}");
    assert!(
        world.refused("CREATE ACCESS PATTERN k.late AS SELECT * FROM nowhere WHERE id = ?").contains("late")
    );
    // Numbers that are taken back are no reason any more.
    world.run("ALTER ACCESS PATTERN k.merchant_orders WITH rows_per_partition = 1000");
}

#[test]
fn what_breaks_a_pattern_is_told_or_refused_with_its_name() {
    let world = World::new("");
    world.run(USERS);
    assert_eq!(world.run(BY_ID), [""; 0]);
    let warnings = world.run("ALTER TABLE k.users DROP email");
    assert!(warnings.iter().any(|w| w.contains("breaks access pattern k.user_by_id")), "{warnings:?}");
    let problem = world.texts("SELECT problem FROM system_views.access_patterns", "problem");
    assert!(problem[0].contains("email"), "{problem:?}");
    world.run("ALTER TABLE k.users ADD email text");
    world.run("ALTER TABLE k.users WITH review = 'enforce'");
    for statement in
        ["ALTER TABLE k.users DROP email", "ALTER TABLE k.users RENAME user_id TO id", "DROP TABLE k.users"]
    {
        assert!(world.refused(statement).contains("k.user_by_id"), "{statement}");
    }
    // Neither a column that no pattern names nor a table of another name is in the way.
    world.run("ALTER TABLE k.users ADD nickname text");
    world.run("ALTER TABLE k.users DROP nickname");
    world.run("DROP ACCESS PATTERN k.user_by_id");
    world.run("DROP TABLE k.users");
}

#[test]
fn patterns_and_modes_survive_a_restart_and_describe_round_trips() {
    let mut world = World::new(" AND review = 'enforce'");
    world.run(USERS);
    world.run("ALTER TABLE k.users WITH review = 'warn'");
    world.run(BY_ID);
    world.run("ALTER ACCESS PATTERN k.user_by_id WITH p99_ms = 5");
    let described = world.texts("DESCRIBE KEYSPACE k", "create_statement");
    let pattern = world.texts("DESCRIBE ACCESS PATTERN k.user_by_id", "create_statement");
    assert!(pattern[0].contains("p99_ms = 5") && pattern[0].contains("owner = 'accounts'"), "{pattern:?}");
    assert!(described.contains(&pattern[0]), "{described:?}");
    assert_eq!(world.texts("DESCRIBE k.user_by_id", "create_statement"), pattern);
    assert!(described[0].contains("AND review = 'enforce'"), "{described:?}");
    assert!(described[1].contains("AND review = 'warn'"), "{described:?}");
    world.reopen();
    assert_eq!(world.texts("DESCRIBE KEYSPACE k", "create_statement"), described);
    let listed = world.texts("SELECT * FROM system_views.access_patterns", "create_statement");
    assert_eq!(listed, pattern);
    world.run("DROP KEYSPACE k");
    assert!(world.texts("SELECT * FROM system_views.access_patterns", "create_statement").is_empty());
    for statement in &described {
        world.run(statement.trim_end_matches(';'));
    }
    assert_eq!(world.texts("DESCRIBE KEYSPACE k", "create_statement"), described);
    assert!(world.refused(SENSOR).contains("unbounded-partition"));
}

#[test]
fn a_misused_index_is_made_with_a_warning_and_refused_where_the_review_is_enforced() {
    let world = World::new("");
    world.run("CREATE TABLE k.users (user_id uuid PRIMARY KEY, status text, email text, name text)");
    for (statement, column) in
        [("CREATE INDEX ON k.users (status)", "status"), ("CREATE INDEX ON k.users (email)", "email")]
    {
        let warnings = world.run(statement);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("(index-misuse)") && warnings[0].contains(column), "{warnings:?}");
    }
    // What was said once is not said with every later statement.
    assert_eq!(world.run("ALTER TABLE k.users ADD age int"), [""; 0]);
    assert_eq!(world.run("DROP INDEX k.users_status_idx"), [""; 0]);
    world.run("ALTER TABLE k.users WITH review = 'off'");
    assert_eq!(world.run("CREATE INDEX ON k.users (status)"), [""; 0]);
    world.run("ALTER TABLE k.users WITH review = 'warn'");
    world.run("DROP INDEX k.users_email_idx");
    world.run(
        "CREATE ACCESS PATTERN k.by_email AS SELECT * FROM k.users WHERE email = ? WITH peak_rate = 500",
    );
    world.run("ALTER TABLE k.users WITH review = 'enforce'");
    let text = world.refused("CREATE INDEX ON k.users (email)");
    assert!(text.starts_with("Refused by the review (index-misuse)"), "{text}");
}

#[test]
fn a_view_is_reviewed_behind_its_table() {
    let world = World::new("");
    world.run("CREATE TABLE k.tasks (task_id uuid PRIMARY KEY, status text, title text)");
    let view = |name: &str, column: &str| {
        format!(
            "CREATE MATERIALIZED VIEW k.{name} AS SELECT * FROM k.tasks WHERE {column} IS NOT NULL AND task_id IS NOT NULL \
             PRIMARY KEY ({column}, task_id)"
        )
    };
    let warnings = world.run(&view("tasks_by_status", "status"));
    assert!(warnings.iter().any(|w| w.contains("(view-cost)") && w.contains("status")), "{warnings:?}");
    assert_eq!(world.run("ALTER MATERIALIZED VIEW k.tasks_by_status WITH comment = 'x'"), [""; 0]);
    world.run("ALTER TABLE k.tasks ADD owner text");
    assert_eq!(world.run(&view("tasks_by_title", "title")), [""; 0]);
}

#[test]
fn many_tables_stay_quick_and_their_warnings_few() {
    let world = World::new("");
    let start = std::time::Instant::now();
    for n in 0..60 {
        let warnings = world.run(&SENSOR.replace("sensor_readings", &format!("sensor_readings_of_line_{n}")));
        assert!(warnings.len() <= 5, "{warnings:?}");
    }
    eprintln!("60 tables: {:?}", start.elapsed());
}
