//! `unused-table`: a table that no pattern reads.

use super::{Context, Rule, on_table};
use crate::catalogue::TableKind;
use crate::finding::{Findings, Severity};
use crate::fix;

pub static RULE: Rule = Rule {
    id: "unused-table",
    title: "a table that no pattern reads",
    why: "A table exists for the reads it serves. One that nothing reads is written, compacted, repaired and backed up for nobody, or its pattern is \
          missing from the catalogue, which then cannot speak for it.",
    bad: "CREATE TABLE a (id uuid PRIMARY KEY, v text);\nCREATE TABLE b (id uuid PRIMARY KEY, v text);\nCREATE ACCESS PATTERN read_a AS SELECT * FROM a WHERE id = ?;",
    good: "CREATE TABLE a (id uuid PRIMARY KEY, v text);\nCREATE ACCESS PATTERN read_a AS SELECT * FROM a WHERE id = ?;",
    seen: "Docussandra's DEF.cql declares data_entity with an index that no statement of the project reads: written, \
           compacted and backed up for nobody.",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    let catalogue = context.catalogue;
    let patterns = catalogue.accesses.iter().filter(|a| a.is_read() && a.pattern.is_some()).count();
    if patterns == 0 {
        // Plain queries are examples, not a catalogue: silence proves nothing.
        return;
    }
    let read: std::collections::HashSet<usize> =
        catalogue.accesses.iter().filter(|a| a.is_read()).filter_map(|a| a.table).collect();
    for (at, table, facts) in context.tables() {
        let by_view = || {
            catalogue.tables.iter().enumerate().any(|(view, t)| {
                matches!(&t.kind, TableKind::View { base } if *base == table.name) && read.contains(&view)
            })
        };
        if table.is_view() || facts.is_reference || read.contains(&at) || by_view() {
            continue;
        }
        let message = format!(
            "none of the {patterns} declared read patterns reads {}; declare the one that does, or drop it",
            table.name
        );
        let fix = fix::declaration(table, "peak_rate = 1");
        findings.push(on_table(&RULE, Severity::Warning, table, table.place.span).say(message, fix));
    }
}
