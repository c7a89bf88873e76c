//! User-defined functions and aggregates as the catalogue keeps them.
//!
//! Types are kept as texts, so that a user-defined type among them may gain fields without anything to bring up to date here.

use crate::keyspace::Keyspace;
use model::types::DataType;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFunction {
    pub name: Arc<str>,
    /// Name and type of each argument.
    pub arguments: Vec<(String, String)>,
    pub returns: String,
    /// CALLED ON NULL INPUT; else it gives null when an argument is null.
    pub called_on_null: bool,
    pub language: String,
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAggregate {
    pub name: Arc<str>,
    pub arguments: Vec<String>,
    /// Functions of the same keyspace.
    pub state_function: String,
    pub state_type: String,
    pub final_function: Option<String>,
    /// The first state, as CQL.
    pub initial: Option<String>,
    pub returns: String,
}

impl UserFunction {
    pub fn argument_types(&self) -> Vec<&str> {
        self.arguments.iter().map(|(_, data_type)| data_type.as_str()).collect()
    }
}

impl UserAggregate {
    /// The types that its state function takes: the state, then the arguments.
    pub fn state_arguments(&self) -> Vec<&str> {
        std::iter::once(&self.state_type).chain(&self.arguments).map(String::as_str).collect()
    }

    /// Whether it calls this function.
    pub fn calls(&self, name: &str, arguments: &[&str]) -> bool {
        let as_state = self.state_function == name && self.state_arguments() == arguments;
        let as_final =
            self.final_function.as_deref() == Some(name) && arguments == [self.state_type.as_str()];
        as_state || as_final
    }
}

impl Keyspace {
    /// The function of this name with exactly these arguments.
    pub fn function(&self, name: &str, arguments: &[&str]) -> Option<&Arc<UserFunction>> {
        let named = |function: &&Arc<UserFunction>| *function.name == *name;
        self.functions.iter().filter(named).find(|function| function.argument_types() == arguments)
    }

    pub fn aggregate(&self, name: &str, arguments: &[&str]) -> Option<&Arc<UserAggregate>> {
        let named = |aggregate: &&Arc<UserAggregate>| *aggregate.name == *name;
        self.aggregates.iter().filter(named).find(|aggregate| aggregate.arguments == arguments)
    }

    pub fn functions_named<'k>(&'k self, name: &'k str) -> impl Iterator<Item = &'k Arc<UserFunction>> {
        self.functions.iter().filter(move |function| *function.name == *name)
    }

    pub fn aggregates_named<'k>(&'k self, name: &'k str) -> impl Iterator<Item = &'k Arc<UserAggregate>> {
        self.aggregates.iter().filter(move |aggregate| *aggregate.name == *name)
    }

    /// The type that a kept text stands for, with user-defined types as they are now.
    pub fn type_named(&self, text: &str) -> Option<DataType> {
        DataType::parse(text, &|_, name| self.types.get(name).cloned()).ok()
    }

    /// Functions and aggregates by name, then by their arguments: the order of `system_schema`.
    pub(crate) fn sort_functions(&mut self) {
        self.functions.sort_by(|a, b| (&a.name, a.argument_types()).cmp(&(&b.name, b.argument_types())));
        self.aggregates.sort_by(|a, b| (&a.name, &a.arguments).cmp(&(&b.name, &b.arguments)));
    }
}
