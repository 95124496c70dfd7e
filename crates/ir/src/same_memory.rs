//! Which parameters of a launch are views of one memory.

use crate::ParamId;

/// The parameters that view the same memory as an earlier one, each with the first parameter of that memory. `memory`
/// identifies the memory that a parameter views; it is `None` of values, and of all but the first number of an element.
pub fn views_of_one_memory<M: PartialEq>(params: usize, memory: impl Fn(usize) -> Option<M>) -> Vec<[ParamId; 2]> {
    let mut same = Vec::new();
    for number in 0..params {
        let Some(own) = memory(number) else { continue };
        if let Some(first) = (0..number).find(|&earlier| memory(earlier).is_some_and(|other| other == own)) {
            same.push([ParamId(number as u32), ParamId(first as u32)]);
        }
    }
    same
}
