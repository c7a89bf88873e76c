//! The whole engine cut at every I/O; see `crash_run`.
