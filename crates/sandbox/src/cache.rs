//! What a shard keeps compiled, and one call.

use crate::failure::Failure;
use crate::tank::Tank;
use crate::{Definition, Language, VALUE_BYTES_MAX, lua, wasm};
use model::value::canonical;
use schema::UserFunction;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Functions that are kept compiled; the one that was not called for longest makes room.
const KEPT_MAX: usize = 32;

/// Runs functions for one shard; belongs to its thread.
pub struct Sandbox {
    kept: RefCell<Kept>,
    tank: Rc<Tank>,
}

#[derive(Default)]
struct Kept {
    /// By the address of the function, which the entry keeps in its place.
    entries: HashMap<*const UserFunction, Entry>,
    calls: u64,
}

struct Entry {
    /// Held so that nothing else gets its address.
    _function: Arc<UserFunction>,
    program: Rc<Program>,
    last_call: u64,
}

enum Program {
    Lua(lua::State),
    Wasm(Arc<wasm::Program>),
}

/// What took long to compile, for the shard to keep.
pub struct Compiled {
    function: Arc<UserFunction>,
    outcome: Result<Arc<wasm::Program>, Failure>,
}

impl Compiled {
    /// Compiles a function that [`Sandbox::compiles_long`]; for another thread.
    pub fn new(definition: &Definition<'_>) -> Compiled {
        let outcome = wasm::Program::new(definition).map(Arc::new);
        Compiled { function: definition.function.clone(), outcome }
    }
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox { kept: RefCell::default(), tank: Tank::full() }
    }
}

impl Sandbox {
    /// Others have had their turn, or a statement begins: functions may work again.
    pub fn begin_step(&self) {
        self.tank.fill();
    }

    /// Units that functions have worked since the step began.
    pub fn used(&self) -> u64 {
        self.tank.used()
    }

    /// Whether it would keep the shard waiting to compile it now.
    pub fn compiles_long(&self, function: &Arc<UserFunction>) -> bool {
        Language::named(&function.language) == Some(Language::Wasm)
            && !self.kept.borrow().entries.contains_key(&Arc::as_ptr(function))
    }

    /// Takes what was compiled on another thread.
    pub fn keep(&self, compiled: Compiled) -> Result<(), Failure> {
        let program = compiled.outcome?;
        self.kept.borrow_mut().put(&compiled.function, Rc::new(Program::Wasm(program)));
        Ok(())
    }

    /// Calls a function. `None` is null.
    pub fn call(
        &self,
        definition: &Definition<'_>,
        values: &[Option<&[u8]>],
    ) -> Result<Option<Vec<u8>>, Failure> {
        let mut given = Vec::with_capacity(values.len());
        for (value, data_type) in values.iter().zip(definition.arguments) {
            // An empty number says nothing.
            given.push(value.filter(|bytes| !(bytes.is_empty() && data_type.is_empty_meaningless())));
        }
        if !definition.function.called_on_null && given.iter().any(Option::is_none) {
            return Ok(None);
        }
        if given.iter().flatten().map(|bytes| bytes.len()).sum::<usize>() > VALUE_BYTES_MAX {
            return Err(Failure::LargeArguments { bytes_max: VALUE_BYTES_MAX });
        }
        let program = self.program(definition)?;
        self.tank.call();
        let result = match &*program {
            Program::Lua(state) => state.call(definition, &given),
            Program::Wasm(program) => program.call(definition, &given, &self.tank),
        };
        let spoilt = match &*program {
            Program::Lua(state) => state.is_spoilt(),
            Program::Wasm(_) => false,
        };
        if spoilt {
            self.kept.borrow_mut().entries.remove(&Arc::as_ptr(definition.function));
        }
        let Some(bytes) = result? else { return Ok(None) };
        if bytes.len() > VALUE_BYTES_MAX {
            return Err(Failure::LargeResult { bytes_max: VALUE_BYTES_MAX });
        }
        match canonical(definition.returns, &bytes) {
            Ok(bytes) => Ok(Some(bytes.into_owned())),
            Err(error) => Err(Failure::WrongResult(error.to_string())),
        }
    }

    fn program(&self, definition: &Definition<'_>) -> Result<Rc<Program>, Failure> {
        let mut kept = self.kept.borrow_mut();
        if let Some(program) = kept.get(definition.function) {
            return Ok(program);
        }
        let program = Rc::new(match Language::named(&definition.function.language) {
            Some(Language::Lua) => Program::Lua(lua::State::new(definition.function, self.tank.clone())?),
            Some(Language::Wasm) => Program::Wasm(Arc::new(wasm::Program::new(definition)?)),
            None => return Err(Failure::NotRun),
        });
        kept.put(definition.function, program.clone());
        Ok(program)
    }
}

impl Kept {
    fn get(&mut self, function: &Arc<UserFunction>) -> Option<Rc<Program>> {
        self.calls += 1;
        let entry = self.entries.get_mut(&Arc::as_ptr(function))?;
        entry.last_call = self.calls;
        Some(entry.program.clone())
    }

    fn put(&mut self, function: &Arc<UserFunction>, program: Rc<Program>) {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_call).map(|(place, _)| *place);
        if let Some(oldest) = oldest.filter(|_| self.entries.len() >= KEPT_MAX) {
            self.entries.remove(&oldest);
        }
        let entry = Entry { _function: function.clone(), program, last_call: self.calls };
        self.entries.insert(Arc::as_ptr(function), entry);
    }
}
