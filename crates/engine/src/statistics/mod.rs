//! Statistics. Under construction.
