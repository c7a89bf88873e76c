//! The shapes of requests as data: which members each structure has, their types and constraints.
//!
//! `model.txt` lists them, one per line: `Name structure Member!:Shape …` (`!` for required), `Name list Shape min..max`,
//! `Name map Shape`, `Name string min..max /pattern` or `Name string A|B|C`, and so on. Reading JSON by a shape gives a
//! tree in which every type is right, or the service's sentence for the first that is not. Member constraints are then
//! collected from the same shapes.

mod constraints;
mod model;
mod read;
mod value;

pub use constraints::{Faults, table_name_faults, table_of};
pub use model::{Shape, has_member, input};
pub use read::{Members, Node, read_body};
pub use value::{ReadValue, ValueFault};
