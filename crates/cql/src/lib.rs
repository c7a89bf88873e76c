//! The CQL dialect: binds syntax trees to query plans, system tables, DESCRIBE.
