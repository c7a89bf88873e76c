//! What only Cassandra 6 has: constraints of columns and transactions, on tables of their own.
//!
//! Left out is what COMPAT.md says differs from 6.0-alpha2: updates that leave out a NOT NULL column, values of several LETs that are
//! compared with each other, and what the alpha fails at inside.

use super::Sent;
use super::seeded::Seeded;
use cql_wire::Consistency;

pub fn create() -> Vec<Sent> {
    let checked = "CREATE TABLE q (k int, c int CHECK c >= 0, n int CHECK n > 0 AND n < 10, s text CHECK LENGTH() < 4, \
                   j text CHECK JSON(), o blob CHECK OCTET_LENGTH() <= 2, r text CHECK REGEXP() = '[a-c]+', PRIMARY KEY (k, c))";
    let rows =
        "CREATE TABLE x (k int, c int, v int, w text, PRIMARY KEY (k, c)) WITH transactional_mode = 'full'";
    let lone = "CREATE TABLE y (k int PRIMARY KEY, v int, l list<int>, m map<int, int>) WITH transactional_mode = 'full'";
    [checked, rows, lone].map(|text| Sent::new("CREATE", text.into())).into()
}

pub fn statement(random: &mut Seeded) -> Sent {
    let mut sent = if random.chance(45) { checked(random) } else { transaction(random) };
    // Accord refuses the weakest level on tables of transactions.
    sent.options.consistency = Some(Consistency::Quorum);
    sent
}

fn written(random: &mut Seeded, column: &str) -> &'static str {
    match column {
        "n" => random.one_of(&["1", "5", "9", "10", "0", "-1", "null"]),
        "s" => random.one_of(&["'a'", "'abc'", "'abcd'", "'éééé'", "''", "null"]),
        "j" => random.one_of(&["'{\"a\": 1}'", "'[1, 2]'", "'{a}'", "'x'", "null"]),
        "o" => random.one_of(&["0x", "0x01", "0x0102", "0x010203", "null"]),
        _ => random.one_of(&["'a'", "'abc'", "'d'", "''", "null"]),
    }
}

const CHECKED: [&str; 5] = ["n", "s", "j", "o", "r"];

fn checked(random: &mut Seeded) -> Sent {
    let (k, c) = (random.below(3), random.one_of(&["0", "1", "2", "-1"]));
    let column = random.one_of(&CHECKED);
    let value = written(random, column);
    let (kind, text) = match random.below(10) {
        0..4 => ("constraint INSERT", {
            let chosen: Vec<&str> = CHECKED.iter().copied().filter(|_| random.chance(40)).collect();
            let values: Vec<&str> = chosen.iter().map(|column| written(random, column)).collect();
            let list = |parts: &[&str]| parts.iter().map(|part| format!(", {part}")).collect::<String>();
            format!("INSERT INTO q (k, c{}) VALUES ({k}, {c}{})", list(&chosen), list(&values))
        }),
        4 | 5 => ("constraint UPDATE", format!("UPDATE q SET {column} = {value} WHERE k = {k} AND c = {c}")),
        6 => ("constraint DELETE", format!("DELETE {column} FROM q WHERE k = {k} AND c = {c}")),
        7 => (
            "constraint BATCH",
            format!(
                "BEGIN BATCH INSERT INTO q (k, c, n) VALUES ({k}, 1, 5); UPDATE q SET {column} = {value} WHERE k = {k} AND c = {c}; APPLY BATCH"
            ),
        ),
        8 => (
            "constraint JSON",
            format!("INSERT INTO q JSON '{{\"k\": {k}, \"c\": {c}, \"n\": {}}}'", random.below(12)),
        ),
        _ => ("constraint SELECT", "SELECT * FROM q".into()),
    };
    Sent::new(kind, text)
}

/// One write inside of a transaction.
fn write(random: &mut Seeded) -> String {
    let (k, c, v) = (random.below(3), random.below(3), random.below(5));
    match random.below(9) {
        0 => format!("INSERT INTO x (k, c, v) VALUES ({k}, {c}, {v});"),
        1 => format!("UPDATE x SET v += {v} WHERE k = {k} AND c = {c};"),
        2 => format!("UPDATE x SET v -= 1, w = 'a' WHERE k = {k} AND c = {c};"),
        3 => format!("UPDATE x SET w += 'b' WHERE k = {k} AND c = {c};"),
        4 => format!("DELETE FROM x WHERE k = {k} AND c = {c};"),
        5 => format!("DELETE v FROM x WHERE k = {k} AND c = {c};"),
        6 => format!("INSERT INTO y (k, v) VALUES ({k}, {v});"),
        7 => format!("UPDATE y SET v += {v} WHERE k = {k};"),
        _ => format!("DELETE FROM y WHERE k = {k};"),
    }
}

fn condition(random: &mut Seeded) -> String {
    let value = random.below(5);
    match random.below(5) {
        0 => "a IS NULL".into(),
        1 => "a IS NOT NULL".into(),
        2 => format!("a.v {} {value}", random.one_of(&["=", "!=", "<", ">", "<=", ">="])),
        3 => format!("a.v = {value} AND b IS NOT NULL"),
        _ => format!("b.v > {value}"),
    }
}

fn transaction(random: &mut Seeded) -> Sent {
    let (k, c, other) = (random.below(3), random.below(3), random.below(3));
    let lets = format!(
        "LET a = (SELECT v, w FROM x WHERE k = {k} AND c = {c}); LET b = (SELECT v FROM y WHERE k = {other});"
    );
    let (kind, body) = match random.below(8) {
        0 => ("transaction writes", {
            let first = write(random);
            // Two writes of one row in a transaction are left out: which of them is newer is no question there.
            first
        }),
        1 => ("transaction reads", format!("SELECT * FROM x WHERE k = {k} AND c = {c};")),
        2 => ("transaction reads", format!("{lets} SELECT a.v, a.w, b.v;")),
        3 => ("transaction reads", format!("SELECT v FROM y WHERE k = {k}; {}", write(random))),
        4 | 5 => {
            let condition = condition(random);
            (
                "transaction IF",
                format!("{lets} SELECT a.v, b.v; IF {condition} THEN {} END IF", write(random)),
            )
        }
        6 => (
            "transaction LET",
            format!(
                "LET a = (SELECT v FROM y WHERE k = {other}); INSERT INTO x (k, c, v) VALUES ({k}, {c}, a.v);"
            ),
        ),
        _ => {
            let text = random.one_of(&["SELECT * FROM x", "SELECT k, v FROM y"]);
            return Sent::new("transaction table", text.into());
        }
    };
    Sent::new(kind, format!("BEGIN TRANSACTION {body} COMMIT TRANSACTION"))
}
