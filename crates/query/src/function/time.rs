//! Time: clocks, conversions between temporal types, `floor`, identifiers.

use super::{Args, CallContext, CallResult, Function, as_i64, as_u32, present};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::temporal::{Duration, date_to_millis, floor_time, floor_timestamp, millis_to_date_days};
use model::timeuuid;
use model::types::DataType as T;
use model::value::ValueError;

pub fn find(name: &str) -> Option<Vec<Function>> {
    let one = |args, returns, body| vec![Function::new(name, args, returns, body)];
    Some(match name {
        "now" | "current_timeuuid" | "currenttimeuuid" => one(vec![], T::TimeUuid, now),
        "uuid" => one(vec![], T::Uuid, |_, _, c| Ok(Some(c.ids.uuid().to_vec()))),
        "current_timestamp" | "currenttimestamp" => {
            one(vec![], T::Timestamp, |_, _, c| Ok(Some(c.now_millis().to_be_bytes().to_vec())))
        }
        "current_date" | "currentdate" => one(vec![], T::Date, |_, _, c| {
            Ok(Some(millis_to_date_days(c.now_millis()).to_be_bytes().to_vec()))
        }),
        "current_time" | "currenttime" => one(vec![], T::Time, |_, _, c| {
            let nanos = c.now_micros.rem_euclid(86_400_000_000) * 1000;
            Ok(Some(nanos.to_be_bytes().to_vec()))
        }),
        "min_timeuuid" | "mintimeuuid" => one(vec![T::Timestamp], T::TimeUuid, |f, a, _| {
            Ok(millis(f, a).map(|ms| timeuuid::min_for_millis(ms).to_vec()))
        }),
        "max_timeuuid" | "maxtimeuuid" => one(vec![T::Timestamp], T::TimeUuid, |f, a, _| {
            Ok(millis(f, a).map(|ms| timeuuid::max_for_millis(ms).to_vec()))
        }),
        "to_date" | "todate" => each(name, &[T::TimeUuid, T::Timestamp], T::Date, to_date),
        "to_timestamp" | "totimestamp" => each(name, &[T::TimeUuid, T::Date], T::Timestamp, to_timestamp),
        "dateof" => each(name, &[T::TimeUuid], T::Timestamp, to_timestamp),
        "to_unix_timestamp" | "tounixtimestamp" => {
            each(name, &[T::TimeUuid, T::Timestamp, T::Date], T::BigInt, to_timestamp)
        }
        "unixtimestampof" => each(name, &[T::TimeUuid], T::BigInt, to_timestamp),
        "floor" => floors(name),
        _ => return None,
    })
}

fn each(name: &str, args: &[T], returns: T, body: super::Body) -> Vec<Function> {
    let function = |arg: &T| Function::new(name, vec![arg.clone()], returns.clone(), body).monotonic();
    args.iter().map(function).collect()
}

fn now(_: &Function, _: &Args<'_>, context: &CallContext<'_>) -> CallResult {
    Ok(Some(context.ids.timeuuid().to_vec()))
}

/// Milliseconds since 1970 of the first argument, whatever temporal type it has.
fn millis(function: &Function, args: &Args<'_>) -> Option<i64> {
    let bytes = present(function, args, 0)?;
    match function.args.first()? {
        T::TimeUuid => Some(timeuuid::unix_millis(bytes.try_into().ok()?)),
        T::Timestamp => as_i64(bytes),
        T::Date => Some(date_to_millis(as_u32(bytes)?)),
        _ => None,
    }
}

fn to_date(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Ok(millis(function, args).map(|ms| millis_to_date_days(ms).to_be_bytes().to_vec()))
}

fn to_timestamp(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Ok(millis(function, args).map(|ms| ms.to_be_bytes().to_vec()))
}

fn floors(name: &str) -> Vec<Function> {
    let f = |args: &[T], returns| Function::new(name, args.to_vec(), returns, floor).monotonic();
    vec![
        f(&[T::Timestamp, T::Duration], T::Timestamp),
        f(&[T::Timestamp, T::Duration, T::Timestamp], T::Timestamp),
        f(&[T::TimeUuid, T::Duration], T::Timestamp),
        f(&[T::TimeUuid, T::Duration, T::Timestamp], T::Timestamp),
        f(&[T::Date, T::Duration], T::Date),
        f(&[T::Date, T::Duration, T::Date], T::Date),
        Function::new(name, vec![T::Time, T::Duration], T::Time, floor_of_time).monotonic(),
    ]
}

fn floor(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let (Some(time), Some(duration)) = (millis(function, args), duration(args)) else { return Ok(None) };
    let start = match function.args.len() {
        2 => 0,
        _ => {
            let Some(bytes) = present(function, args, 2) else { return Ok(None) };
            let start = match function.args.get(2) {
                Some(T::Date) => as_u32(bytes).map(date_to_millis),
                _ => as_i64(bytes),
            };
            let Some(start) = start else { return Ok(None) };
            start
        }
    };
    if function.returns == T::Date && duration.nanos != 0 {
        return Err(FunctionFault::FloorBelowDay { duration: duration.to_string() }.into());
    }
    if function.returns == T::Timestamp && duration.nanos % 1_000_000 != 0 {
        return Err(FunctionFault::FloorBelowMillisecond { duration: duration.to_string() }.into());
    }
    let floor = floor_timestamp(time, duration, start).map_err(refused)?;
    Ok(Some(match function.returns {
        T::Date => millis_to_date_days(floor).to_be_bytes().to_vec(),
        _ => floor.to_be_bytes().to_vec(),
    }))
}

fn floor_of_time(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let nanos = present(function, args, 0).and_then(as_i64);
    let (Some(nanos), Some(duration)) = (nanos, duration(args)) else { return Ok(None) };
    let floor = floor_time(nanos, duration).map_err(refused)?;
    Ok(Some(floor.to_be_bytes().to_vec()))
}

/// Arguments that make no sense are the client's mistake, not a failure of the function.
fn refused(error: ValueError) -> QueryError {
    error.into()
}

fn duration(args: &Args<'_>) -> Option<Duration> {
    Duration::from_wire(args.get(1).copied().flatten()?)
}
