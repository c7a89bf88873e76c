//! Numbers of any size in Lua: varints and decimals, with the arithmetic of CQL.

use super::library_limit;
use super::stopped;
use crate::LUA_BYTES_MAX;
use crate::tank::Tank;
use mlua::{Error, Lua, MetaMethod, Result, UserData, UserDataMethods, Value};
use model::arithmetic::{self, NumberValue, Operator};
use model::types::DataType;
use std::cell::Cell;
use std::rc::Rc;

/// What a state holds outside of Lua's own memory.
#[derive(Clone)]
pub struct Held {
    bytes: Rc<Cell<usize>>,
    tank: Rc<Tank>,
}

pub fn install(lua: &Lua, tank: &Rc<Tank>) -> Result<()> {
    lua.set_app_data(Held { bytes: Rc::default(), tank: tank.clone() });
    Ok(())
}

/// A varint or decimal, as it travels.
pub struct Big {
    pub data_type: DataType,
    pub bytes: Vec<u8>,
    held: Rc<Cell<usize>>,
}

impl Drop for Big {
    fn drop(&mut self) {
        self.held.set(self.held.get().saturating_sub(self.bytes.len()));
    }
}

/// A number as a value of Lua.
pub fn create(lua: &Lua, data_type: DataType, bytes: Vec<u8>) -> Result<Value> {
    let Some(held) = lua.app_data_ref::<Held>().map(|held| held.clone()) else { return Err(stopped()) };
    let total = held.bytes.get() + bytes.len();
    if total > LUA_BYTES_MAX {
        return Err(library_limit());
    }
    held.bytes.set(total);
    let big = Big { data_type, bytes, held: held.bytes };
    Ok(Value::UserData(lua.create_userdata(big)?))
}

/// What stands on one side of an operator.
fn operand(lua: &Lua, value: &Value) -> Result<(DataType, Vec<u8>)> {
    match value {
        Value::Integer(number) => Ok((DataType::BigInt, number.to_be_bytes().to_vec())),
        Value::Number(number) => Ok((DataType::Double, number.to_be_bytes().to_vec())),
        Value::UserData(data) => {
            let big = data.borrow::<Big>()?;
            Ok((big.data_type.clone(), big.bytes.clone()))
        }
        text @ Value::String(_) => match lua.coerce_integer(text.clone())? {
            Some(number) => Ok((DataType::BigInt, number.to_be_bytes().to_vec())),
            None => match lua.coerce_number(text.clone())? {
                Some(number) => Ok((DataType::Double, number.to_be_bytes().to_vec())),
                None => Err(no_number(text)),
            },
        },
        other => Err(no_number(other)),
    }
}

fn no_number(value: &Value) -> Error {
    Error::RuntimeError(format!("attempt to perform arithmetic on a {} value", value.type_name()))
}

fn compute(lua: &Lua, operator: Operator, left: &Value, right: &Value) -> Result<Value> {
    let ((left_type, left), (right_type, right)) = (operand(lua, left)?, operand(lua, right)?);
    if let Some(held) = lua.app_data_ref::<Held>() {
        let cost = 50 + (left.len() as u64 + 1) * (right.len() as u64 + 1) / 16;
        if !held.tank.take_timed(cost) {
            return Err(stopped());
        }
    }
    let failed = |error: model::value::ValueError| Error::RuntimeError(error.to_string());
    let Some(returns) = arithmetic::result_type(operator, &left_type, &right_type) else {
        return Err(Error::RuntimeError("attempt to perform arithmetic on these numbers".into()));
    };
    let result =
        arithmetic::apply(operator, &left_type, Some(&left), &right_type, Some(&right)).map_err(failed)?;
    match (returns, result) {
        (DataType::Double, Some(bytes)) => {
            Ok(bytes.try_into().map_or(Value::Nil, |bytes| Value::Number(f64::from_be_bytes(bytes))))
        }
        (returns, Some(bytes)) => create(lua, returns, bytes),
        (_, None) => Ok(Value::Nil),
    }
}

fn order(lua: &Lua, left: &Value, right: &Value) -> Result<std::cmp::Ordering> {
    let decimal = |value: &Value| {
        let (data_type, bytes) = operand(lua, value)?;
        let number = NumberValue::from_wire(&data_type, &bytes).and_then(|number| number.to_decimal().ok());
        number.ok_or_else(|| Error::RuntimeError("attempt to compare with what is no number".into()))
    };
    Ok(decimal(left)?.compare(&decimal(right)?))
}

impl UserData for Big {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        let operators = [
            (MetaMethod::Add, Operator::Add),
            (MetaMethod::Sub, Operator::Subtract),
            (MetaMethod::Mul, Operator::Multiply),
            (MetaMethod::Div, Operator::Divide),
            (MetaMethod::IDiv, Operator::Divide),
            (MetaMethod::Mod, Operator::Modulo),
        ];
        for (method, operator) in operators {
            methods.add_meta_function(method, move |lua, (left, right): (Value, Value)| {
                compute(lua, operator, &left, &right)
            });
        }
        methods.add_meta_method(MetaMethod::Unm, |lua, big, _: Value| {
            let negated = arithmetic::negate(&big.data_type, Some(&big.bytes));
            match negated.map_err(|error| Error::RuntimeError(error.to_string()))? {
                Some(bytes) => create(lua, big.data_type.clone(), bytes),
                None => Ok(Value::Nil),
            }
        });
        methods.add_meta_function(MetaMethod::Eq, |lua, (left, right): (Value, Value)| {
            order(lua, &left, &right).map(|order| order.is_eq())
        });
        methods.add_meta_function(MetaMethod::Lt, |lua, (left, right): (Value, Value)| {
            order(lua, &left, &right).map(|order| order.is_lt())
        });
        methods.add_meta_function(MetaMethod::Le, |lua, (left, right): (Value, Value)| {
            order(lua, &left, &right).map(|order| order.is_le())
        });
        methods.add_meta_method(MetaMethod::ToString, |_, big, ()| Ok(big.text()));
        methods.add_meta_function(MetaMethod::Concat, |lua, (left, right): (Value, Value)| {
            let text = |value: Value| match &value {
                Value::UserData(data) => data.borrow::<Big>().map(|big| big.text().into_bytes()),
                _ => Ok(lua.coerce_string(value)?.map(|text| text.as_bytes().to_vec()).unwrap_or_default()),
            };
            let mut joined = text(left)?;
            joined.extend(text(right)?);
            lua.create_string(joined)
        });
    }
}

impl Big {
    pub fn text(&self) -> String {
        model::literal::format_text(&self.data_type, &self.bytes).unwrap_or_default()
    }
}
