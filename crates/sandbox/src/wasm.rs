//! Functions in WebAssembly, with the two ways of passing values that ScyllaDB documents (`_scylla_abi` 1 and 2).
//!
//! Every call has an instance of its own: a function can keep nothing, and memory that it did not free is gone. What of WASI a compiler's
//! runtime asks for is there and refuses; nothing else can be imported.

use crate::failure::Failure;
use crate::tank::Tank;
use crate::{Definition, WASM_BYTES_MAX};
use model::types::DataType;
use wasmi::{
    CompilationMode, Config, EnforcedLimits, Engine, Extern, ExternType, FuncType, Instance, Linker, Memory,
    Module, Store, StoreLimits, StoreLimitsBuilder, TrapCode, Val, ValType,
};

/// What an instance and its exports cost, beside what it executes.
const INSTANCE_UNITS: u64 = 2_000;

/// Bytes of a page of memory.
const PAGE: usize = 64 << 10;

/// Elements of tables: functions that are called by number.
const TABLE_ELEMENTS_MAX: usize = 20_000;

/// Depth of calls, and what their values may take.
const DEPTH_MAX: usize = 512;
const STACK_BYTES_MAX: usize = 1 << 20;

/// The errno of WASI for what is not there.
const ENOSYS: i32 = 52;

/// A module that was compiled. It may be used on every thread.
pub struct Program {
    engine: Engine,
    module: Module,
    linker: Linker<StoreLimits>,
}

impl Program {
    pub fn new(definition: &Definition<'_>) -> Result<Program, Failure> {
        let function = definition.function;
        let binary = binary(&function.body)?;
        let engine = Engine::new(&config());
        let module = Module::new(&engine, &binary).map_err(|error| Failure::Broken(error.to_string()))?;
        let exported = match module.get_export(&function.name) {
            Some(ExternType::Func(exported)) => exported,
            Some(_) => return broken(format!("its export {} is not a function", function.name)),
            None => return broken(format!("it does not export a function {}", function.name)),
        };
        let wanted = signature(definition);
        if exported.params() != wanted.params() || exported.results() != wanted.results() {
            return broken(format!(
                "its export {} is ({:?}) -> ({:?}), but its declaration asks for ({:?}) -> ({:?})",
                function.name,
                exported.params(),
                exported.results(),
                wanted.params(),
                wanted.results()
            ));
        }
        if !matches!(module.get_export("_scylla_abi"), Some(ExternType::Global(_))) {
            return broken("it does not export a global _scylla_abi".into());
        }
        let linker = linker(&engine, &module)?;
        Ok(Program { engine, module, linker })
    }

    pub fn call(
        &self,
        definition: &Definition<'_>,
        values: &[Option<&[u8]>],
        tank: &Tank,
    ) -> Result<Option<Vec<u8>>, Failure> {
        if !tank.take(INSTANCE_UNITS) {
            return Err(Failure::TooLong);
        }
        let limits = StoreLimitsBuilder::new()
            .memory_size(WASM_BYTES_MAX)
            .table_elements(TABLE_ELEMENTS_MAX)
            .instances(1)
            .memories(1)
            .tables(4)
            .build();
        let mut store = Store::new(&self.engine, limits);
        store.limiter(|limits| limits);
        let fuel = tank.left();
        store.set_fuel(fuel).map_err(|error| failed(&error))?;
        let outcome = self.run(definition, values, &mut store);
        tank.set_left(store.get_fuel().unwrap_or(0).min(fuel));
        outcome
    }

    fn run(
        &self,
        definition: &Definition<'_>,
        values: &[Option<&[u8]>],
        store: &mut Store<StoreLimits>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let instance =
            self.linker.instantiate_and_start(&mut *store, &self.module).map_err(|error| failed(&error))?;
        if let Some(start) = instance.get_func(&*store, "_initialize") {
            start.call(&mut *store, &[], &mut []).map_err(|error| failed(&error))?;
        }
        let mut passing = Passing { abi: abi(&instance, store)?, instance, store };
        let native = !definition.function.called_on_null;
        let mut inputs = Vec::with_capacity(values.len());
        for (value, data_type) in values.iter().zip(definition.arguments) {
            inputs.push(match value {
                Some(bytes) if native => match native_value(data_type, bytes) {
                    Some(value) => value,
                    None => Val::I64(passing.put(Some(bytes))?),
                },
                value => Val::I64(passing.put(*value)?),
            });
        }
        let Some(function) = passing.instance.get_func(&*passing.store, &definition.function.name) else {
            return broken(format!("it does not export a function {}", definition.function.name));
        };
        let mut output = [Val::I64(0)];
        function.call(&mut *passing.store, &inputs, &mut output).map_err(|error| failed(&error))?;
        match (&output[0], native.then(|| value_type(definition.returns)).flatten()) {
            (value, Some(_)) => Ok(native_bytes(definition.returns, value)),
            (Val::I64(place), None) => passing.get(*place),
            _ => Ok(None),
        }
    }
}

