//! The functions of Lua's library that are ours, because those of C would work on without being counted.

use super::big;
use super::pattern::{self, Capture, Pattern, Position};
use super::stopped;
use crate::LUA_BYTES_MAX;
use crate::tank::Tank;
use mlua::{Error, Function, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// Longest string that they make: as much as fits twice.
const STRING_BYTES_MAX: usize = LUA_BYTES_MAX / 2;

/// Replacing calls the function again, on this thread's stack.
const NESTED_MAX: u32 = 20;

/// Makes the library; the result makes what one call may name.
pub fn install(lua: &Lua, tank: &Rc<Tank>) -> Result<Function> {
    let own = lua.create_table()?;
    let counter = tank.clone();
    own.set("charge", lua.create_function(move |_, bytes: u64| charge(&counter, bytes))?)?;
    let watched = tank.clone();
    let is_stopped = move |_: &Lua, error: Value| {
        let memory = match &error {
            Value::String(text) => text.as_bytes().starts_with(b"not enough memory"),
            Value::Error(error) => super::is_memory(error),
            _ => false,
        };
        Ok(memory || watched.is_stopped())
    };
    own.set("is_stopped", lua.create_function(is_stopped)?)?;
    let counter = tank.clone();
    own.set("concat", lua.create_function(move |lua, call| concat(lua, &counter, call))?)?;
    own.set("string", strings(lua, tank)?)?;
    big::install(lua, tank)?;
    let prelude = lua.load(include_str!("prelude.lua")).set_name("=library");
    let environment: Function = prelude.call(own)?;
    // Nothing of the state's own globals is needed any more.
    lua.globals().clear()?;
    Ok(environment)
}

/// Counts work on so many bytes.
fn charge(tank: &Tank, bytes: u64) -> Result<()> {
    if tank.take_timed(bytes / 8 + 1) { Ok(()) } else { Err(stopped()) }
}

fn steps(tank: &Tank, steps: u64) -> Result<()> {
    if tank.take(steps) { Ok(()) } else { Err(stopped()) }
}

fn too_long() -> Error {
    Error::RuntimeError("resulting string too large".into())
}

fn strings(lua: &Lua, tank: &Rc<Tank>) -> Result<Table> {
    let own = lua.create_table()?;
    let counter = tank.clone();
    own.set("rep", lua.create_function(move |lua, call| repeat(lua, &counter, call))?)?;
    let counter = tank.clone();
    own.set("find", lua.create_function(move |lua, call| find(lua, &counter, call))?)?;
    let counter = tank.clone();
    own.set("match", lua.create_function(move |lua, call| first_match(lua, &counter, call))?)?;
    let counter = tank.clone();
    own.set("gmatch", lua.create_function(move |lua, call| every_match(lua, &counter, call))?)?;
    let (counter, depth) = (tank.clone(), Rc::new(Cell::new(0)));
    own.set("gsub", lua.create_function(move |lua, call| replace(lua, &counter, &depth, call))?)?;
    Ok(own)
}

fn repeat(
    lua: &Lua,
    tank: &Tank,
    (text, count, between): (LuaString, i64, Option<LuaString>),
) -> Result<LuaString> {
    let text = text.as_bytes();
    let between = between.map(|between| between.as_bytes().to_vec()).unwrap_or_default();
    let count = usize::try_from(count).unwrap_or(0);
    let step = text.len() + between.len();
    let length = match (count, step) {
        (0, _) | (_, 0) => return lua.create_string(""),
        _ => step.checked_mul(count).ok_or_else(too_long)? - between.len(),
    };
    if length > STRING_BYTES_MAX {
        return Err(too_long());
    }
    charge(tank, length as u64)?;
    let mut out = Vec::with_capacity(length + between.len());
    for _ in 0..count {
        out.extend_from_slice(&text);
        out.extend_from_slice(&between);
    }
    out.truncate(length);
    lua.create_string(out)
}

fn concat(
    lua: &Lua,
    tank: &Tank,
    (table, between, first, last): (Table, LuaString, i64, i64),
) -> Result<LuaString> {
    let between = between.as_bytes();
    let mut out = Vec::new();
    let mut place = first;
    while place <= last {
        steps(tank, 20)?;
        let part = match table.get::<Value>(place)? {
            Value::String(part) => part,
            number @ (Value::Integer(_) | Value::Number(_)) => match lua.coerce_string(number)? {
                Some(part) => part,
                None => break,
            },
            other => {
                return Err(Error::RuntimeError(format!(
                    "invalid value (a {}) at index {place} in table for 'concat'",
                    other.type_name()
                )));
            }
        };
        put(tank, &mut out, &part.as_bytes())?;
        if place == last {
            break;
        }
        put(tank, &mut out, &between)?;
        place += 1;
    }
    lua.create_string(out)
}

fn put(tank: &Tank, out: &mut Vec<u8>, part: &[u8]) -> Result<()> {
    if out.len() + part.len() > STRING_BYTES_MAX {
        return Err(too_long());
    }
    if part.len() > 64 {
        charge(tank, part.len() as u64)?;
    }
    out.extend_from_slice(part);
    Ok(())
}

/// Where a search begins: places count from 1, negative ones from the end. `None`: behind the end.
fn beginning(place: Option<i64>, length: usize) -> Option<usize> {
    let place = match place.unwrap_or(1) {
        0 => 1,
        place if place < 0 => (length as i64 + place + 1).max(1),
        place => place,
    };
    usize::try_from(place - 1).ok().filter(|place| *place <= length)
}

fn find(
    lua: &Lua,
    tank: &Tank,
    (text, wanted, from, plain): (LuaString, LuaString, Option<i64>, Option<Value>),
) -> Result<MultiValue> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let plain = !matches!(plain, None | Some(Value::Nil | Value::Boolean(false)));
    let Some(from) = beginning(from, text.len()) else { return Ok(MultiValue::from_vec(vec![Value::Nil])) };
    if plain || !pattern::is_special(&wanted) {
        // Comparing at every place takes their product, at worst.
        let places = (text.len() - from) as u64;
        charge(tank, places.saturating_mul(1 + wanted.len().min(64) as u64))?;
        let rest = &text[from..];
        let place = match wanted.len() {
            0 => Some(0),
            length => rest.windows(length).position(|window| *window == *wanted),
        };
        return Ok(MultiValue::from_vec(match place {
            Some(place) => {
                let start = from + place;
                vec![Value::Integer(start as i64 + 1), Value::Integer((start + wanted.len()) as i64)]
            }
            None => vec![Value::Nil],
        }));
    }
    let mut pattern = Pattern::new(&text, &wanted, tank);
    let Some((start, end)) = search(&mut pattern, from)? else {
        return Ok(MultiValue::from_vec(vec![Value::Nil]));
    };
    let mut found = vec![Value::Integer(start as i64 + 1), Value::Integer(end as i64)];
    found.extend(captures(lua, &pattern, None)?);
    Ok(MultiValue::from_vec(found))
}

