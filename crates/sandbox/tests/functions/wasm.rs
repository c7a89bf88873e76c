//! Functions in WebAssembly.

use crate::Made;
use model::types::DataType;
use sandbox::{Compiled, Failure, Sandbox};

/// The example of ScyllaDB's documentation, in our words: recursive, on native numbers.
const FIB: &str = r#"(module
  (func $f (param $n i64) (result i64)
    (if (result i64) (i64.lt_s (local.get $n) (i64.const 2))
      (then (local.get $n))
      (else (i64.add (call $f (i64.sub (local.get $n) (i64.const 1)))
                     (call $f (i64.sub (local.get $n) (i64.const 2)))))))
  (memory 2)
  (global i32 (i32.const 1024))
  (data (i32.const 1024) "\01")
  (export "memory" (memory 0))
  (export "f" (func $f))
  (export "_scylla_abi" (global 0)))"#;

/// A module around a function, with an allocator that never frees.
fn module(abi: u8, function: &str) -> String {
    format!(
        r#"(module
          (memory (export "memory") 1)
          (global $next (mut i32) (i32.const 2048))
          (global (export "_scylla_abi") i32 (i32.const 1024))
          (data (i32.const 1024) "\{abi:02}")
          (func $malloc (export "_scylla_malloc") (param i32) (result i32)
            (global.get $next)
            (global.set $next (i32.add (global.get $next) (local.get 0))))
          (func (export "_scylla_free") (param i32))
          {function})"#
    )
}

#[test]
fn native_numbers() {
    let fib = Made::new("wasm", &[("n", DataType::BigInt)], DataType::BigInt, FIB).strict();
    let call = |n: i64| {
        fib.call(&[Some(&n.to_be_bytes())])
            .map(|value| value.map(|v| i64::from_be_bytes(v.try_into().unwrap())))
    };
    assert_eq!(call(15), Ok(Some(610)));
    assert_eq!(fib.call(&[None]), Ok(None));
    assert_eq!(call(60), Err(Failure::TooLong));
    for (of, value, expected) in [
        (DataType::TinyInt, vec![0xff], vec![0xfe]),
        (DataType::SmallInt, vec![0x12, 0x34], vec![0x24, 0x68]),
        (DataType::Int, vec![0, 0, 0, 9], vec![0, 0, 0, 18]),
        (DataType::Boolean, vec![1], vec![1]),
    ] {
        let double = "(func (export \"f\") (param i32) (result i32) (i32.add (local.get 0) (local.get 0)))";
        let made = Made::new("wasm", &[("x", of.clone())], of.clone(), &module(1, double)).strict();
        assert_eq!(made.call(&[Some(&value)]), Ok(Some(expected)), "{of}");
    }
    let double = "(func (export \"f\") (param f64) (result f64) (f64.mul (local.get 0) (f64.const 2)))";
    let made = Made::new("wasm", &[("x", DataType::Double)], DataType::Double, &module(1, double)).strict();
    assert_eq!(made.call(&[Some(&1.5f64.to_be_bytes())]), Ok(Some(3f64.to_be_bytes().to_vec())));
    let single = "(func (export \"f\") (param f32) (result f32) (f32.neg (local.get 0)))";
    let made = Made::new("wasm", &[("x", DataType::Float)], DataType::Float, &module(1, single)).strict();
    assert_eq!(made.call(&[Some(&1.5f32.to_be_bytes())]), Ok(Some((-1.5f32).to_be_bytes().to_vec())));
}

#[test]
fn values_in_memory_in_both_ways() {
    let same = "(func (export \"f\") (param i64) (result i64) (local.get 0))";
    for abi in [1, 2] {
        for of in [DataType::Text, DataType::list(DataType::Int), DataType::BigInt] {
            let made = Made::new("wasm", &[("x", of.clone())], of.clone(), &module(abi, same));
            let value = match of {
                DataType::Text => b"text".to_vec(),
                DataType::BigInt => 77i64.to_be_bytes().to_vec(),
                _ => [
                    &2i32.to_be_bytes()[..],
                    &4i32.to_be_bytes(),
                    &1i32.to_be_bytes(),
                    &4i32.to_be_bytes(),
                    &2i32.to_be_bytes(),
                ]
                .concat(),
            };
            assert_eq!(made.call(&[Some(&value)]), Ok(Some(value.clone())), "{of} {abi}");
            assert_eq!(made.call(&[None]), Ok(None), "{of} {abi}");
        }
        let empty = Made::new("wasm", &[("x", DataType::Text)], DataType::Text, &module(abi, same));
        assert_eq!(empty.call(&[Some(b"")]), Ok(Some(Vec::new())));
    }
    // The second argument, through the memory, of a function that takes native ones too.
    let second = "(func (export \"f\") (param i32 i64) (result i64) (local.get 1))";
    let types = [("n", DataType::Int), ("t", DataType::Text)];
    let made = Made::new("wasm", &types, DataType::Text, &module(2, second)).strict();
    assert_eq!(made.call(&[Some(&[0, 0, 0, 1]), Some(b"x")]), Ok(Some(b"x".to_vec())));
}