/// Passing values that are no numbers of WebAssembly, through the memory of an instance.
struct Passing<'s> {
    abi: u32,
    instance: Instance,
    store: &'s mut Store<StoreLimits>,
}

impl Passing<'_> {
    fn memory(&self) -> Result<Memory, Failure> {
        match self.instance.get_memory(&*self.store, "memory") {
            Some(memory) => Ok(memory),
            None => broken("it does not export its memory".into()),
        }
    }

    /// Puts a value where the function can read it: its length above its place.
    fn put(&mut self, value: Option<&[u8]>) -> Result<i64, Failure> {
        let Some(bytes) = value else { return Ok(packed(-1, 0)) };
        let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        let memory = self.memory()?;
        let place = match self.abi {
            1 => {
                let end = memory.data_size(&*self.store);
                let pages = bytes.len().div_ceil(PAGE) as u64;
                memory
                    .grow(&mut *self.store, pages)
                    .map_err(|_| Failure::TooMuchMemory { bytes_max: WASM_BYTES_MAX })?;
                end as u32
            }
            _ => self.allocate(length)?,
        };
        match memory.write(&mut *self.store, place as usize, bytes) {
            Ok(()) => Ok(packed(length, place)),
            Err(_) => {
                Err(Failure::Failed("_scylla_malloc gave a place outside of the function's memory".into()))
            }
        }
    }

    fn allocate(&mut self, length: i32) -> Result<u32, Failure> {
        let typed = self.instance.get_typed_func::<i32, i32>(&*self.store, "_scylla_malloc");
        let Ok(allocate) = typed else {
            return broken("it does not export _scylla_malloc as ABI 2 wants it".into());
        };
        allocate.call(&mut *self.store, length).map(|place| place as u32).map_err(|error| failed(&error))
    }

    /// What the function gave. Nothing is freed: the instance ends with the call.
    fn get(&self, place: i64) -> Result<Option<Vec<u8>>, Failure> {
        let (length, place) = ((place >> 32) as i32, place as u32 as usize);
        if length < 0 {
            return Ok(None);
        }
        let data = self.memory()?.data(&*self.store);
        match data.get(place..).and_then(|rest| rest.get(..length as usize)) {
            Some(bytes) => Ok(Some(bytes.to_vec())),
            None => Err(Failure::WrongResult("it points to bytes outside of the function's memory".into())),
        }
    }
}

fn packed(length: i32, place: u32) -> i64 {
    i64::from(length) << 32 | i64::from(place)
}

fn broken<T>(text: String) -> Result<T, Failure> {
    Err(Failure::Broken(text))
}

fn failed(error: &wasmi::Error) -> Failure {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => Failure::TooLong,
        Some(TrapCode::GrowthOperationLimited) => Failure::TooMuchMemory { bytes_max: WASM_BYTES_MAX },
        _ => Failure::Failed(error.to_string()),
    }
}

fn config() -> Config {
    let mut config = Config::default();
    config
        .consume_fuel(true)
        .compilation_mode(CompilationMode::Eager)
        .enforced_limits(EnforcedLimits::strict())
        .ignore_custom_sections(true)
        .set_max_recursion_depth(DEPTH_MAX)
        .set_max_stack_height(STACK_BYTES_MAX)
        .wasm_multi_memory(false);
    config
}

