//! Statements against declared access patterns: `WITH patterns = 'enforce' | 'warn'` on a keyspace.
//!
//! Whether a statement is an instance of a pattern is found out once, when it is bound, and again when the patterns of its keyspace
//! change. Executing looks at one field. Every role is concerned, superusers too, but for those that the keyspace's
//! `patterns_allow` names; the keyspaces of the server itself have no patterns.

use crate::CqlError;
use crate::bind::Scope;
use crate::bind::markers::Markers;
use crate::prepared::{Prepared, bind_plan};
use crate::roles;
use crate::session::{Dialect, Session};
use crate::shape::{Shaped, foreign_shape, shapes};
use database::shape::{Shape, Verb};
use model::types::quote_identifier;
use schema::{AccessPattern, Catalogue, Keyspace};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use store::Store;

/// A statement of no pattern, in a keyspace that wants one.
#[derive(Debug)]
pub struct Undeclared {
    pub refused: bool,
    /// What the client is told.
    pub text: String,
    /// Roles that may all the same.
    pub allowed: Vec<String>,
}

/// What is wrong with an operation of another dialect that does what a statement of this shape does.
pub fn judge_operation(catalogue: &Catalogue, shaped: Shaped) -> Option<Box<Undeclared>> {
    let shapes = [shaped];
    let rules = rules(catalogue, &shapes);
    let mut found = judge(catalogue, &shapes, &rules)?;
    found.text = found.text.replacen("This statement", "This operation", 1);
    Some(found)
}

/// What a statement was judged by: mode, exempt roles and patterns of each keyspace that wants patterns.
pub(crate) type Rules = Vec<(Arc<str>, String, Vec<String>, BTreeMap<Arc<str>, Arc<AccessPattern>>)>;

fn wants_patterns(keyspace: &Keyspace) -> bool {
    matches!(keyspace.patterns_mode.as_str(), "enforce" | "warn") && !keyspace.is_system()
}

/// The rules that concern a statement with these shapes.
pub(crate) fn rules(catalogue: &Catalogue, shapes: &[Shaped]) -> Rules {
    let mut found: Rules = Vec::new();
    for shaped in shapes {
        let Some(keyspace) = catalogue.keyspace(&shaped.shape.keyspace).filter(|k| wants_patterns(k)) else {
            continue;
        };
        if found.iter().all(|(name, ..)| *name != keyspace.name) {
            let (mode, allow) = (keyspace.patterns_mode.clone(), keyspace.patterns_allow.clone());
            found.push((keyspace.name.clone(), mode, allow, keyspace.patterns.clone()));
        }
    }
    found
}

/// What is wrong with a statement of these shapes; the worst where there are several.
pub(crate) fn judge(catalogue: &Catalogue, shapes: &[Shaped], rules: &Rules) -> Option<Box<Undeclared>> {
    let mut worst: Option<Box<Undeclared>> = None;
    for (name, mode, allowed, patterns) in rules {
        let declared: Vec<Shape> =
            patterns.values().filter_map(|pattern| pattern_shape(catalogue, name, pattern)).collect();
        let of_keyspace = shapes.iter().filter(|shaped| shaped.shape.keyspace == *name);
        let is_declared =
            |shaped: &&Shaped| declared.iter().any(|pattern| shaped.shape.is_instance_of(pattern));
        let Some(stranger) = of_keyspace.into_iter().find(|shaped| !is_declared(shaped)) else { continue };
        let refused = mode == "enforce";
        if worst.as_ref().is_none_or(|known| refused && !known.refused) {
            let text = text(name, refused, stranger);
            worst = Some(Box::new(Undeclared { refused, text, allowed: allowed.clone() }));
        }
    }
    worst
}

