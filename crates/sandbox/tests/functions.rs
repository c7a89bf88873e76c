//! Functions through the crate's front door: what they give, and what stops them.

mod functions {
    pub mod limits;
    pub mod lua;
    pub mod values;
    pub mod wasm;
}

use model::types::DataType;
use sandbox::{Definition, Failure, Sandbox};
use schema::UserFunction;
use std::sync::Arc;

/// A function with its types.
pub struct Made {
    pub function: Arc<UserFunction>,
    pub arguments: Vec<DataType>,
    pub returns: DataType,
}

impl Made {
    pub fn new(language: &str, arguments: &[(&str, DataType)], returns: DataType, body: &str) -> Made {
        let function = UserFunction {
            name: "f".into(),
            arguments: arguments.iter().map(|(name, of)| (name.to_string(), of.to_string())).collect(),
            returns: returns.to_string(),
            called_on_null: true,
            language: language.into(),
            body: body.into(),
        };
        let arguments = arguments.iter().map(|(_, of)| of.clone()).collect();
        Made { function: Arc::new(function), arguments, returns }
    }

    /// RETURNS NULL ON NULL INPUT.
    pub fn strict(mut self) -> Made {
        Arc::make_mut(&mut self.function).called_on_null = false;
        self
    }

    pub fn definition(&self) -> Definition<'_> {
        Definition { function: &self.function, arguments: &self.arguments, returns: &self.returns }
    }

    pub fn call(&self, values: &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, Failure> {
        let sandbox = Sandbox::default();
        sandbox.call(&self.definition(), values)
    }
}

/// A function in Lua without arguments.
pub fn lua(returns: DataType, body: &str) -> Result<Option<Vec<u8>>, Failure> {
    Made::new("lua", &[], returns, body).call(&[])
}

/// What a function in Lua without arguments gives as a text.
pub fn text(body: &str) -> String {
    match lua(DataType::Text, body) {
        Ok(Some(bytes)) => String::from_utf8(bytes).unwrap(),
        other => panic!("{body}: {other:?}"),
    }
}
