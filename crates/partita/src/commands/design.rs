//! `partita design`: from entities and access patterns to tables, with the reasons, as CQL that passes review.
//!
//! Exit 0 when the derived schema has no error finding, 1 when it has one, 2 for a catalogue that cannot be used.

use super::Failure;
use super::files::{read, write_out};
use clap::Args;
use design::derive::InputError;
use design::output::text;
use std::path::PathBuf;

/// Options of `partita design`.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct DesignOptions {
    /// The catalogue: a TOML file with `[[entity]]` and `[[pattern]]` tables; `-` reads standard input.
    catalogue: PathBuf,
    /// Make buckets of columns that the application computes, so that the schema runs on Cassandra and ScyllaDB as well
    #[arg(long)]
    portable: bool,
    /// Write the CQL to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const HELP: &str = "\
A catalogue says which entities there are and how they are read:

  keyspace = \"cases\"

  [[entity]]
  name = \"task\"
  key = [\"task_id\"]                      # what identifies one
  source_of_truth = \"the task event stream\"
  [entity.fields]                        # CQL types
  tenant_id = \"uuid\"
  task_id = \"uuid\"
  assignee_id = \"uuid\"
  status = \"text\"
  due_at = \"timestamp\"

  [[pattern]]
  operation = \"list_open_tasks\"
  entity = \"task\"
  inputs = [\"tenant_id\", \"assignee_id\"]  # known exactly: the partition key
  filter = \"status = 'OPEN'\"             # which rows the table contains
  order = \"due_at ASC\"                   # the clustering key
  limit = 100
  frequency = 2000                       # reads per second at peak
  growth = 50000                         # rows that one value of the inputs can reach
                                         # (or rows_per_day and retention = \"7 years\")

Out comes CQL: tables with the reason for every key and bucket, access patterns with their numbers, copies with their source of
truth, and the write fan-out. It is reviewed before it is shown as done; findings go to standard error.

  partita design catalogue.toml -o schema.cql
  partita simulate schema.cql --large acme=40%     what it costs when one tenant is large

docs/design.md lists every field and walks through an example.";

pub fn run(options: DesignOptions) -> Result<(), Failure> {
    let path = options.catalogue.display().to_string();
    let source = read(&options.catalogue)?;
    let target = if options.portable { design::Target::Cassandra } else { design::Target::Partita };
    let plan = design::derive::derive(&source, target)
        .map_err(|errors| Failure::Usage(listed(&path, &source, &errors)))?;
    let cql = design::derive::print(&plan);
    write_out(&options.output, &cql)?;
    let review = design::review_for(target, [("derived schema", cql)]);
    if !review.findings.is_empty() {
        eprint!("{}", text::write(&review, text::Colour::Never));
    }
    if review.has_errors() { Err(Failure::Findings) } else { Ok(()) }
}

/// Every problem as `file:line: what`, with the line below.
fn listed(path: &str, source: &str, errors: &[InputError]) -> String {
    let mut out = match errors.len() {
        1 => "the catalogue cannot be used".to_string(),
        many => format!("the catalogue cannot be used, for {many} reasons"),
    };
    for error in errors {
        match error.line {
            Some(line) => {
                let text = source.lines().nth(line.saturating_sub(1)).unwrap_or("").trim_end();
                out.push_str(&format!("\n{path}:{line}: {error}\n    {line} | {text}"));
            }
            None => out.push_str(&format!("\n{path}: {error}")),
        }
    }
    out
}