fn text(keyspace: &str, refused: bool, stranger: &Shaped) -> String {
    let declare = declaration(&stranger.shape, &name_for(&stranger.shape), &stranger.statement, "");
    let keyspace = quote_identifier(keyspace);
    if refused {
        format!(
            "This statement is an instance of no declared access pattern, and keyspace {keyspace} has patterns = 'enforce'. Declare \
             it: {declare} Or let it pass: ALTER KEYSPACE {keyspace} WITH patterns = 'warn', or name your role in patterns_allow"
        )
    } else {
        format!(
            "This statement is an instance of no declared access pattern of keyspace {keyspace}. To declare it: {declare}"
        )
    }
}

/// The statement that declares a pattern; `numbers` is its WITH clause or nothing.
pub(crate) fn declaration(shape: &Shape, name: &str, statement: &str, numbers: &str) -> String {
    let (keyspace, name) = (quote_identifier(&shape.keyspace), quote_identifier(name));
    format!("CREATE ACCESS PATTERN {keyspace}.{name} AS {statement}{numbers};")
}

/// A name that says what the shape does.
pub(crate) fn name_for(shape: &Shape) -> String {
    let verb = match shape.verb {
        Verb::Select => "read",
        Verb::Insert => "insert",
        Verb::Update => "update",
        Verb::Delete => "delete",
    };
    let mut name = format!("{verb}_{}", shape.table);
    for (at, (column, _)) in shape.restricted.iter().enumerate() {
        name += if at == 0 { "_by_" } else { "_" };
        name.extend(column.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_'));
    }
    let end = name.floor_char_boundary(48);
    name.truncate(end);
    name
}

/// The shape that a pattern declares; `None` while the schema does not serve it. Asked every few seconds for all patterns, so what was
/// found out under this version of the catalogue is remembered.
pub(crate) fn pattern_shape(catalogue: &Catalogue, keyspace: &str, pattern: &AccessPattern) -> Option<Shape> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if known.version != catalogue.version || known.shapes.len() > SHAPES_MAX {
        *known = Known { version: catalogue.version, shapes: HashMap::new() };
    }
    let key = (keyspace.to_string(), pattern.statement.clone());
    if let Some(shape) = known.shapes.get(&key) {
        return shape.clone();
    }
    let shape = bound_shape(catalogue, keyspace, pattern);
    known.shapes.insert(key, shape.clone());
    shape
}

/// Shapes by keyspace and statement, under one version of the catalogue.
#[derive(Default)]
struct Known {
    version: [u8; 16],
    shapes: HashMap<(String, String), Option<Shape>>,
}

/// Shapes that are remembered at once.
const SHAPES_MAX: usize = 10_000;

fn bound_shape(catalogue: &Catalogue, keyspace: &str, pattern: &AccessPattern) -> Option<Shape> {
    let parsed = cql_syntax::parse_statement(&pattern.statement).ok()?;
    let scope = Scope { catalogue, keyspace: Some(keyspace) };
    if let Some(shape) = foreign_shape(scope, &parsed.statement) {
        return shape.ok();
    }
    let mut markers = Markers::new(parsed.markers.len());
    let plan = bind_plan(scope, &parsed.statement, &mut markers).ok()?;
    shapes(&parsed.statement, &plan).into_iter().next().map(|shaped| shaped.shape)
}

impl<S: Store> Dialect<S> {
    /// Refuses a statement of no pattern where they are enforced. Where they are not: what to warn of.
    pub async fn undeclared<'p>(
        &self,
        session: &Session,
        prepared: &'p Prepared,
        now_micros: i64,
    ) -> Result<Option<&'p str>, CqlError> {
        let Some(undeclared) = &prepared.undeclared else { return Ok(None) };
        if let Some(role) = session.role.as_ref().filter(|_| !undeclared.allowed.is_empty()) {
            let grants = roles::grants(self, role, now_micros).await?;
            if undeclared.allowed.iter().any(|name| grants.roles.contains(name)) {
                return Ok(None);
            }
        }
        match undeclared.refused {
            true => Err(CqlError::Invalid(undeclared.text.clone())),
            false => Ok(Some(&undeclared.text)),
        }
    }
}
