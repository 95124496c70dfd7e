//! What memory holds that nothing fixes: values that are nobody's, and copies of what nobody has written.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use wattle_check::search::Address;
use wattle_core::lock;

use super::World;

impl World {
    /// A byte at the end, from the values of the cells that were written; `None` where nobody has written it, or some
    /// thread has copied there what nobody has.
    pub(crate) fn final_byte(&self, memory: u32, offset: u64, value: &dyn Fn(Address) -> Option<u64>) -> Option<u8> {
        let cell = u64::from(self.widths.at(memory, offset));
        let element = offset / cell * cell;
        let address = Address { memory, element };
        if self.unfixed.holds(address) || self.left_unwritten().contains(&address) {
            return None;
        }
        let written = value(Address { memory, element }).map(|value| (value >> (8 * (offset - element))) as u8);
        written.or_else(|| self.initial_byte(memory as usize, offset))
    }

    /// Records that a thread has copied to a cell what nobody has written.
    pub(crate) fn leaves_unwritten(&self, address: Address) {
        self.left_unwritten().insert(address);
    }

    fn left_unwritten(&self) -> MutexGuard<'_, BTreeSet<Address>> {
        lock(&self.left_unwritten)
    }

    /// Why values that nothing fixes may change what a search has found, if they may; as addresses of the steps that
    /// are excused they do not.
    pub(crate) fn why_unfixed(&self, is_excused: &dyn Fn(usize) -> bool) -> Option<String> {
        let (decided, addressed) = self.unfixed.decided();
        let mut addressed = addressed.iter().filter(|at| !is_excused(**at as usize));
        let at = decided.iter().next().or_else(|| addressed.next())?;
        let place = self.place_of(*at as usize);
        Some(match self.parts.iter().any(|part| part.spirv.is_some()) {
            true => {
                format!(
                    "a value that nothing fixes decides what happens at {place}: of memory without contents (give it some with \
                     @Input or --arg), or a result that the specification leaves to devices, as of `sin`"
                )
            }
            false => format!(
                "the result of an integer division by zero, which is unspecified (PTX ISA 9.7.1.7), decides what happens at \
                 {place}"
            ),
        })
    }

    /// Why the host may read values at the end that nothing fixes, if it may: buffers hold some.
    pub(crate) fn why_open_at_the_end(&self) -> Option<String> {
        let in_buffer = |address: &Address| (address.memory as usize) < self.ranges.len();
        if let Some(cell) = self.unfixed.all().find(in_buffer) {
            return Some(format!("a value that nothing fixes is left in {}", self.name_of(cell)));
        }
        let copied = self.left_unwritten().iter().copied().find(in_buffer)?;
        Some(format!(
            "what nobody has written, as padding is, was copied to {}, where the host may read it",
            self.name_of(copied)
        ))
    }
}