#[test]
fn memory_and_results_are_bounded() {
    let grow = r#"(func (export "f") (result i64)
        (if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then (unreachable)))
        (i64.const 0))"#;
    let made = Made::new("wasm", &[], DataType::Text, &module(1, grow));
    assert!(matches!(made.call(&[]), Err(Failure::Failed(_))));
    let outside = "(func (export \"f\") (result i64) (i64.const 0x7fffffff00000000))";
    let made = Made::new("wasm", &[], DataType::Blob, &module(1, outside));
    assert!(matches!(made.call(&[]), Err(Failure::WrongResult(_))));
    let wrong = "(func (export \"f\") (result i64) (i64.const 0x0000000300000400))";
    let made = Made::new("wasm", &[], DataType::Int, &module(1, wrong));
    assert!(matches!(made.call(&[]), Err(Failure::WrongResult(_))));
    let deep = "(func $g (export \"f\") (result i64) (call $g))";
    let made = Made::new("wasm", &[], DataType::Int, &module(1, deep));
    assert!(matches!(made.call(&[]), Err(Failure::Failed(_) | Failure::TooLong)));
    let huge = "(module (memory (export \"memory\") 60000) (global (export \"_scylla_abi\") i32 (i32.const 0)) \
                (func (export \"f\") (result i64) (i64.const 0)))";
    assert!(Made::new("wasm", &[], DataType::Int, huge).call(&[]).is_err());
    // A start function counts as well.
    let endless = "(func $s (loop (br 0))) (start $s) (func (export \"f\") (result i64) (i64.const 0))";
    assert_eq!(Made::new("wasm", &[], DataType::Int, &module(1, endless)).call(&[]), Err(Failure::TooLong));
    let fill = "(func (export \"f\") (result i64) (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br 0)) (i64.const 0))";
    assert_eq!(Made::new("wasm", &[], DataType::Int, &module(1, fill)).call(&[]), Err(Failure::TooLong));
}

#[test]
fn what_is_not_as_it_must_be_is_told() {
    let said = |body: &str, part: &str| {
        let made = Made::new("wasm", &[("n", DataType::BigInt)], DataType::BigInt, body).strict();
        let told = sandbox::check(&made.definition());
        assert!(matches!(&told, Err(Failure::Broken(text)) if text.contains(part)), "{told:?} lacks {part}");
        assert!(made.call(&[Some(&[0; 8])]).is_err());
    };
    said("(module", "");
    said("no module", "");
    said("AGFzb?!", "neither WAT nor base64");
    said("(module)", "does not export a function f");
    said("(module (global (export \"f\") i32 (i32.const 0)))", "is not a function");
    let narrow = "(func (export \"f\") (param i32) (result i64) (i64.const 0))";
    said(&module(1, narrow), "its declaration asks for");
    let function = "(func (export \"f\") (param i64) (result i64) (i64.const 0))";
    said(&format!("(module {function})"), "_scylla_abi");
    let importing = module(1, function).replacen("(module", "(module (import \"env\" \"open\" (func))", 1);
    said(&importing, "env.open");
    let made = Made::new("wasm", &[("n", DataType::BigInt)], DataType::BigInt, &module(3, function)).strict();
    let told = made.call(&[Some(&[0; 8])]);
    assert_eq!(told, Err(Failure::Broken("its ABI is 3; there are 1 and 2".into())));
}

/// What a compiler's runtime imports is there; the program ends when it exits.
#[test]
fn the_system_interface_refuses() {
    let wasi = r#"(module
        (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (global (export "_scylla_abi") i32 (i32.const 0))
        (data (i32.const 0) "\01")
        (func (export "f") (param i32) (result i32)
          (if (i32.eqz (local.get 0)) (then (call $exit (i32.const 1))))
          (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))"#;
    let made = Made::new("wasm", &[("n", DataType::Int)], DataType::Int, wasi).strict();
    assert_eq!(made.call(&[Some(&1i32.to_be_bytes())]), Ok(Some(52i32.to_be_bytes().to_vec())));
    assert!(matches!(made.call(&[Some(&0i32.to_be_bytes())]), Err(Failure::Failed(_))));
}

/// The binary form as base64, compiled on another thread and kept.
#[test]
fn a_binary_is_compiled_aside() {
    // (module (memory (export "memory") 1) (global (export "_scylla_abi") i32 (i32.const 8)) (data (i32.const 8) "\01")
    //         (func (export "f") (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))
    let binary: &[u8] = b"\0asm\x01\0\0\0\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x02\x01\0\x05\x03\x01\0\x01\x06\x06\x01\x7f\0\x41\x08\x0b\
        \x07\x1c\x03\x06memory\x02\0\x0b_scylla_abi\x03\0\x01f\0\0\x0a\x09\x01\x07\0\x20\0\x41\x01\x6a\x0b\x0b\x07\x01\0\x41\x08\x0b\x01\x01";
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in binary.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63] as char;
            text.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    let made = Made::new("wasm", &[("n", DataType::Int)], DataType::Int, &text).strict();
    let sandbox = Sandbox::default();
    assert!(sandbox.compiles_long(&made.function));
    let compiled =
        std::thread::scope(|scope| scope.spawn(|| Compiled::new(&made.definition())).join().unwrap());
    assert_eq!(sandbox.keep(compiled), Ok(()));
    assert!(!sandbox.compiles_long(&made.function));
    let five = 5i32.to_be_bytes();
    assert_eq!(sandbox.call(&made.definition(), &[Some(&five)]), Ok(Some(6i32.to_be_bytes().to_vec())));
}
