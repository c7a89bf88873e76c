//! The rules of `--act-as`: what, who refuses it, in which words.
//!
//! Words are those that the other server uses where they are known: recorded from Cassandra 5.0.6 where a scenario has them. Those of
//! Cassandra 4.1, ScyllaDB and Amazon Keyspaces follow from grammars and documents; no such server was asked. Else a sentence says
//! what is not there.

use super::Class::{Config, Invalid, Syntax};
use super::Profile::{Cassandra4, Cassandra5, Keyspaces, Scylla};
use super::walk::{Part, find};
use super::{Found, Profile, Refused, Rule};
use cql_syntax::Span;
use cql_syntax::ast::{
    CellInfo, DescribeTarget, Expr, ExprKind, Permission, Permissions, Relation, RelationOp, Resource,
    RoleOptionKind, Statement, Subject, TableChange, TypeKind, UsingKind,
};

const EVERYBODY: &[Profile] = &[Cassandra4, Cassandra5, Keyspaces, Scylla];
const NO_WAY_ON: &str = "no viable alternative at input '{}'";

/// Options of tables and keyspaces that are Partita's own.
const OURS: [&str; 9] = [
    "bucketing",
    "hold_tombstones",
    "partition_limit",
    "patterns",
    "patterns_allow",
    "retention",
    "review",
    "tenant",
    "tenant_limits",
];

/// Options that only ScyllaDB has.
const OF_SCYLLA: [&str; 7] = [
    "in_memory",
    "paxos_grace_seconds",
    "per_partition_rate_limit",
    "storage_engine",
    "synchronous_updates",
    "tablets",
    "tombstone_gc",
];

/// Options that Cassandra had before 4.
const OF_OLD: [&str; 5] = [
    "dclocal_read_repair_chance",
    "index_interval",
    "populate_io_cache_on_flush",
    "read_repair_chance",
    "replicate_on_write",
];

/// Options that only Cassandra 6 has.
const OF_SIX: [&str; 3] = ["fast_path", "transactional_migration_from", "transactional_mode"];

/// Functions that came with Cassandra 6.
const FUNCTIONS_OF_SIX: [&str; 4] = ["format_bytes", "format_time", "length", "octet_length"];

/// Functions that came with Cassandra 5, by how their names begin or by the whole name.
const FUNCTIONS_OF_FIVE: [&str; 24] = [
    "abs",
    "collection_*",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_timeuuid",
    "exp",
    "from_json",
    "log",
    "log10",
    "map_keys",
    "map_values",
    "mask_*",
    "max_timeuuid",
    "min_timeuuid",
    "round",
    "to_date",
    "to_json",
    "to_timestamp",
    "to_unix_timestamp",
    "*_as_blob",
    "blob_as_*",
    "similarity_*",
    "cast_as_*",
];

