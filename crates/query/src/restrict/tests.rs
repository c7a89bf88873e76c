//! Unit tests of restrictions.
