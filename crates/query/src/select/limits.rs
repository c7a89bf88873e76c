//! LIMIT and PER PARTITION LIMIT with their values.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, RestrictionFault};

/// The number of a limit; `None` when there is none (not written, or unset).
pub fn bind_limit(
    limit: &Option<Expr>,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Option<u64>, QueryError> {
    let Some(limit) = limit else { return Ok(None) };
    let bytes = match limit.evaluate(request, ids)? {
        Evaluated::Unset => return Ok(None),
        Evaluated::Null => {
            return Err(NullIn::Limit.into());
        }
        Evaluated::Value(bytes) => bytes,
    };
    let number = <[u8; 4]>::try_from(&*bytes).map(i32::from_be_bytes);
    match number {
        Ok(number) if number > 0 => Ok(Some(number as u64)),
        Ok(_) => Err(RestrictionFault::LimitNotPositive.into()),
        Err(_) => Err(RestrictionFault::LimitMalformed.into()),
    }
}