pub static RULES: &[Rule] = &[
    Rule {
        id: "own-statement",
        what: "statements of Partita: access patterns, projections, jobs, EXPLAIN, grants for tenants",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: own_statement,
    },
    Rule {
        id: "own-option",
        what: "options of Partita: bucketing, retention, review, patterns, partition_limit, tenant",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: "Unknown property '{}'" }],
        find: |statement| property(statement, &OURS),
    },
    Rule {
        id: "transaction",
        what: "BEGIN TRANSACTION (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| match statement {
            Statement::Transaction(transaction) => found("TRANSACTION", Some(transaction.span)),
            _ => None,
        },
    },
    Rule {
        id: "constraint",
        what: "CHECK and NOT NULL on columns (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: constraint,
    },
    Rule {
        id: "note",
        what: "COMMENT ON, SECURITY LABEL (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| match statement {
            Statement::SetNote(note) => found(if note.is_label { "SECURITY" } else { "COMMENT" }, None),
            _ => None,
        },
    },
    Rule {
        id: "table-like",
        what: "CREATE TABLE … LIKE (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: "mismatched input '{}' expecting '('" }],
        find: |statement| match statement {
            Statement::CopyTable(_) => found("LIKE", None),
            _ => None,
        },
    },
    Rule {
        id: "index-hint",
        what: "SELECT … WITH included_indexes (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            find(statement, |part| match part {
                Part::Select(select) if select.hints.is_some() => found("WITH", Some(select.span)),
                _ => None,
            })
        },
    },
    Rule {
        id: "option-of-6",
        what: "options of Cassandra 6: transactional_mode, fast_path",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: "Unknown property '{}'" }],
        find: |statement| property(statement, &OF_SIX),
    },
    Rule {
        id: "function-of-6",
        what: "functions of Cassandra 6: length, octet_length, format_bytes, format_time",
        refused: &[Refused { by: EVERYBODY, class: Invalid, words: "Unknown function '{}'" }],
        find: |statement| call(statement, &FUNCTIONS_OF_SIX),
    },
    Rule {
        id: "generated-password",
        what: "GENERATED PASSWORD (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            role_option(statement, |kind| matches!(kind, RoleOptionKind::GeneratedPassword), "GENERATED")
        },
    },
    Rule {
        id: "scylla-option",
        what: "options of ScyllaDB: tablets, tombstone_gc, per_partition_rate_limit and others",
        refused: &[Refused {
            by: &[Cassandra4, Cassandra5, Keyspaces],
            class: Syntax,
            words: "Unknown property '{}'",
        }],
        find: |statement| property(statement, &OF_SCYLLA),
    },
    Rule {
        id: "scylla-clause",
        what: "USING TIMEOUT, BYPASS CACHE (ScyllaDB)",
        refused: &[Refused { by: &[Cassandra4, Cassandra5, Keyspaces], class: Syntax, words: NO_WAY_ON }],
        find: scylla_clause,
    },
    Rule {
        id: "old-option",
        what: "options of Cassandra 1.2 to 3: read_repair_chance and others",
        refused: &[Refused { by: &[Cassandra4, Cassandra5], class: Syntax, words: "Unknown property '{}'" }],
        find: |statement| property(statement, &OF_OLD),
    },
    Rule {
        id: "row-ttl",
        what: "TTL columns, ALTER TABLE … TTL (ScyllaDB)",
        refused: &[Refused { by: &[Cassandra4, Cassandra5, Keyspaces], class: Syntax, words: NO_WAY_ON }],
        find: row_ttl,
    },
    Rule {
        id: "service-level",
        what: "service levels (ScyllaDB)",
        refused: &[Refused { by: &[Cassandra4, Cassandra5, Keyspaces], class: Syntax, words: NO_WAY_ON }],
        find: |statement| match statement {
            Statement::ServiceLevel(_) => found("SERVICE", None),
            _ => None,
        },
    },
    Rule {
        id: "not-in",
        what: "NOT IN (Cassandra 6, ScyllaDB)",
        refused: &[Refused { by: &[Cassandra4, Cassandra5, Keyspaces], class: Syntax, words: NO_WAY_ON }],
        find: |statement| relation(statement, |op| op == RelationOp::NotIn),
    },
    Rule {
        id: "newer-relation",
        what: "BETWEEN, NOT CONTAINS (Cassandra 6)",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            relation(statement, |op| {
                matches!(op, RelationOp::Between | RelationOp::NotContains | RelationOp::NotContainsKey)
            })
        },
    },
    Rule {
        id: "not-equal",
        what: "!= in WHERE",
        refused: &[Refused { by: EVERYBODY, class: Invalid, words: "Unsupported \"!=\" relation: {}" }],
        find: |statement| {
            where_clause(statement, |relation| (relation.op == RelationOp::Ne).then(|| relation.to_string()))
        },
    },
    Rule {
        id: "field-in-where",
        what: "WHERE on a field of a user-defined type",
        refused: &[Refused { by: EVERYBODY, class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            where_clause(statement, |relation| match &relation.subject {
                Subject::Field { column, .. } => Some(column.as_str().to_string()),
                _ => None,
            })
        },
    },
    Rule {
        id: "function-language",
        what: "functions in languages that are not there",
        refused: &[
            Refused {
                by: &[Cassandra5],
                class: Invalid,
                words: "Currently only Java UDFs are available in Cassandra. For more information - CASSANDRA-18252 and CASSANDRA-17281",
            },
            Refused { by: &[Cassandra4], class: Invalid, words: "Invalid language '{}'" },
        ],
        find: |statement| language(statement, &["lua", "wasm", "xwasm", "javascript"]),
    },
    Rule {
        id: "function-in-java",
        what: "functions in Java and JavaScript",
        refused: &[Refused { by: &[Scylla], class: Invalid, words: "Language '{}' is not supported" }],
        find: |statement| language(statement, &["java", "javascript"]),
    },
    Rule {
        id: "vector",
        what: "vectors and ANN OF (Cassandra 5)",
        refused: &[Refused { by: &[Cassandra4, Keyspaces], class: Syntax, words: NO_WAY_ON }],
        find: vector,
    },
    Rule {
        id: "mask",
        what: "dynamic data masking (Cassandra 5)",
        refused: &[Refused { by: &[Cassandra4, Keyspaces, Scylla], class: Syntax, words: NO_WAY_ON }],
        find: mask,
    },
    Rule {
        id: "storage-attached-index",
        what: "storage-attached indexes (Cassandra 5)",
        refused: &[
            Refused { by: &[Cassandra4], class: Config, words: "Unable to find custom indexer class '{}'" },
            Refused { by: &[Scylla], class: Invalid, words: "Non-supported custom class '{}' provided" },
        ],
        find: storage_attached,
    },
    Rule {
        id: "function-of-5",
        what: "functions of Cassandra 5: on collections, of mathematics, names with underscores",
        refused: &[Refused {
            by: &[Cassandra4, Keyspaces, Scylla],
            class: Invalid,
            words: "Unknown function '{}'",
        }],
        find: |statement| call(statement, &FUNCTIONS_OF_FIVE),
    },
    Rule {
        id: "maxwritetime",
        what: "maxwritetime (Cassandra 5)",
        refused: &[Refused {
            by: &[Cassandra4, Keyspaces, Scylla],
            class: Invalid,
            words: "Unknown function '{}'",
        }],
        find: |statement| {
            expr(statement, |expr| match &expr.kind {
                ExprKind::CellInfo { info: CellInfo::MaxWriteTime, .. } => Some("maxwritetime".into()),
                _ => None,
            })
        },
    },
    Rule {
        id: "unified-compaction",
        what: "UnifiedCompactionStrategy (Cassandra 5)",
        refused: &[Refused {
            by: &[Cassandra4, Scylla],
            class: Config,
            words: "Unable to find compaction strategy class '{}'",
        }],
        find: |statement| {
            find(statement, |part| match part {
                Part::Property(property) if property.name.as_str() == "compaction" => {
                    let class = property.value.map()?.find(|(key, _)| *key == "class")?.1.to_string();
                    let unified = class.ends_with("UnifiedCompactionStrategy");
                    unified.then_some(Found { text: class, span: Some(property.span) })
                }
                _ => None,
            })
        },
    },
    Rule {
        id: "cidr",
        what: "ACCESS FROM CIDRS (Cassandra 5)",
        refused: &[Refused { by: &[Cassandra4, Scylla], class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            let cidr = |kind: &RoleOptionKind| {
                matches!(kind, RoleOptionKind::AccessFromAllCidrs | RoleOptionKind::AccessFromCidrs(_))
            };
            role_option(statement, cidr, "FROM")
        },
    },
    Rule {
        id: "datacenter",
        what: "ACCESS TO DATACENTERS",
        refused: &[Refused { by: &[Scylla], class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            let place = |kind: &RoleOptionKind| {
                matches!(
                    kind,
                    RoleOptionKind::AccessToAllDatacenters | RoleOptionKind::AccessToDatacenters(_)
                )
            };
            role_option(statement, place, "ACCESS")
        },
    },
    Rule {
        id: "arithmetic",
        what: "arithmetic in expressions (Cassandra 4)",
        refused: &[Refused { by: &[Keyspaces, Scylla], class: Syntax, words: NO_WAY_ON }],
        find: |statement| {
            expr(statement, |expr| match &expr.kind {
                ExprKind::Binary { op, .. } => Some(op.symbol().to_string()),
                ExprKind::Negate(_) => Some("-".into()),
                _ => None,
            })
        },
    },
    Rule {
        id: "managed-schema",
        what: "indexes, materialized views, functions, aggregates, triggers, TRUNCATE, ALTER TYPE, dropped and renamed columns",
        refused: &[Refused {
            by: &[Keyspaces],
            class: Invalid,
            words: "{} is not supported by Amazon Keyspaces",
        }],
        find: managed_schema,
    },
    Rule {
        id: "managed-roles",
        what: "roles, users and permissions, which are those of IAM",
        refused: &[Refused {
            by: &[Keyspaces],
            class: Invalid,
            words: "{} is not supported by Amazon Keyspaces",
        }],
        find: managed_roles,
    },
    Rule {
        id: "managed-batch",
        what: "batches of more than 30 statements, and with conditions",
        refused: &[Refused {
            by: &[Keyspaces],
            class: Invalid,
            words: "{} is not supported by Amazon Keyspaces",
        }],
        find: managed_batch,
    },
    Rule {
        id: "trigger",
        what: "triggers",
        refused: &[Refused { by: &[Scylla], class: Invalid, words: "{} is not supported" }],
        find: |statement| match statement {
            Statement::CreateTrigger(_) => found("CREATE TRIGGER", None),
            _ => None,
        },
    },
];

/// What is seen only once a statement is bound: the server asks for it by itself.
pub fn arithmetic() -> &'static Rule {
    static RULE: Rule = Rule {
        id: "arithmetic-in-set",
        what: "SET n = n + 1 on a column that is no counter (Cassandra 5: with IF only)",
        refused: &[Refused {
            by: EVERYBODY,
            class: Invalid,
            words: "Invalid operation for non counter column {}",
        }],
        find: |_| None,
    };
    &RULE
}

fn found(text: &str, span: Option<Span>) -> Option<Found> {
    Some(Found { text: text.to_string(), span })
}

fn own_statement(statement: &Statement) -> Option<Found> {
    let tenant = |resource: &Resource| matches!(resource, Resource::OfTenant(..));
    match statement {
        Statement::Explain(_) => found("EXPLAIN", None),
        Statement::CreatePattern(_) | Statement::AlterPattern(_) | Statement::DropPattern(_) => {
            found("ACCESS", None)
        }
        Statement::CheckProjection(check) => found(if check.repair { "REPAIR" } else { "CHECK" }, None),
        Statement::OrderJob(_) => found("JOB", None),
        Statement::CreateView(create) if create.is_projection => found("PROJECTION", None),
        Statement::AlterTable(alter) if matches!(alter.change, TableChange::Replace { .. }) => {
            found("REPLACE", None)
        }
        Statement::GrantPermissions(grant) if tenant(&grant.resource) => found("FOR", None),
        Statement::RevokePermissions(revoke) if tenant(&revoke.resource) => found("FOR", None),
        Statement::Describe(describe)
            if matches!(describe.target, DescribeTarget::Patterns | DescribeTarget::Pattern(_)) =>
        {
            found("ACCESS", None)
        }
        _ => None,
    }
}

fn property(statement: &Statement, names: &[&str]) -> Option<Found> {
    find(statement, |part| match part {
        Part::Property(property) if names.contains(&property.name.as_str()) => {
            found(property.name.as_str(), None)
        }
        _ => None,
    })
}

fn constraint(statement: &Statement) -> Option<Found> {
    if let Statement::AlterTable(alter) = statement
        && matches!(alter.change, TableChange::Check { .. })
    {
        return found("CHECK", None);
    }
    find(statement, |part| match part {
        Part::Column(column) => column.checks.first().and_then(|check| found("CHECK", Some(check.span))),
        _ => None,
    })
}

fn row_ttl(statement: &Statement) -> Option<Found> {
    if let Statement::AlterTable(alter) = statement
        && matches!(alter.change, TableChange::RowTtl(_))
    {
        return found("TTL", None);
    }
    find(statement, |part| match part {
        Part::Column(column) if column.is_ttl => found("TTL", Some(column.span)),
        _ => None,
    })
}

fn call(statement: &Statement, names: &[&str]) -> Option<Found> {
    expr(statement, |expr| match &expr.kind {
        ExprKind::Function { name, .. } if matches!(name.keyspace_str(), None | Some("system")) => {
            let word = name.as_str().to_lowercase();
            let is = |known: &&str| match (known.strip_suffix('*'), known.strip_prefix('*')) {
                (Some(start), _) => word.starts_with(start),
                (_, Some(end)) => word.ends_with(end),
                _ => **known == word,
            };
            names.iter().any(is).then_some(word)
        }
        _ => None,
    })
}

fn expr(statement: &Statement, look: impl Fn(&Expr) -> Option<String>) -> Option<Found> {
    find(statement, |part| match part {
        Part::Expr(expr) => look(expr).map(|text| Found { text, span: Some(expr.span) }),
        _ => None,
    })
}

fn where_clause(statement: &Statement, look: impl Fn(&Relation) -> Option<String>) -> Option<Found> {
    find(statement, |part| match part {
        Part::Relation(relation) => look(relation).map(|text| Found { text, span: Some(relation.span) }),
        _ => None,
    })
}

fn relation(statement: &Statement, is: impl Fn(RelationOp) -> bool) -> Option<Found> {
    where_clause(statement, |relation| is(relation.op).then(|| relation.op.symbol().to_string()))
}

fn scylla_clause(statement: &Statement) -> Option<Found> {
    find(statement, |part| match part {
        Part::Select(select) if select.bypass_cache => found("BYPASS", Some(select.span)),
        Part::Select(select) if select.timeout.is_some() => found("USING", Some(select.span)),
        Part::Using(using) => {
            using.get(UsingKind::Timeout).and_then(|item| found("TIMEOUT", Some(item.span)))
        }
        _ => None,
    })
}

fn language(statement: &Statement, languages: &[&str]) -> Option<Found> {
    let Statement::CreateFunction(create) = statement else { return None };
    let language = create.language.as_str().to_lowercase();
    languages.contains(&language.as_str()).then_some(Found { text: language, span: None })
}

fn vector(statement: &Statement) -> Option<Found> {
    find(statement, |part| match part {
        Part::Type(data_type) if matches!(data_type.kind, TypeKind::Vector(..)) => {
            found("<", Some(data_type.span))
        }
        Part::Select(select) => {
            let near = select.order_by.iter().find(|order| order.ann_of.is_some())?;
            found("ANN", Some(near.span))
        }
        _ => None,
    })
}

fn mask(statement: &Statement) -> Option<Found> {
    let masks = |permissions: &Permissions| match permissions {
        Permissions::These(list) => {
            list.iter().any(|one| matches!(one, Permission::Unmask | Permission::SelectMasked))
        }
        Permissions::All => false,
    };
    match statement {
        Statement::AlterTable(alter) if matches!(alter.change, TableChange::Mask { .. }) => {
            found("MASKED", None)
        }
        Statement::GrantPermissions(grant) if masks(&grant.permissions) => found("UNMASK", None),
        Statement::RevokePermissions(revoke) if masks(&revoke.permissions) => found("UNMASK", None),
        _ => find(statement, |part| match part {
            Part::Column(column) => column.mask.as_ref().and_then(|mask| found("MASKED", Some(mask.span))),
            _ => None,
        }),
    }
}

fn storage_attached(statement: &Statement) -> Option<Found> {
    let Statement::CreateIndex(create) = statement else { return None };
    let class = &create.using.as_ref()?.value;
    let sai = class.eq_ignore_ascii_case("sai") || class.ends_with("StorageAttachedIndex");
    sai.then(|| Found { text: class.clone(), span: None })
}

fn role_option(statement: &Statement, is: impl Fn(&RoleOptionKind) -> bool, word: &str) -> Option<Found> {
    let options = match statement {
        Statement::CreateRole(create) => &create.options,
        Statement::AlterRole(alter) => &alter.options,
        _ => return None,
    };
    let option = options.iter().find(|option| is(&option.kind))?;
    found(word, Some(option.span))
}

fn managed_schema(statement: &Statement) -> Option<Found> {
    let what = match statement {
        Statement::CreateIndex(_) => "CREATE INDEX",
        Statement::DropIndex(_) => "DROP INDEX",
        Statement::CreateView(_) => "CREATE MATERIALIZED VIEW",
        Statement::AlterView(_) => "ALTER MATERIALIZED VIEW",
        Statement::DropView(_) => "DROP MATERIALIZED VIEW",
        Statement::CreateFunction(_) => "CREATE FUNCTION",
        Statement::DropFunction(_) => "DROP FUNCTION",
        Statement::CreateAggregate(_) => "CREATE AGGREGATE",
        Statement::DropAggregate(_) => "DROP AGGREGATE",
        Statement::CreateTrigger(_) => "CREATE TRIGGER",
        Statement::DropTrigger(_) => "DROP TRIGGER",
        Statement::Truncate(_) => "TRUNCATE",
        Statement::AlterType(_) => "ALTER TYPE",
        Statement::AlterTable(alter) => match alter.change {
            TableChange::Drop { .. } => "ALTER TABLE … DROP",
            TableChange::Rename { .. } => "ALTER TABLE … RENAME",
            _ => return None,
        },
        _ => return None,
    };
    found(what, None)
}

fn managed_roles(statement: &Statement) -> Option<Found> {
    let what = match statement {
        Statement::CreateRole(_) => "CREATE ROLE",
        Statement::AlterRole(_) => "ALTER ROLE",
        Statement::DropRole(_) => "DROP ROLE",
        Statement::GrantRole(_) | Statement::GrantPermissions(_) => "GRANT",
        Statement::RevokeRole(_) | Statement::RevokePermissions(_) => "REVOKE",
        Statement::ListRoles(_) | Statement::ListUsers | Statement::ListSuperUsers => "LIST ROLES",
        Statement::ListPermissions(_) => "LIST PERMISSIONS",
        Statement::AddIdentity(_) | Statement::DropIdentity(_) => "IDENTITY",
        _ => return None,
    };
    found(what, None)
}

fn managed_batch(statement: &Statement) -> Option<Found> {
    use cql_syntax::ast::Modification;
    let Statement::Batch(batch) = statement else { return None };
    let conditional = |inner: &Modification| match inner {
        Modification::Insert(insert) => insert.if_not_exists.is_some(),
        Modification::Update(update) => update.condition.is_some(),
        Modification::Delete(delete) => delete.condition.is_some(),
    };
    if batch.statements.len() > 30 {
        return found("a batch of more than 30 statements", None);
    }
    batch
        .statements
        .iter()
        .any(conditional)
        .then(|| Found { text: "a condition in a batch".into(), span: None })
}
