//! The schema version: a UUID made of the content, so equal schemas have equal versions.

use crate::catalogue::Catalogue;
use md5::{Digest, Md5};

impl Catalogue {
    /// The version that this content has. TRUNCATE does not change it: drivers need not read the schema again.
    pub fn content_version(&self) -> [u8; 16] {
        as_version_3(Md5::digest(self.to_json_for_version()).into())
    }

    /// The same catalogue with its version brought up to date.
    pub(crate) fn versioned(mut self) -> Catalogue {
        self.version = self.content_version();
        self
    }
}

/// The name-based UUID of some bytes (version 3, as Java's `nameUUIDFromBytes`); system tables are named so.
pub fn name_uuid(name: &[u8]) -> [u8; 16] {
    as_version_3(Md5::digest(name).into())
}

fn as_version_3(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0f | 0x30;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
