//! Functions of users before they run: compiled where that takes long. One that cannot run is refused when it is called, which may
//! be never.

use crate::CqlError;
use crate::bind::Scope;
use crate::ddl::{DdlPlan, new_function};
use crate::session::Dialect;
use crate::words::failure_words;
use cql_syntax::ast::Statement;
use query::function::{Choice, Function};
use std::sync::Arc;
use store::Store;

impl<S: Store> Dialect<S> {
    /// A statement that calls these is about to run.
    pub(crate) async fn ready<'c>(&self, calls: impl Iterator<Item = &'c Choice>) -> Result<(), CqlError> {
        let sandbox = self.ids.sandbox();
        for function in calls.flat_map(|choice| choice.chosen.called()) {
            let Some(sandbox) = sandbox.filter(|_| function.not_run(sandbox).is_none()) else { continue };
            if let Some(compiling) = function.compiling(sandbox) {
                let compiled = rt::aside(compiling).await;
                sandbox.keep(compiled).map_err(|why| function.failed(why))?;
            }
        }
        if let Some(sandbox) = sandbox {
            sandbox.begin_step();
        }
        Ok(())
    }

    /// Where functions run, one that cannot be compiled is refused when it is created.
    pub(crate) async fn check_function(&self, plan: &DdlPlan) -> Result<(), CqlError> {
        let Statement::CreateFunction(create) = &plan.statement else { return Ok(()) };
        if self.ids.sandbox().is_none() {
            return Ok(());
        }
        let (_, catalogue) = self.catalogue();
        let scope = Scope { catalogue: &catalogue, keyspace: Some(&plan.keyspace) };
        let Some(keyspace) = catalogue.keyspace(&plan.keyspace) else { return Ok(()) };
        // What else is wrong is told when the statement is executed.
        let Ok(new) = new_function(scope, &plan.keyspace, create) else { return Ok(()) };
        if sandbox::Language::named(&new.function.language).is_none() {
            return Ok(());
        }
        let user = Arc::new(new.function);
        let Some(function) = Function::of_user(keyspace, &user) else { return Ok(()) };
        let checked = rt::aside(move || {
            let definition = sandbox::Definition {
                function: &user,
                arguments: &function.args,
                returns: &function.returns,
            };
            sandbox::check(&definition)
        });
        let name = create.name.as_str();
        checked.await.map_err(|why| {
            CqlError::Invalid(format!(
                "Function {}.{name} is refused: {}",
                plan.keyspace,
                failure_words(&why)
            ))
        })
    }
}
