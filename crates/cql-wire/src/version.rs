//! Protocol versions, negotiated compression, and the per-connection choices that change message layouts.

use std::fmt;

/// A protocol version this crate can speak. Ordered: `V3 < V4 < V5 < V6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Version {
    V3 = 3,
    V4 = 4,
    V5 = 5,
    /// Beta: the layouts of v5, and every message carries the flag that says so.
    V6 = 6,
}

impl Version {
    /// Every supported version, oldest first.
    pub const ALL: [Version; 4] = [Version::V3, Version::V4, Version::V5, Version::V6];

    /// The newest version that is not beta; errors about versions we do not speak are sent in it.
    pub const NEWEST: Version = Version::V5;

    /// The version with this number (the direction bit already removed), if we speak it.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Version> {
        match number {
            3 => Some(Version::V3),
            4 => Some(Version::V4),
            5 => Some(Version::V5),
            6 => Some(Version::V6),
            _ => None,
        }
    }

    /// 3, 4, 5 or 6.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether clients must say that they accept a version that may still change.
    #[must_use]
    pub fn is_beta(self) -> bool {
        self == Version::V6
    }

    /// The element of the `PROTOCOL_VERSIONS` list in SUPPORTED, for example `5/v5`.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Version::V3 => "3/v3",
            Version::V4 => "4/v4",
            Version::V5 => "5/v5",
            Version::V6 => "6/v6-beta",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// What STARTUP negotiated about message layouts on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    pub version: Version,
    /// ScyllaDB's `SCYLLA_USE_METADATA_ID`: a connection below v5 uses v5's result metadata ids in PREPARED,
    /// EXECUTE and Rows. Has no effect on v5.
    pub metadata_id_extension: bool,
}

impl Protocol {
    /// A connection without extensions.
    #[must_use]
    pub fn new(version: Version) -> Protocol {
        Protocol { version, metadata_id_extension: false }
    }

    /// Whether PREPARED and EXECUTE carry a result metadata id.
    #[must_use]
    pub fn has_metadata_id(self) -> bool {
        self.version >= Version::V5 || self.metadata_id_extension
    }
}

impl From<Version> for Protocol {
    fn from(version: Version) -> Protocol {
        Protocol::new(version)
    }
}

/// A compression algorithm that STARTUP may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    Lz4,
    /// Legal in v3 and v4 only.
    Snappy,
}

impl Compression {
    /// The name used in SUPPORTED and STARTUP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "lz4",
            Compression::Snappy => "snappy",
        }
    }

    /// Finds an algorithm by its name in any letter case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Compression> {
        [Compression::Lz4, Compression::Snappy].into_iter().find(|c| c.name().eq_ignore_ascii_case(name))
    }
}
