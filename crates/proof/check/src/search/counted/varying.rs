//! What is left in cells where executions differ.

use std::collections::BTreeSet;

/// The maximum number of values that are known of a cell.
const MOST_VALUES: usize = 1 << 10;

/// The values that a cell can have, as far as they are known.
#[derive(Clone, Default, Debug)]
pub struct Values(Option<BTreeSet<u64>>);

/// What executions leave in a cell.
pub enum Left {
    /// This value in every execution. If the flag is set, the value stands for what is in memory that nobody has
    /// written.
    One(u64, bool),
    /// Some value of these in each execution.
    Several(Values),
    /// Some value of these, or what stood there before.
    Perhaps(Values),
}

impl Values {
    /// The values, where all are known.
    pub fn known(&self) -> Option<&BTreeSet<u64>> {
        self.0.as_ref()
    }

    /// The values of a cell in which nothing has been left yet.
    pub fn none() -> Values {
        Values(Some(BTreeSet::new()))
    }

    /// Adds values to them; too many are not known.
    pub fn extend(&mut self, values: impl IntoIterator<Item = u64>) {
        if let Some(known) = &mut self.0 {
            known.extend(values);
        }
        self.0.take_if(|known| known.len() > MOST_VALUES);
    }

    /// Adds the values of another set; if those are not known, neither are these any more.
    pub fn join(&mut self, other: &Values) {
        match other.known() {
            Some(values) => self.extend(values.iter().copied()),
            None => self.forget(),
        }
    }

    /// Makes the set one of which the values are not known.
    pub fn forget(&mut self) {
        self.0 = None;
    }
}
