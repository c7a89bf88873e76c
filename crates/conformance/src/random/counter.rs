//! A counter table beside the other one, and random statements on it.

use super::Sent;
use super::seeded::Seeded;

pub fn create() -> String {
    "CREATE TABLE n (p int, c int, x counter, y counter, s counter STATIC, PRIMARY KEY (p, c))".into()
}

/// A deleted counter that is changed again is undefined in Cassandra (COMPAT.md), so counters are deleted at the end of
/// a round, where none is changed any more.
pub fn statement(random: &mut Seeded, ending: bool) -> Sent {
    let p = format!("p = {}", random.below(3));
    let c = format!("c = {}", random.below(4));
    let change = |random: &mut Seeded, name: &str| {
        let by = random.one_of(&["1", "2", "10", "-3", "9223372036854775807"]);
        match random.below(3) {
            0 => format!("{name} = {name} - {by}"),
            1 => format!("{name} += {by}"),
            _ => format!("{name} = {name} + {by}"),
        }
    };
    let (kind, text) = match if ending { 10 + random.below(12) } else { random.below(20) } {
        0..6 => {
            let name = random.one_of(&["x", "y"]);
            ("counter UPDATE", format!("UPDATE n SET {} WHERE {p} AND {c}", change(random, name)))
        }
        6 | 7 => {
            let (x, s) = (change(random, "x"), change(random, "s"));
            ("counter UPDATE", format!("UPDATE n SET {x}, {s} WHERE {p} AND {c}"))
        }
        8 => ("counter UPDATE", format!("UPDATE n SET {} WHERE {p}", change(random, "s"))),
        9 => {
            let (x, y) = (change(random, "x"), change(random, "y"));
            let text = format!(
                "BEGIN COUNTER BATCH UPDATE n SET {x} WHERE {p} AND {c}; UPDATE n SET {y} WHERE {p} AND {c}; APPLY BATCH"
            );
            ("counter BATCH", text)
        }
        10..14 => ("counter SELECT", format!("SELECT * FROM n WHERE {p}")),
        14 => ("counter SELECT", format!("SELECT sum(x), max(y), count(x) FROM n WHERE {p}")),
        15 => ("counter SELECT", format!("SELECT x, y + 1, s FROM n WHERE {p} AND {c}")),
        16 => ("counter SELECT", "SELECT JSON * FROM n".into()),
        17 => ("counter SELECT", format!("SELECT c, x FROM n WHERE {p} AND c > 0 ORDER BY c DESC LIMIT 2")),
        18 => ("counter SELECT", "SELECT * FROM n WHERE x > 2 ALLOW FILTERING".into()),
        20 => {
            let what = random.one_of(&["", "x ", "y ", "x, y ", "s, x "]);
            ("counter DELETE", format!("DELETE {what}FROM n WHERE {p} AND {c}"))
        }
        21 if random.chance(50) => {
            let what = random.one_of(&["", "s "]);
            ("counter DELETE", format!("DELETE {what}FROM n WHERE {p}"))
        }
        21 => ("counter DELETE", format!("DELETE FROM n WHERE {p} AND c > {}", random.below(4))),
        _ => ("counter refused", {
            random
                .one_of(&[
                    "INSERT INTO n (p, c, x) VALUES (1, 1, 1)",
                    "UPDATE n SET x = 1 WHERE p = 1 AND c = 1",
                    "UPDATE n USING TTL 10 SET x = x + 1 WHERE p = 1 AND c = 1",
                    "UPDATE n USING TIMESTAMP 10 SET x = x + 1 WHERE p = 1 AND c = 1",
                    "UPDATE n SET x = x + 1 WHERE p = 1 AND c = 1 IF x = 2",
                    "BEGIN BATCH UPDATE n SET x = x + 1 WHERE p = 1 AND c = 1; APPLY BATCH",
                    "UPDATE n SET x = x + 'a' WHERE p = 1 AND c = 1",
                    "UPDATE n SET x = y + 1 WHERE p = 1 AND c = 1",
                    "UPDATE n SET x = x + null WHERE p = 1 AND c = 1",
                    "SELECT writetime(p) FROM n",
                ])
                .to_string()
        }),
    };
    Sent::new(kind, text)
}
