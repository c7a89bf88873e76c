//! Functions of users, run where they can do no harm: Lua and WebAssembly, interpreted, with limits of work and memory.
//!
//! A function sees its arguments and nothing else: no files, clocks, randomness or other functions, and what it leaves in its globals is
//! gone after the call. What it may do is counted in units (about an instruction of WebAssembly) that everything a shard does between two
//! points where others may have their turn shares, so that functions hold a shard's thread for milliseconds, whatever they do.
//! Why it is made of these two interpreters is in `docs/adr/0024-functions-that-run.md`.

mod cache;
mod failure;
mod lua;
mod tank;
mod wasm;

pub use cache::{Compiled, Sandbox};
pub use failure::Failure;

use model::types::DataType;
use schema::UserFunction;
use std::sync::Arc;

/// What may be given to a call in all, and what it may give back.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// What a function may hold while it runs: all of a Lua state, or the memory of a WebAssembly instance.
pub const LUA_BYTES_MAX: usize = 4 << 20;
pub const WASM_BYTES_MAX: usize = 16 << 20;

/// Longest source in Lua, which is compiled on the shard.
pub const LUA_SOURCE_BYTES_MAX: usize = 128 << 10;

/// The languages that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Lua,
    Wasm,
}

impl Language {
    /// By the name that CREATE FUNCTION has for it; others are kept and not run.
    pub fn named(name: &str) -> Option<Language> {
        match name {
            "lua" => Some(Language::Lua),
            // The second is what it was called while it was young.
            "wasm" | "xwasm" => Some(Language::Wasm),
            _ => None,
        }
    }
}

/// A function with its types resolved.
#[derive(Clone, Copy)]
pub struct Definition<'a> {
    pub function: &'a Arc<UserFunction>,
    pub arguments: &'a [DataType],
    pub returns: &'a DataType,
}

/// Whether it can be compiled, and takes and gives what its declaration says.
pub fn check(definition: &Definition<'_>) -> Result<(), Failure> {
    match Language::named(&definition.function.language) {
        Some(Language::Lua) => lua::State::new(definition.function, tank::Tank::full()).map(drop),
        Some(Language::Wasm) => wasm::Program::new(definition).map(drop),
        None => Err(Failure::NotRun),
    }
}
