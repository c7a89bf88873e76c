//! Front-end-neutral plans and their execution.
