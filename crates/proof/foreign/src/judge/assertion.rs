//! What the end of an execution says about an assertion.

use wattle_check::search::{Address, Execution};
use wattle_memory::LocationId;

use crate::condition::{Condition, Item};
use crate::violation::Violation;
use crate::world::World;

/// The most ends of one execution that are looked at.
pub(crate) const MOST_ENDS: usize = 4096;

/// Why nothing can be said about an assertion.
pub(super) fn left_open(world: &World, condition: &Condition, item: &dyn Fn(Item) -> Option<u64>) -> String {
    let (text, values) = (condition.text(), condition.show(world.ranges(), item));
    format!(
        "`{text}` looks at what nothing fixes ({values}): memory that nobody has written, or a result that the specification leaves \
         open, as of `sin` or of an undefined operation"
    )
}

/// The violation of an assertion by these values.
pub(super) fn failed(world: &World, condition: &Condition, item: &dyn Fn(Item) -> Option<u64>) -> Violation {
    Violation::Assertion { text: condition.text().to_owned(), values: condition.show(world.ranges(), item) }
}

/// The value of an item at the end, from the values of the cells that were written; `None` where nothing fixes it.
pub(super) fn item_value(world: &World, item: Item, value: &dyn Fn(Address) -> Option<u64>) -> Option<u64> {
    let size = u64::from(item.ty.size());
    let byte = |offset: u64| world.final_byte(item.memory as u32, offset, value);
    (0..size).rev().try_fold(0, |bits, at| Some(bits << 8 | u64::from(byte(item.offset + at)?)))
}

/// The cells of an execution that an assertion looks at, in ascending order, and their locations.
pub(super) fn cells_of(execution: &Execution<'_>, condition: &Condition) -> (Vec<Address>, Vec<LocationId>) {
    let memories: Vec<_> = condition.items().into_iter().map(|item| item.memory as u32).collect();
    let cells = execution.cells.iter().filter(|(address, _)| memories.contains(&address.memory));
    cells.copied().unzip()
}
