//! A cursor over a message body: the primitive notations of the specification, borrowed from the input.
//!
//! Every read checks what is left first, so no input can make it panic, and it allocates nothing except for the
//! text of an error. The caller names each field; the name appears in the error.

use crate::consistency::Consistency;
use crate::error::WireError;
use std::net::{IpAddr, SocketAddr};

type Result<T> = std::result::Result<T, WireError>;

/// The unread rest of a body.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// What has not been read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize, field: &'static str) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(WireError::Truncated { field, needed: count, left: self.rest.len() }),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(WireError::Truncated { field, needed: N, left: self.rest.len() }),
        }
    }

    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|b| b[0])
    }

    /// `[short]`
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_be_bytes)
    }

    /// `[int]`
    #[inline]
    pub fn i32(&mut self, field: &'static str) -> Result<i32> {
        self.array(field).map(i32::from_be_bytes)
    }

    /// `[long]`
    #[inline]
    pub fn i64(&mut self, field: &'static str) -> Result<i64> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// `[uuid]`
    pub fn uuid(&mut self, field: &'static str) -> Result<[u8; 16]> {
        self.array(field)
    }

    /// `[string]`
    pub fn string(&mut self, field: &'static str) -> Result<&'a str> {
        let length = usize::from(self.u16(field)?);
        utf8(self.take(length, field)?, field)
    }

    /// `[long string]`
    pub fn long_string(&mut self, field: &'static str) -> Result<&'a str> {
        let length = self.length(field)?;
        utf8(self.take(length, field)?, field)
    }

    /// `[short bytes]`
    #[inline]
    pub fn short_bytes(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let length = usize::from(self.u16(field)?);
        self.take(length, field)
    }

    /// `[bytes]`: a length below zero is null.
    #[inline]
    pub fn bytes(&mut self, field: &'static str) -> Result<Option<&'a [u8]>> {
        match usize::try_from(self.i32(field)?) {
            Ok(length) => self.take(length, field).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// An `[int]` that counts or measures, hence not below zero.
    pub fn length(&mut self, field: &'static str) -> Result<usize> {
        let length = self.i32(field)?;
        usize::try_from(length).map_err(|_| WireError::NegativeLength { field, length })
    }

    /// `[consistency]`
    #[inline]
    pub fn consistency(&mut self) -> Result<Consistency> {
        let code = self.u16("consistency level")?;
        Consistency::from_code(code).ok_or(WireError::UnknownConsistency { code })
    }

    /// `[string list]`
    pub fn string_list(&mut self, field: &'static str) -> Result<Vec<String>> {
        let count = self.u16(field)?;
        (0..count).map(|_| self.string(field).map(str::to_owned)).collect()
    }

    /// Skips a `[bytes map]` (custom payload).
    pub fn skip_bytes_map(&mut self, field: &'static str) -> Result<()> {
        for _ in 0..self.u16(field)? {
            self.string(field)?;
            self.bytes(field)?;
        }
        Ok(())
    }

    /// `[inetaddr]`
    pub fn address(&mut self, field: &'static str) -> Result<IpAddr> {
        match self.u8(field)? {
            4 => self.array::<4>(field).map(IpAddr::from),
            16 => self.array::<16>(field).map(IpAddr::from),
            length => Err(WireError::AddressLength { length }),
        }
    }

    /// `[inet]`
    pub fn socket_address(&mut self, field: &'static str) -> Result<SocketAddr> {
        let address = self.address(field)?;
        let port = self.i32(field)?;
        let port =
            u16::try_from(port).map_err(|_| WireError::UnknownCode { field: "port", code: port.into() })?;
        Ok(SocketAddr::new(address, port))
    }
}

fn utf8<'a>(bytes: &'a [u8], field: &'static str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| WireError::NotUtf8 { field })
}
