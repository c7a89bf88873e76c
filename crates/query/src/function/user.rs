//! Functions and aggregates that users made, as plans call them.
//!
//! The functions that a plan calls are kept beside it: they need permissions, and the plan is stale when one has changed.

use super::{Args, CallContext, CallResult, Function};
use crate::fault::FunctionFault;
use model::types::DataType;
use sandbox::{Compiled, Definition, Language, Sandbox};
use schema::{Catalogue, Keyspace, UserAggregate, UserFunction};
use std::sync::Arc;

/// What a [`Function`] stands for that is not built in.
#[derive(Clone, Debug)]
pub enum User {
    Function {
        keyspace: Arc<str>,
        function: Arc<UserFunction>,
    },
    /// Called with many rows: the [`Function`] is its signature.
    Aggregate {
        keyspace: Arc<str>,
        aggregate: Arc<UserAggregate>,
        state: Arc<Function>,
        finish: Option<Arc<Function>>,
        /// The first state.
        initial: Option<Vec<u8>>,
    },
}

impl Function {
    /// A user-defined function, with its types as they are now; `None` if one of them is gone.
    pub fn of_user(keyspace: &Keyspace, function: &Arc<UserFunction>) -> Option<Function> {
        let types: Option<Vec<DataType>> =
            function.arguments.iter().map(|(_, data_type)| keyspace.type_named(data_type)).collect();
        let user = User::Function { keyspace: keyspace.name.clone(), function: function.clone() };
        Some(Function {
            name: format!("{}.{}", keyspace.name, function.name).into(),
            args: types?,
            returns: keyspace.type_named(&function.returns)?,
            body: run,
            monotonic: false,
            user: Some(Arc::new(user)),
        })
    }

    /// A user-defined aggregate, with its functions. `initial` makes the first state of what the catalogue keeps.
    pub fn of_aggregate<E>(
        keyspace: &Keyspace,
        aggregate: &Arc<UserAggregate>,
        initial: impl FnOnce(&DataType, &str) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<Function>, E> {
        let function = |name: &str, types: &[&str]| {
            keyspace.function(name, types).and_then(|found| Function::of_user(keyspace, found)).map(Arc::new)
        };
        let state_type = [aggregate.state_type.as_str()];
        let Some(state) = function(&aggregate.state_function, &aggregate.state_arguments()) else {
            return Ok(None);
        };
        let finish = match &aggregate.final_function {
            None => None,
            Some(name) => match function(name, &state_type) {
                Some(found) => Some(found),
                None => return Ok(None),
            },
        };
        let initial = match &aggregate.initial {
            Some(text) => initial(&state.returns, text)?,
            None => None,
        };
        let args = state.args.get(1..).unwrap_or_default().to_vec();
        let returns = finish.as_ref().map_or(&state.returns, |finish| &finish.returns).clone();
        Ok(Some(Function {
            name: format!("{}.{}", keyspace.name, aggregate.name).into(),
            args,
            returns,
            body: refuse,
            monotonic: false,
            user: Some(Arc::new(User::Aggregate {
                keyspace: keyspace.name.clone(),
                aggregate: aggregate.clone(),
                state,
                finish,
                initial,
            })),
        }))
    }

    /// The user-defined functions that a call of it calls.
    pub fn called(self: &Arc<Function>) -> Vec<&Arc<Function>> {
        match self.user.as_deref() {
            None => Vec::new(),
            Some(User::Function { .. }) => vec![self],
            Some(User::Aggregate { state, finish, .. }) => std::iter::once(state).chain(finish).collect(),
        }
    }

    fn user_function(&self) -> Option<&Arc<UserFunction>> {
        match self.user.as_deref() {
            Some(User::Function { function, .. }) => Some(function),
            _ => None,
        }
    }

    /// Whether it is skipped when an argument is null.
    pub(crate) fn is_strict(&self) -> bool {
        self.user_function().is_some_and(|function| !function.called_on_null)
    }

    /// Why no call of it can run, whatever its arguments.
    pub fn not_run(&self, sandbox: Option<&Sandbox>) -> Option<FunctionFault> {
        let function = self.user_function()?;
        match (Language::named(&function.language), sandbox) {
            (None, _) => Some(FunctionFault::NotRun { function: self.name.to_string() }),
            (Some(_), None) => Some(FunctionFault::NotEnabled { function: self.name.to_string() }),
            (Some(_), Some(_)) => None,
        }
    }

    /// Work for another thread, if compiling it would keep this one waiting.
    pub fn compiling(
        self: &Arc<Function>,
        sandbox: &Sandbox,
    ) -> Option<impl FnOnce() -> Compiled + Send + 'static + use<>> {
        self.user_function().filter(|function| sandbox.compiles_long(function))?;
        let function = self.clone();
        Some(move || {
            let user = function.user_function().cloned().unwrap_or_else(nothing);
            Compiled::new(&Definition {
                function: &user,
                arguments: &function.args,
                returns: &function.returns,
            })
        })
    }

