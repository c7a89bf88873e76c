//! Values as bytes, for messages between a client and a node that were built together: no versions, nothing optional.

use std::sync::Arc;

/// Written by `put`, read back by `take`, which leaves what follows.
pub trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! wire_numbers {
    ($($number:ty),+) => {$(
        impl Wire for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<$number> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$number>::from_be_bytes(*bytes))
            }
        }
    )+};
}

wire_numbers!(u8, u16, u32, u64, i32, i64);

/// A struct, by all its fields.
macro_rules! wire_struct {
    ($($name:ident { $($field:ident),* $(,)? })+) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($field.put(out);)*
            }

            fn take(from: &mut &[u8]) -> Option<$name> {
                $(let $field = Wire::take(from)?;)*
                Some($name { $($field),* })
            }
        }
    )+};
}

/// An enum, by a tag and the fields of each variant. All variants have to be named.
macro_rules! wire_enum {
    ($name:ident { $($tag:literal => $variant:ident $(($($part:ident),+))? $({ $($field:ident),+ $(,)? })?),+ $(,)? }) => {
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant $(($($part),+))? $({ $($field),+ })? => {
                        out.push($tag);
                        $($($part.put(out);)+)?
                        $($($field.put(out);)+)?
                    })+
                }
            }

            fn take(from: &mut &[u8]) -> Option<$name> {
                Some(match u8::take(from)? {
                    $($tag => {
                        $($(let $part = Wire::take(from)?;)+)?
                        $($(let $field = Wire::take(from)?;)+)?
                        $name::$variant $(($($part),+))? $({ $($field),+ })?
                    })+
                    _ => return None,
                })
            }
        }
    };
}

pub(super) use {wire_enum, wire_struct};

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Option<bool> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<usize> {
        usize::try_from(u64::take(from)?).ok()
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(from: &mut &[u8]) -> Option<String> {
        String::from_utf8(take_bytes(from)?.to_vec()).ok()
    }
}

impl Wire for Arc<str> {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(from: &mut &[u8]) -> Option<Arc<str>> {
        std::str::from_utf8(take_bytes(from)?).ok().map(Arc::from)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|part| part.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Vec<T>> {
        let count = usize::take(from)?;
        // Each part takes a byte at least, so a count that is wrong takes no memory.
        if count > from.len() {
            return None;
        }
        (0..count).map(|_| T::take(from)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Option<T>> {
        match bool::take(from)? {
            true => Some(Some(T::take(from)?)),
            false => Some(None),
        }
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Box<T>> {
        T::take(from).map(Box::new)
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Arc<T>> {
        T::take(from).map(Arc::new)
    }
}

impl<T: Wire> Wire for Arc<[T]> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|part| part.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Arc<[T]>> {
        Vec::take(from).map(Arc::from)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::take(from)?, B::take(from)?))
    }
}

pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().put(out);
    out.extend_from_slice(bytes);
}

pub fn take_bytes<'b>(from: &mut &'b [u8]) -> Option<&'b [u8]> {
    let count = usize::take(from)?;
    let (bytes, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(bytes)
}
