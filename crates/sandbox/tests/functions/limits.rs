//! What a function cannot do: hold the thread, take memory, catch its own end.

use crate::{Made, lua};
use model::types::DataType;
use rt::threads::cpu_time;
use sandbox::{Failure, Sandbox};
use std::time::Duration;

/// All that a test machine may need for what takes milliseconds: debug builds, and a few instructions between two looks.
const LONG: Duration = Duration::from_millis(1_500);

fn stopped(body: &str) {
    let begun = cpu_time();
    let outcome = lua(DataType::Text, body);
    let took = cpu_time() - begun;
    let ended = matches!(
        outcome,
        Err(Failure::TooLong
            | Failure::TooMuchMemory { .. }
            | Failure::Failed(_)
            | Failure::LargeResult { .. })
    );
    assert!(ended, "{body}: {outcome:?}");
    assert!(took < LONG, "{body} took {took:?}");
}

#[test]
fn loops_end() {
    for body in [
        "while true do end",
        "repeat until false",
        "for i = 1, math.huge do end",
        "goto a ::a:: goto a",
        "local function f() return f() end return f()",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do pcall(error) end",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) return t[1]",
        "local t = setmetatable({}, {__index = function() return '' end, __len = function() return 1 << 60 end}) return table.concat(t)",
        "local t = setmetatable({}, {__len = function() return 1 << 60 end}) table.insert(t, 1, 1)",
        "local t = setmetatable({}, {__len = function() return 1 << 60 end}) table.sort(t)",
        "table.move({}, 1, 1 << 60, 2)",
        "return ('x'):rep(1 << 60)",
        "return (''):rep(1 << 60, 'x')",
        "local s = ('a'):rep(50000) while true do s:find(s, 1, true) end",
    ] {
        assert!(matches!(lua(DataType::Text, "return 'well'"), Ok(Some(_))));
        stopped(body);
    }
}

#[test]
fn patterns_end() {
    assert_eq!(lua(DataType::Text, "return (''):rep(1 << 60)"), Ok(Some(Vec::new())));
    for body in [
        "return ('a'):rep(30000):find('.-.-.-.-.-.-b')",
        "return ('a'):rep(30000):match('(.-)(.-)(.-)(.-)b')",
        "return ('a'):rep(30000):gsub('.-.-.-.-b', '')",
        "for _ in ('a'):rep(30000):gmatch('.*.*.*b') do end",
        "return ('('):rep(300000):find('%b()')  .. ('x'):rep(200000):gsub('x', ('y'):rep(1000))",
        "return ('x'):gsub('x', function() while true do end end)",
        "local function f() return (('x'):gsub('x', f)) end return f()",
    ] {
        stopped(body);
    }
}

#[test]
fn memory_ends() {
    for body in [
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
        "while true do pcall(function() local s = 'x' while true do s = s .. s end end) end",
        "local function f(n) return 1 + f(n) end return f(1)",
        "return table.unpack({}, 1, 1e8)",
        "local a = ('x'):rep(1 << 20) local b = ('x'):rep(1 << 20) while true do local c = a < b end",
        "local a = ('x'):rep(1 << 20) while true do local c = a .. 'y' end",
        "local s = ('x'):rep(1 << 20) while true do s:upper() end",
        "local s = ('x'):rep(1 << 20) while true do string.format('%s%s', s, s) end",
    ] {
        stopped(body);
    }
    let big = Made::new("lua", &[("a", DataType::VarInt)], DataType::VarInt, "while true do a = a * a end");
    assert!(big.call(&[Some(&[2])]).is_err());
    let many = "local t = {} while true do t[#t + 1] = a + 1 end";
    let many = Made::new("lua", &[("a", DataType::VarInt)], DataType::VarInt, many);
    assert!(matches!(many.call(&[Some(&[1; 4000])]), Err(Failure::TooMuchMemory { .. } | Failure::TooLong)));
}

#[test]
fn values_are_bounded() {
    let same = Made::new("lua", &[("a", DataType::Blob)], DataType::Blob, "return a");
    let megabyte = vec![7u8; sandbox::VALUE_BYTES_MAX];
    assert_eq!(same.call(&[Some(&megabyte)]), Ok(Some(megabyte.clone())));
    let more = vec![7u8; sandbox::VALUE_BYTES_MAX + 1];
    assert_eq!(
        same.call(&[Some(&more)]),
        Err(Failure::LargeArguments { bytes_max: sandbox::VALUE_BYTES_MAX })
    );
    let twice = Made::new("lua", &[("a", DataType::Blob)], DataType::Blob, "return a .. 'x'");
    assert_eq!(
        twice.call(&[Some(&megabyte)]),
        Err(Failure::LargeResult { bytes_max: sandbox::VALUE_BYTES_MAX })
    );
    let long = Made::new("lua", &[], DataType::Int, &format!("return 1 --{}", "x".repeat(200_000)));
    assert!(matches!(long.call(&[]), Err(Failure::Broken(_))));
}

/// Calls of one step share what they may do; the next step begins anew.
#[test]
fn a_step_is_shared() {
    let sandbox = Sandbox::default();
    let work = Made::new("lua", &[], DataType::Int, "for i = 1, 100000 do end return 1");
    let mut calls = 0;
    while sandbox.call(&work.definition(), &[]).is_ok() {
        calls += 1;
        assert!(calls < 1000, "the step has an end");
    }
    assert!(calls > 0 && sandbox.used() > 0);
    assert_eq!(sandbox.call(&work.definition(), &[]), Err(Failure::TooLong));
    sandbox.begin_step();
    assert_eq!(sandbox.used(), 0);
    assert!(sandbox.call(&work.definition(), &[]).is_ok());
}

/// More functions than are kept still all run.
#[test]
fn the_cache_is_bounded_and_goes_on() {
    let sandbox = Sandbox::default();
    let made: Vec<Made> =
        (0..100).map(|n| Made::new("lua", &[], DataType::Int, &format!("return {n}"))).collect();
    for _ in 0..2 {
        for (n, one) in made.iter().enumerate() {
            sandbox.begin_step();
            let expected = (n as i32).to_be_bytes().to_vec();
            assert_eq!(sandbox.call(&one.definition(), &[]), Ok(Some(expected)));
        }
    }
}
