//! SELECT plans and their execution.
