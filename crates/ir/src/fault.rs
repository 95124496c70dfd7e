//! What can go wrong in generated code, and where: what a generator numbers, and a driver reads back.

use rustc_hash::FxHashMap;

use crate::message::Text;
use crate::{Place, Site, Type};

/// What happened at a place, or where a thread was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultSite {
    /// The source line of what went wrong.
    pub site: Site,
    /// What happened at that line.
    pub fault: Fault,
}

/// What can happen at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fault {
    /// An index was out of bounds.
    OutOfBounds {
        /// The memory that was accessed.
        place: Place,
        /// The number of dimensions of the index.
        rank: usize,
        /// Whether each number of the index is a `u64`, of two words, the low one first.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
        wide: bool,
    },
    /// An integer was divided by zero.
    DivisionByZero,
    /// An assertion did not hold.
    Assertion {
        /// What the assertion says.
        text: Text,
        /// The types of the values in it, whose words are the fault's index ([`crate::message::Words`]).
        types: Vec<Type>,
    },
    /// The driver ended a loop before its end, as some Vulkan drivers do.
    LoopCut,
    /// A thread was in this loop when it was stopped, which is no fault.
    Loop,
}

/// The faults that a module can report, each once. The control block holds the number of a fault.
#[derive(Debug, Default)]
pub struct Sites {
    numbers: FxHashMap<FaultSite, u32>,
    all: Vec<FaultSite>,
}

impl Sites {
    /// The number of a fault at a place, a new one if it has none yet.
    pub fn number(&mut self, site: Site, fault: Fault) -> u32 {
        let entry = FaultSite { site, fault };
        if let Some(&number) = self.numbers.get(&entry) {
            return number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(entry.clone(), number);
        self.all.push(entry);
        number
    }

    /// The sites of all faults, in the order of their numbers.
    pub fn finish(self) -> Vec<FaultSite> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_one_number() {
        let mut sites = Sites::default();
        let [here, there] = [1, 2].map(|line| Site { file: "f.rs", line, column: 1 });
        assert_eq!(sites.number(here, Fault::DivisionByZero), 0);
        assert_eq!(sites.number(there, Fault::DivisionByZero), 1);
        assert_eq!(sites.number(here, Fault::Loop), 2);
        assert_eq!(sites.number(there, Fault::DivisionByZero), 1);
        let all = sites.finish();
        assert_eq!(all.len(), 3);
        assert_eq!(all[1], FaultSite { site: there, fault: Fault::DivisionByZero });
    }
}
