//! Functions in Lua 5.4.
//!
//! A state belongs to one function. What the function may name is made anew for every call (`prelude.lua`), so nothing stays; functions
//! of the library whose work does not show in instructions are our own, or count what they do (`library.rs`, `pattern.rs`).

mod big;
mod from_lua;
mod library;
mod pattern;
mod to_lua;

use crate::failure::Failure;
use crate::tank::{LUA_UNITS, Tank};
use crate::{Definition, LUA_BYTES_MAX, LUA_SOURCE_BYTES_MAX};
use mlua::{Error, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, Value, VmState};
use schema::UserFunction;
use std::cell::Cell;
use std::rc::Rc;

/// Instructions between two looks at the tank: usually, and when values may be large.
const INSTRUCTIONS: u32 = 100;
const INSTRUCTIONS_FEW: u32 = 8;

/// From here on, values may be large.
const LARGE_BYTES: usize = LUA_BYTES_MAX / 4;

/// A state that holds more after a call is not kept.
const KEPT_BYTES_MAX: usize = 512 << 10;

/// What a call costs before its first instruction.
const CALL_UNITS: u64 = 500;

/// See the module.
pub struct State {
    lua: Lua,
    entry: mlua::Function,
    /// Makes what a call may name.
    environment: mlua::Function,
    tank: Rc<Tank>,
    spoilt: Cell<bool>,
}

impl State {
    pub fn new(function: &UserFunction, tank: Rc<Tank>) -> Result<State, Failure> {
        if function.body.len() > LUA_SOURCE_BYTES_MAX {
            return Err(Failure::Broken(format!("it is longer than {LUA_SOURCE_BYTES_MAX} bytes")));
        }
        let names: Vec<&str> = function.arguments.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Err(Failure::Broken(format!("its argument {name} cannot be named in Lua")));
        }
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
        let broken = |error: Error| Failure::Broken(message(&error));
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false)).map_err(broken)?;
        lua.set_memory_limit(LUA_BYTES_MAX).map_err(broken)?;
        let environment = library::install(&lua, &tank).map_err(broken)?;
        let mut source = String::from("local _ENV");
        names.iter().for_each(|name| {
            source.push_str(", ");
            source.push_str(name);
        });
        // On the same line, so that errors name the lines of the body.
        source.push_str(" = ...; ");
        source.push_str(&function.body);
        let chunk =
            lua.load(&source).set_name(format!("={}", function.name)).set_mode(mlua::chunk::ChunkMode::Text);
        let entry = chunk.into_function().map_err(broken)?;
        watch(&lua, &tank, INSTRUCTIONS).map_err(broken)?;
        Ok(State { lua, entry, environment, tank, spoilt: Cell::new(false) })
    }

    pub fn call(
        &self,
        definition: &Definition<'_>,
        values: &[Option<&[u8]>],
    ) -> Result<Option<Vec<u8>>, Failure> {
        let outcome = match self.tank.take_timed(CALL_UNITS) {
            true => self.run(definition, values),
            false => Err(Failure::TooLong),
        };
        // What a stopped call left behind is nobody's.
        self.spoilt.set(self.tank.is_stopped() || self.lua.used_memory() > KEPT_BYTES_MAX);
        outcome
    }

    pub fn is_spoilt(&self) -> bool {
        self.spoilt.get()
    }

    fn run(&self, definition: &Definition<'_>, values: &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, Failure> {
        let failed = |error: Error| self.failure(&error);
        let mut arguments = MultiValue::new();
        arguments.push_back(Value::Table(self.environment.call::<Table>(()).map_err(failed)?));
        for (value, data_type) in values.iter().zip(definition.arguments) {
            let value = match value {
                Some(bytes) => to_lua::value(&self.lua, data_type, bytes).map_err(failed)?,
                None => Value::Nil,
            };
            arguments.push_back(value);
        }
        let mut results = self.entry.call::<MultiValue>(arguments).map_err(failed)?;
        if results.len() > 1 {
            return Err(Failure::WrongResult(format!("it gave {} values instead of one", results.len())));
        }
        match results.pop_front() {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => {
                from_lua::bytes(&self.lua, definition.returns, &value).map(Some).map_err(Failure::WrongResult)
            }
        }
    }

    fn failure(&self, error: &Error) -> Failure {
        if is_memory(error) {
            return Failure::TooMuchMemory { bytes_max: LUA_BYTES_MAX };
        }
        match self.tank.is_stopped() {
            true => Failure::TooLong,
            false => Failure::Failed(message(error)),
        }
    }
}

/// Counts instructions from now on.
fn watch(lua: &Lua, tank: &Rc<Tank>, instructions: u32) -> mlua::Result<()> {
    let tank = tank.clone();
    let triggers = HookTriggers::new().every_nth_instruction(instructions);
    lua.set_global_hook(triggers, move |lua, _| {
        if !tank.take_timed(u64::from(instructions) * LUA_UNITS) {
            return Err(stopped());
        }
        let large = lua.used_memory() > LARGE_BYTES;
        if large != (instructions == INSTRUCTIONS_FEW) {
            watch(lua, &tank, if large { INSTRUCTIONS_FEW } else { INSTRUCTIONS })?;
        }
        Ok(VmState::Continue)
    })
}

/// What ends a call that did too much; nothing in it can catch this.
fn stopped() -> Error {
    Error::RuntimeError("stopped".into())
}

/// What Lua says when its memory is used up, for memory that is not Lua's.
fn library_limit() -> Error {
    Error::MemoryError("not enough memory".into())
}

fn is_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } => is_memory(cause),
        // As the function may have thrown it again.
        Error::RuntimeError(text) => text.starts_with("not enough memory"),
        _ => false,
    }
}

/// The sentence of an error, without the stack.
fn message(error: &Error) -> String {
    let text = match error {
        Error::CallbackError { cause, .. } => return message(cause),
        Error::RuntimeError(text) | Error::SyntaxError { message: text, .. } => text.clone(),
        other => other.to_string(),
    };
    match text.find("\nstack traceback:") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// Whether Lua takes it as a name.
fn is_name(name: &str) -> bool {
    const RESERVED: [&str; 22] = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
        "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
    ];
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
        && !RESERVED.contains(&name)
        && name != "_ENV"
}
