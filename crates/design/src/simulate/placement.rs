//! Where a partition lives: its key as bytes, as a driver would send them, so that the token is the real one.

use super::population::{Key, Outer};
use super::random::mix;
use super::workload::TableModel;
use crate::catalogue::{Column, Table};
use crate::vocabulary::{self, Meaning};
use cql_syntax::ast::NativeType;
use model::token::{Token, murmur3};

/// One partition of a key: its time bucket (0 is the current one) and its hash bucket.
#[derive(Debug, Clone, Copy)]
pub struct Bucket {
    pub time: u64,
    pub hash: u64,
}

/// The current time bucket has this number; what matters is that neighbours differ.
const TODAY: u64 = 20_000;

/// The token of a partition.
pub fn token(model: &TableModel, table: &Table, seed: u64, key: Key, bucket: Bucket) -> Token {
    let mut parts: Vec<Vec<u8>> = Vec::with_capacity(table.partition.len());
    for at in &table.partition {
        let Some(column) = table.columns.get(*at) else { continue };
        parts.push(part(model, column, *at, seed, key, bucket));
    }
    match parts.as_slice() {
        [one] => murmur3(one),
        many => {
            let mut bytes = Vec::new();
            for part in many {
                bytes.extend((part.len() as u16).to_be_bytes());
                bytes.extend(part);
                bytes.push(0);
            }
            murmur3(&bytes)
        }
    }
}

fn part(model: &TableModel, column: &Column, at: usize, seed: u64, key: Key, bucket: Bucket) -> Vec<u8> {
    let native = vocabulary::native(&column.data_type);
    match column.meaning {
        Meaning::TimeBucket(_) => return value(native, "bucket", TODAY - bucket.time.min(TODAY), seed),
        Meaning::HashBucket => return value(Some(NativeType::Int), "bucket", bucket.hash, seed),
        _ => {}
    }
    if model.outer_column == Some(at) {
        return match key.outer {
            Outer::Named(number) => match model.named.get(number) {
                Some(name) if matches!(native, Some(NativeType::Text | NativeType::Ascii)) => {
                    name.clone().into_bytes()
                }
                _ => value(native, "named", number as u64, seed),
            },
            Outer::Rank(rank) => value(native, &column.name, rank, seed),
        };
    }
    let outer = match key.outer {
        Outer::Named(number) => u64::MAX - number as u64,
        Outer::Rank(rank) => rank,
    };
    value(native, &column.name, mix(outer).wrapping_add(key.inner), seed)
}

/// A value of a type for the n-th of something.
fn value(native: Option<NativeType>, what: &str, number: u64, seed: u64) -> Vec<u8> {
    use NativeType::*;
    match native {
        Some(Text | Ascii) => format!("{what}-{number}").into_bytes(),
        Some(Int | Date) => (number as u32).to_be_bytes().to_vec(),
        Some(Smallint) => (number as u16).to_be_bytes().to_vec(),
        Some(Tinyint) => vec![number as u8],
        Some(Boolean) => vec![(number % 2) as u8],
        Some(Bigint | Timestamp | Time | Counter | Double) => number.to_be_bytes().to_vec(),
        _ => {
            let high = mix(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            [high.to_be_bytes(), mix(high ^ number).to_be_bytes()].concat()
        }
    }
}

/// The partition in words: `tenant_id acme, customer_id #3, month current`.
pub fn describe(model: &TableModel, table: &Table, key: Key, is_current: bool) -> String {
    let mut parts = Vec::new();
    for at in &table.partition {
        let Some(column) = table.columns.get(*at) else { continue };
        let text = match (column.meaning, key.outer) {
            (Meaning::TimeBucket(_), _) if is_current => "current".to_string(),
            (Meaning::TimeBucket(_), _) => "any".to_string(),
            (Meaning::HashBucket, _) => "any".to_string(),
            (_, Outer::Named(number)) if model.outer_column == Some(*at) => {
                model.named.get(number).cloned().unwrap_or_default()
            }
            (_, Outer::Rank(rank)) if model.outer_column == Some(*at) => format!("#{rank}"),
            // A further column of a key that is ranked as a whole.
            _ if matches!(model.shape.inner, super::population::Inner::One) => continue,
            _ => format!("#{}", key.inner),
        };
        parts.push(format!("{} {text}", column.name));
    }
    parts.join(", ")
}