fn first_match(
    lua: &Lua,
    tank: &Tank,
    (text, wanted, from): (LuaString, LuaString, Option<i64>),
) -> Result<MultiValue> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let nothing = || Ok(MultiValue::from_vec(vec![Value::Nil]));
    let Some(from) = beginning(from, text.len()) else { return nothing() };
    let mut pattern = Pattern::new(&text, &wanted, tank);
    match search(&mut pattern, from)? {
        Some(whole) => Ok(MultiValue::from_vec(captures(lua, &pattern, Some(whole))?)),
        None => nothing(),
    }
}

fn search(pattern: &mut Pattern<'_>, from: usize) -> Result<Option<(usize, usize)>> {
    pattern.search(from).map_err(|problem| match problem {
        pattern::Problem::Stopped => stopped(),
        pattern::Problem::Malformed(text) => Error::RuntimeError(text.into()),
    })
}

/// What was captured; the whole match if nothing was and it is given.
fn captures(lua: &Lua, pattern: &Pattern<'_>, whole: Option<(usize, usize)>) -> Result<Vec<Value>> {
    let all = pattern.captures();
    if let (true, Some((start, end))) = (all.is_empty(), whole) {
        return Ok(vec![Value::String(lua.create_string(&pattern.text[start..end])?)]);
    }
    let value = |capture: &Capture| match capture.end {
        Position::At(end) => lua.create_string(&pattern.text[capture.start..end]).map(Value::String),
        Position::Here => Ok(Value::Integer(capture.start as i64 + 1)),
        Position::Open => Err(Error::RuntimeError("unfinished capture".into())),
    };
    all.iter().map(value).collect()
}

