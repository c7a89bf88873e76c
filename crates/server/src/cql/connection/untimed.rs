//! Statements that were answered together: one look at the clock times them all.

use crate::cql::statements::Statement;
use std::rc::Rc;

/// In the order they came, with how often in a row.
#[derive(Default)]
pub struct Untimed {
    statements: Vec<(Rc<Statement>, u64)>,
}

/// Beyond this many different ones in a row the rest is not timed: they would be kept for long.
const STATEMENTS_MAX: usize = 256;

impl Untimed {
    #[inline]
    pub fn note(&mut self, statement: Option<Rc<Statement>>) {
        let Some(statement) = statement else { return };
        if let Some((last, count)) = self.statements.last_mut()
            && Rc::ptr_eq(last, &statement)
        {
            *count += 1;
        } else if self.statements.len() < STATEMENTS_MAX {
            self.statements.push((statement, 1));
        }
    }

    pub fn took(&mut self, micros: u64) {
        self.statements.drain(..).for_each(|(statement, count)| statement.took(micros, count));
    }
}
