//! Words for tables of another dialect.

use query::fault::ForeignFault;

pub fn words(fault: ForeignFault) -> String {
    match fault {
        ForeignFault::Damaged => {
            "An item of the DynamoDB table is damaged; `partita verify` finds out where".into()
        }
        ForeignFault::NumberOutOfRange => {
            "A number of the DynamoDB API has at most 38 digits and lies between 1E-130 and 1E+126".into()
        }
        ForeignFault::Unserved => "no table of this kind is served by the DynamoDB API".into(),
    }
}
