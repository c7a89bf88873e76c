//! `token(...)`: where a partition key lies on the ring.

use super::{Args, CallContext, CallResult, Function};
use model::token::murmur3;
use model::types::DataType;

/// The token function of a table with these partition key types.
pub fn token_function(key: Vec<DataType>) -> Function {
    Function::new("token", key, DataType::BigInt, token)
}

fn token(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(values) = args.iter().copied().collect::<Option<Vec<&[u8]>>>() else { return Ok(None) };
    let token = match values.as_slice() {
        [only] => murmur3(only),
        values => {
            let mut key = Vec::new();
            for value in values {
                let Ok(len) = u16::try_from(value.len()) else { return Ok(None) };
                key.extend_from_slice(&len.to_be_bytes());
                key.extend_from_slice(value);
                key.push(0);
            }
            murmur3(&key)
        }
    };
    Ok(Some(token.0.to_be_bytes().to_vec()))
}
