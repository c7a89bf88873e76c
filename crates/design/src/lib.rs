//! Review rules, growth model, table derivation, what-if simulation. Works on text alone.