    /// The error for a client when it fails.
    pub fn failed(&self, why: sandbox::Failure) -> FunctionFault {
        FunctionFault::UserFailed {
            function: self.name.to_string(),
            arguments: self.args.iter().map(|data_type| data_type.to_string()).collect(),
            why,
        }
    }
}

/// Only functions of users are compiled.
fn nothing() -> Arc<UserFunction> {
    Arc::new(UserFunction {
        name: "".into(),
        arguments: Vec::new(),
        returns: String::new(),
        called_on_null: true,
        language: String::new(),
        body: String::new(),
    })
}

fn run(function: &Function, args: &Args<'_>, context: &CallContext<'_>) -> CallResult {
    let sandbox = context.ids.sandbox();
    if let Some(why) = function.not_run(sandbox) {
        return Err(why.into());
    }
    let (Some(sandbox), Some(user)) = (sandbox, function.user_function()) else { return Ok(None) };
    let definition = Definition { function: user, arguments: &function.args, returns: &function.returns };
    sandbox.call(&definition, args).map_err(|why| function.failed(why).into())
}

/// Aggregates are called through their functions.
fn refuse(function: &Function, _: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Err(FunctionFault::NotRun { function: function.name.to_string() }.into())
}

/// Everything of one name in one keyspace, when a plan chose among it.
#[derive(Clone, Debug)]
pub struct Choice {
    keyspace: Arc<str>,
    name: Arc<str>,
    functions: Vec<Arc<UserFunction>>,
    aggregates: Vec<Arc<UserAggregate>>,
    pub chosen: Arc<Function>,
}

impl Choice {
    pub fn new(keyspace: &Keyspace, name: &str, chosen: Arc<Function>) -> Choice {
        Choice {
            keyspace: keyspace.name.clone(),
            name: name.into(),
            functions: keyspace.functions_named(name).cloned().collect(),
            aggregates: keyspace.aggregates_named(name).cloned().collect(),
            chosen,
        }
    }

    /// Whether the same would be chosen, and do the same.
    pub fn is_current(&self, catalogue: &Catalogue) -> bool {
        let Some(keyspace) = catalogue.keyspace(&self.keyspace) else { return false };
        let same = keyspace.functions_named(&self.name).eq(&self.functions)
            && keyspace.aggregates_named(&self.name).eq(&self.aggregates);
        let is_there = |function: &&Arc<Function>| {
            let Some(user) = function.user_function() else { return true };
            let now = keyspace.function(&user.name, &user.argument_types());
            let now = now.filter(|now| *now == user).and_then(|now| Function::of_user(keyspace, now));
            // A type may have got fields.
            now.is_some_and(|now| now.args == function.args && now.returns == function.returns)
        };
        same && self.chosen.called().iter().all(is_there)
    }

    /// The functions that a caller must be allowed to execute: keyspace, name and types of each.
    pub fn executed(&self) -> Vec<(Arc<str>, Arc<str>, Vec<String>)> {
        let texts = |types: Vec<&str>| types.into_iter().map(str::to_string).collect();
        let mut all = Vec::new();
        if let Some(User::Aggregate { keyspace, aggregate, .. }) = self.chosen.user.as_deref() {
            all.push((keyspace.clone(), aggregate.name.clone(), aggregate.arguments.clone()));
        }
        for function in self.chosen.called() {
            if let Some(User::Function { keyspace, function }) = function.user.as_deref() {
                all.push((keyspace.clone(), function.name.clone(), texts(function.argument_types())));
            }
        }
        all
    }
}
