//! What a lane brings to an operation of its warp, and what it takes from it.

use wattle_ir::warp::evaluate;
use wattle_ir::{Type, WarpOp};

/// A lane's part in an operation of its warp; `None` is the warp's barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LanePart {
    pub(crate) op: Option<WarpOp>,
    pub(crate) ty: Type,
    pub(crate) value: u64,
    pub(crate) operand: u32,
}

impl LanePart {
    /// What the parts of all lanes give each of them.
    pub(crate) fn results(parts: &[LanePart]) -> Option<Vec<u64>> {
        let LanePart { op, ty, .. } = *parts.first()?;
        let values: Vec<u64> = parts.iter().map(|part| part.value).collect();
        let operands: Vec<u32> = parts.iter().map(|part| part.operand).collect();
        Some(evaluate(op?, ty, &values, &operands))
    }
}
