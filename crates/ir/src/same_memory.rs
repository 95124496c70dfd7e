//! Which parameters of a launch are views of one memory.

use crate::ParamId;

/// Of so many parameters, those whose memory is that of one before them, each with the first of those; `memory` gives what
/// identifies the memory of a parameter's elements, and `None` for one that is no view, or not of their first number.
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
