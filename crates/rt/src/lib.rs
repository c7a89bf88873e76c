//! Shard threads, mail, files, clock and randomness: the only crate that touches the outside world.