fn every_match(lua: &Lua, tank: &Rc<Tank>, (text, wanted): (LuaString, LuaString)) -> Result<Function> {
    let (tank, place, last) = (tank.clone(), Cell::new(0usize), Cell::new(usize::MAX));
    lua.create_function(move |lua, _: MultiValue| {
        let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
        let mut pattern = Pattern::new(&text, &wanted, &tank);
        while place.get() <= text.len() {
            let Some((start, end)) = search(&mut pattern, place.get())? else { break };
            if last.get() == end && start == end {
                // Nothing behind what was just matched: one further.
                place.set(end + 1);
                continue;
            }
            place.set(end);
            last.set(end);
            return Ok(MultiValue::from_vec(captures(lua, &pattern, Some((start, end)))?));
        }
        place.set(usize::MAX);
        Ok(MultiValue::from_vec(vec![Value::Nil]))
    })
}

fn replace(
    lua: &Lua,
    tank: &Tank,
    depth: &Cell<u32>,
    (text, wanted, by, most): (LuaString, LuaString, Value, Option<i64>),
) -> Result<(LuaString, i64)> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    if depth.get() >= NESTED_MAX {
        return Err(Error::RuntimeError("gsub is nested too deeply".into()));
    }
    let by = match by {
        number @ (Value::Integer(_) | Value::Number(_)) => {
            lua.coerce_string(number)?.map_or(Value::Nil, Value::String)
        }
        other => other,
    };
    if !matches!(by, Value::String(_) | Value::Table(_) | Value::Function(_)) {
        return Err(Error::RuntimeError(format!(
            "bad argument #3 to 'gsub' (string/function/table expected, got {})",
            by.type_name()
        )));
    }
    let most = most.unwrap_or(i64::MAX);
    let (mut out, mut place, mut count) = (Vec::new(), 0, 0);
    let mut pattern = Pattern::new(&text, &wanted, tank);
    let mut last = usize::MAX;
    while count < most {
        let found = pattern.at(place).map_err(|problem| match problem {
            pattern::Problem::Stopped => stopped(),
            pattern::Problem::Malformed(text) => Error::RuntimeError(text.into()),
        })?;
        match found.filter(|end| *end != last) {
            Some(end) => {
                count += 1;
                depth.set(depth.get() + 1);
                let part = replacement(lua, &pattern, (place, end), &by);
                depth.set(depth.get() - 1);
                put(tank, &mut out, &part?)?;
                place = end;
                last = end;
            }
            None if place < text.len() => {
                put(tank, &mut out, &text[place..place + 1])?;
                place += 1;
            }
            None => break,
        }
        if pattern.is_anchored() {
            break;
        }
    }
    put(tank, &mut out, &text[place.min(text.len())..])?;
    Ok((lua.create_string(out)?, count))
}

/// What stands for one match.
fn replacement(lua: &Lua, pattern: &Pattern<'_>, whole: (usize, usize), by: &Value) -> Result<Vec<u8>> {
    let parts = captures(lua, pattern, Some(whole))?;
    let matched = || pattern.text[whole.0..whole.1].to_vec();
    let value = match by {
        Value::String(template) => return fill(lua, &template.as_bytes(), &parts, matched()),
        Value::Table(table) => table.get::<Value>(parts.into_iter().next().unwrap_or(Value::Nil))?,
        Value::Function(function) => function.call::<Value>(MultiValue::from_vec(parts))?,
        _ => Value::Nil,
    };
    match value {
        Value::Nil | Value::Boolean(false) => Ok(matched()),
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        number @ (Value::Integer(_) | Value::Number(_)) => {
            Ok(lua.coerce_string(number)?.map(|text| text.as_bytes().to_vec()).unwrap_or_default())
        }
        other => Err(Error::RuntimeError(format!("invalid replacement value (a {})", other.type_name()))),
    }
}

/// `%1` and its like in a text that replaces.
fn fill(lua: &Lua, template: &[u8], parts: &[Value], matched: Vec<u8>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(template.len());
    let mut letters = template.iter();
    while let Some(letter) = letters.next() {
        if *letter != b'%' {
            out.push(*letter);
            continue;
        }
        match letters.next() {
            Some(b'%') => out.push(b'%'),
            Some(b'0') => out.extend_from_slice(&matched),
            Some(digit @ b'1'..=b'9') => match parts.get(usize::from(digit - b'1')) {
                Some(part) => match lua.coerce_string(part.clone())? {
                    Some(text) => out.extend_from_slice(&text.as_bytes()),
                    None => return Err(Error::RuntimeError("invalid capture value".into())),
                },
                None => {
                    let number = digit - b'0';
                    let text = format!("invalid capture index %{number} in replacement string");
                    return Err(Error::RuntimeError(text));
                }
            },
            _ => return Err(Error::RuntimeError("invalid use of '%' in replacement string".into())),
        }
        if out.len() > STRING_BYTES_MAX {
            return Err(too_long());
        }
    }
    Ok(out)
}
