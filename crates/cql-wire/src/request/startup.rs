//! STARTUP: the options a connection begins with.

use crate::error::WireError;
use crate::reader::Reader;
use crate::version::{Compression, Version};
use crate::writer::{put_string, put_u16};

/// A STARTUP message. Keys are matched in any letter case; unknown keys are kept and may be ignored.
#[derive(Debug, Clone, Copy)]
pub struct Startup<'a> {
    bytes: &'a [u8],
    count: u16,
}

impl<'a> Startup<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Startup<'a>, WireError> {
        let count = reader.u16("number of STARTUP options")?;
        let start = reader.rest();
        for _ in 0..count {
            reader.string("key of a STARTUP option")?;
            reader.string("value of a STARTUP option")?;
        }
        let used = start.len() - reader.rest().len();
        Ok(Startup { bytes: start.get(..used).unwrap_or_default(), count })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_u16(out, self.count);
        out.extend_from_slice(self.bytes);
    }

    /// All options in the order of the message.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut reader = Reader::new(self.bytes);
        (0..self.count).map_while(move |_| {
            let key = reader.string("key of a STARTUP option").ok()?;
            Some((key, reader.string("value of a STARTUP option").ok()?))
        })
    }

    /// The value of an option. Extensions count as negotiated by the presence of their key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.iter().filter(|(k, _)| k.eq_ignore_ascii_case(key)).last().map(|(_, value)| value)
    }

    /// The `CQL_VERSION`, checked to be at least 3.0.0.
    pub fn cql_version(&self) -> Result<&'a str, WireError> {
        let version = self.get("CQL_VERSION").ok_or(WireError::MissingCqlVersion)?;
        let refused = || WireError::CqlVersion { version: version.to_owned() };
        let major: u32 = version.split(['.', '-']).next().unwrap_or("").parse().map_err(|_| refused())?;
        if major >= 3 { Ok(version) } else { Err(refused()) }
    }

    /// The compression asked for; an empty name counts as none, as does a missing one.
    pub fn compression(&self, version: Version) -> Result<Option<Compression>, WireError> {
        let Some(name) = self.get("COMPRESSION").filter(|name| !name.is_empty()) else { return Ok(None) };
        match Compression::from_name(name) {
            Some(Compression::Snappy) if version >= Version::V5 => Err(WireError::SnappyInV5),
            Some(compression) => Ok(Some(compression)),
            None => Err(WireError::UnknownCompression { name: name.to_owned() }),
        }
    }
}

impl PartialEq for Startup<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Startup<'_> {}

/// Builds a [`Startup`] that we send ourselves.
///
/// ```
/// use cql_wire::StartupOptions;
///
/// let mut options = StartupOptions::new();
/// options.set("CQL_VERSION", "3.0.0");
/// assert_eq!(options.as_startup().get("cql_version"), Some("3.0.0"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct StartupOptions {
    bytes: Vec<u8>,
    count: u16,
}

impl StartupOptions {
    #[must_use]
    pub fn new() -> StartupOptions {
        StartupOptions::default()
    }

    /// Appends an option; beyond 65,535 options it does nothing.
    pub fn set(&mut self, key: &str, value: &str) -> &mut StartupOptions {
        if let Some(count) = self.count.checked_add(1) {
            self.count = count;
            put_string(&mut self.bytes, key);
            put_string(&mut self.bytes, value);
        }
        self
    }

    #[must_use]
    pub fn as_startup(&self) -> Startup<'_> {
        Startup { bytes: &self.bytes, count: self.count }
    }
}
