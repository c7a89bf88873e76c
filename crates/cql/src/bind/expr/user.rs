//! Calls of functions and aggregates that users made: chosen and typed as any other.

use super::Binder;
use super::call::Callee;
use crate::CqlError;
use crate::bind::Scope;
use crate::bind::expr::bind_term;
use crate::bind::markers::Markers;
use cql_syntax::ast::{self, InsertSource, QualifiedName, Statement};
use model::types::DataType;
use query::expr::{Evaluated, Expr, Node};
use query::function::{self, Argument, Choice, Function, User};
use query::select::{Aggregate, AggregateKind, Source, UserCall};
use query::{Ids, Request, Values};
use std::sync::Arc;

impl Binder<'_, '_> {
    /// The keyspace that a function is looked for in: the one that is named, else that of the statement's table.
    fn function_keyspace(&self, name: &QualifiedName) -> Option<&Arc<schema::Keyspace>> {
        let of_table = || self.row.as_ref().map(|row| &row.table).or(self.table);
        let of_markers = || self.markers.table(self.scope.catalogue);
        let written = name.keyspace_str().map(str::to_string);
        let keyspace = written
            .or_else(|| of_table().or_else(of_markers).map(|table| table.keyspace.to_string()))
            .or_else(|| self.scope.keyspace.map(str::to_string))?;
        self.scope.catalogue.keyspace(&keyspace)
    }

    /// The user-defined function or aggregate that a name calls; `None` if there is none of that name.
    pub(super) fn user_callee(
        &self,
        name: &QualifiedName,
        args: &[ast::Expr],
        expected: Option<&DataType>,
    ) -> Result<Option<Callee>, CqlError> {
        let Some(keyspace) = self.function_keyspace(name) else { return Ok(None) };
        if keyspace.functions.is_empty() && keyspace.aggregates.is_empty() {
            return Ok(None);
        }
        let mut candidates: Vec<Function> =
            keyspace.functions_named(name.as_str()).filter_map(|f| Function::of_user(keyspace, f)).collect();
        for aggregate in keyspace.aggregates_named(name.as_str()) {
            let first = |of: &DataType, text: &str| first_state(self.scope, of, text);
            let found = Function::of_aggregate(keyspace, aggregate, first)?;
            // What cannot run is refused here: over no rows nothing would be called.
            if let Some(function) = found.as_ref().and_then(not_run) {
                return Err(function);
            }
            candidates.extend(found);
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        args.iter().try_for_each(|arg| self.check_inner(arg))?;
        // Native functions of the same name are candidates as well, unless a keyspace is named.
        if name.keyspace.is_none() {
            let unknown = |_: &ast::Expr| Argument { data_type: None, text: String::new() };
            let unknown: Vec<Argument> = args.iter().map(unknown).collect();
            candidates.extend(
                function::candidates(name.as_str(), &unknown, expected)
                    .and_then(Result::ok)
                    .unwrap_or_default(),
            );
        }
        Ok(Some(match self.choose(name.as_str(), candidates, args, expected)? {
            Callee::Scalar(chosen) if matches!(chosen.user.as_deref(), Some(User::Aggregate { .. })) => {
                Callee::UserAggregate(chosen)
            }
            callee => callee,
        }))
    }

    /// The keyspace of a user-defined function or aggregate that is called without naming one.
    pub fn keyspace_of_function(&self, name: &str) -> Option<String> {
        let name = QualifiedName::unqualified(name);
        let keyspace = self.function_keyspace(&name)?;
        let is_function = keyspace.functions_named(name.as_str()).next().is_some();
        let is_there = is_function || keyspace.aggregates_named(name.as_str()).next().is_some();
        is_there.then(|| keyspace.name.to_string())
    }

    /// Keeps beside the plan that it calls this, if somebody made it.
    pub(super) fn uses(&mut self, chosen: &Arc<Function>) {
        let place = match chosen.user.as_deref() {
            Some(User::Function { keyspace, .. } | User::Aggregate { keyspace, .. }) => keyspace,
            None => return,
        };
        let name = chosen.name.split_once('.').map_or("", |(_, name)| name);
        if let Some(keyspace) = self.scope.catalogue.keyspace(place) {
            self.markers.call(Choice::new(keyspace, name, chosen.clone()));
        }
    }

    pub(super) fn user_aggregate(&mut self, chosen: Function, args: &[ast::Expr]) -> Result<Expr, CqlError> {
        let chosen = Arc::new(chosen);
        let Some(User::Aggregate { state, finish, initial, .. }) = chosen.user.as_deref() else {
            return Err(CqlError::invalid("This is no aggregate"));
        };
        self.enter_aggregate()?;
        let bound: Result<Vec<Expr>, CqlError> = args
            .iter()
            .zip(&chosen.args)
            .map(|(arg, of)| self.bind(arg, of, super::call::SELECTION))
            .collect();
        self.uses(&chosen);
        let Some(row) = &mut self.row else { return Err(CqlError::invalid("no row at hand")) };
        row.in_aggregate = false;
        let user = UserCall {
            state: state.clone(),
            finish: finish.clone(),
            initial: initial.clone(),
            arguments: bound?,
        };
        let number = row.aggregates.len();
        row.aggregates.push(Aggregate {
            kind: AggregateKind::User,
            argument: None,
            user: Some(Box::new(user)),
        });
        let slot = row.add(Source::Aggregate(number), chosen.returns.clone());
        Ok(Expr::new(chosen.returns.clone(), Node::Input(slot)))
    }
}

/// Why an aggregate cannot be called here, if one of its functions is in a language that does not run.
fn not_run(aggregate: &Function) -> Option<CqlError> {
    let aggregate = Arc::new(aggregate.clone());
    let languages = aggregate.called().into_iter().filter_map(|function| match function.user.as_deref() {
        Some(User::Function { function, .. }) => Some(function.language.as_str()),
        _ => None,
    });
    let runs = languages.into_iter().all(|language| sandbox::Language::named(language).is_some());
    (!runs).then(|| query::fault::FunctionFault::NotRun { function: aggregate.name.to_string() }.into())
}

/// The first state of an aggregate, which is kept as CQL.
fn first_state(scope: Scope<'_>, of: &DataType, text: &str) -> Result<Option<Vec<u8>>, CqlError> {
    struct NoIds;
    impl Ids for NoIds {
        fn timeuuid(&self) -> [u8; 16] {
            [0; 16]
        }

        fn uuid(&self) -> [u8; 16] {
            [0; 16]
        }
    }
    let wrong = || CqlError::Invalid(format!("The INITCOND {text} cannot be read as a {of}"));
    // There is no statement that is a term alone.
    let parsed = cql_syntax::parse_statement(&format!("INSERT INTO t (c) VALUES ({text})"));
    let Ok(Statement::Insert(insert)) = parsed.map(|parsed| parsed.statement) else { return Err(wrong()) };
    let InsertSource::Values { values, .. } = &insert.source else { return Err(wrong()) };
    let term = values.first().ok_or_else(wrong)?;
    let bound = bind_term(scope, term, of, "(dummy)", &mut Markers::new(0))?;
    Ok(match bound.evaluate(&Request::new(Values::NONE, 0), &NoIds)? {
        Evaluated::Value(bytes) => Some(bytes.into_owned()),
        Evaluated::Null | Evaluated::Unset => None,
    })
}