/// The module's bytes: its text is WAT, or base64 of the binary form.
fn binary(body: &str) -> Result<Vec<u8>, Failure> {
    let text = body.trim();
    if text.starts_with("AGFzb") {
        return match from_base64(text) {
            Some(bytes) => Ok(bytes),
            None => broken("its body is neither WAT nor base64".into()),
        };
    }
    // wasmi reads both forms; the text form is recognised by its beginning.
    Ok(text.as_bytes().to_vec())
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for letter in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The type that values of a CQL type have without memory, if they have one.
fn value_type(data_type: &DataType) -> Option<ValType> {
    Some(match data_type {
        DataType::BigInt => ValType::I64,
        DataType::Boolean | DataType::Int | DataType::SmallInt | DataType::TinyInt => ValType::I32,
        DataType::Double => ValType::F64,
        DataType::Float => ValType::F32,
        _ => return None,
    })
}

/// What the exported function must take and give. One that may be given nulls has all values in memory.
fn signature(definition: &Definition<'_>) -> FuncType {
    let native = !definition.function.called_on_null;
    let of = |data_type: &DataType| value_type(data_type).filter(|_| native).unwrap_or(ValType::I64);
    let arguments: Vec<ValType> = definition.arguments.iter().map(of).collect();
    FuncType::new(arguments, [of(definition.returns)])
}

fn native_value(data_type: &DataType, bytes: &[u8]) -> Option<Val> {
    Some(match data_type {
        DataType::BigInt => Val::I64(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Boolean => Val::I32(i32::from(*bytes.first()? != 0)),
        DataType::Int => Val::I32(i32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::SmallInt => Val::I32(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        DataType::TinyInt => Val::I32(i8::from_be_bytes(bytes.try_into().ok()?).into()),
        DataType::Double => Val::F64(f64::from_be_bytes(bytes.try_into().ok()?).into()),
        DataType::Float => Val::F32(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        _ => return None,
    })
}

/// Integers that are too large for their type keep their low bits.
fn native_bytes(data_type: &DataType, value: &Val) -> Option<Vec<u8>> {
    Some(match (data_type, value) {
        (DataType::BigInt, Val::I64(number)) => number.to_be_bytes().to_vec(),
        (DataType::Boolean, Val::I32(number)) => vec![u8::from(*number != 0)],
        (DataType::Int, Val::I32(number)) => number.to_be_bytes().to_vec(),
        (DataType::SmallInt, Val::I32(number)) => (*number as i16).to_be_bytes().to_vec(),
        (DataType::TinyInt, Val::I32(number)) => (*number as i8).to_be_bytes().to_vec(),
        (DataType::Double, Val::F64(number)) => number.to_float().to_be_bytes().to_vec(),
        (DataType::Float, Val::F32(number)) => number.to_float().to_be_bytes().to_vec(),
        _ => return None,
    })
}

/// Imports of WASI are functions that refuse; there is nothing else to import.
fn linker(engine: &Engine, module: &Module) -> Result<Linker<StoreLimits>, Failure> {
    let mut linker = Linker::new(engine);
    for import in module.imports() {
        let (from, name) = (import.module(), import.name());
        let wasi = matches!(from, "wasi_snapshot_preview1" | "wasi_unstable");
        let ExternType::Func(wanted) = import.ty() else {
            return broken(format!("it imports {from}.{name}, and there is nothing to import"));
        };
        if !wasi {
            return broken(format!("it imports {from}.{name}, and there is nothing to import"));
        }
        let refused = linker.func_new(from, name, wanted.clone(), |_, _, results| {
            match results {
                [] => return Err(wasmi::Error::new("the function ended the program")),
                results => results.iter_mut().for_each(|result| *result = Val::I32(ENOSYS)),
            }
            Ok(())
        });
        // Twice the same import is one function.
        drop(refused);
    }
    Ok(linker)
}

fn abi(instance: &Instance, store: &Store<StoreLimits>) -> Result<u32, Failure> {
    let place = match instance.get_export(store, "_scylla_abi") {
        Some(Extern::Global(global)) => match global.get(store) {
            Val::I32(place) => place as u32 as usize,
            _ => return broken("its global _scylla_abi is not an i32".into()),
        },
        _ => return broken("it does not export a global _scylla_abi".into()),
    };
    let Some(memory) = instance.get_memory(store, "memory") else {
        return broken("it does not export its memory".into());
    };
    let mut bytes = [0u8; 4];
    match memory.read(store, place, &mut bytes) {
        Ok(()) => {}
        Err(_) => return broken("its global _scylla_abi points outside of its memory".into()),
    }
    match u32::from_le_bytes(bytes) {
        abi @ (1 | 2) => Ok(abi),
        other => broken(format!("its ABI is {other}; there are 1 and 2")),
    }
}
