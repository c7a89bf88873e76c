//! Calls of user-defined functions: chosen and typed as any other, refused when they would run.

use super::Binder;
use super::call::Callee;
use crate::CqlError;
use cql_syntax::ast::{self, QualifiedName};
use model::types::DataType;
use query::fault::FunctionFault;
use query::function::{self, Args, Argument, CallContext, CallResult, Function};
use schema::{Keyspace, UserFunction};
use std::sync::Arc;

impl Binder<'_, '_> {
    /// The keyspace that a function is looked for in: the one that is named, else that of the statement's table.
    fn function_keyspace(&self, name: &QualifiedName) -> Option<&Arc<Keyspace>> {
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
            keyspace.functions_named(name.as_str()).filter_map(|f| callable(keyspace, f)).collect();
        if candidates.is_empty() {
            return match keyspace.aggregates_named(name.as_str()).next() {
                Some(_) => {
                    Err(FunctionFault::NotRun { function: format!("{}.{}", keyspace.name, name.as_str()) }
                        .into())
                }
                None => Ok(None),
            };
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
        self.choose(name.as_str(), candidates, args, expected).map(Some)
    }

    /// The keyspace of a user-defined function that is called without naming one.
    pub fn keyspace_of_function(&self, name: &str) -> Option<String> {
        let name = QualifiedName::unqualified(name);
        let keyspace = self.function_keyspace(&name)?;
        keyspace.functions_named(name.as_str()).next().map(|_| keyspace.name.to_string())
    }
}

fn callable(keyspace: &Keyspace, function: &UserFunction) -> Option<Function> {
    let types: Option<Vec<DataType>> =
        function.arguments.iter().map(|(_, data_type)| keyspace.type_named(data_type)).collect();
    Some(Function {
        name: format!("{}.{}", keyspace.name, function.name).into(),
        args: types?,
        returns: keyspace.type_named(&function.returns)?,
        body: refused,
        monotonic: false,
    })
}

fn refused(function: &Function, _: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Err(FunctionFault::NotRun { function: function.name.to_string() }.into())
}
