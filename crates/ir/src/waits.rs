//! For whom a kernel's threads wait: what may run them one after another asks it.

use crate::counted::HeadTest;
use crate::visit::{Jump, Meeting, walk};
use crate::{Access, Kernel, Label, ParamKind, Place, Stmt};

/// The threads that a kernel's threads may wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Threads wait for others of their block: at its barrier, or in a loop that reads what others may write and is
    /// left for what it read.
    pub in_block: bool,
    /// Threads wait for lanes of their warp, at its operations.
    pub in_warp: bool,
}

impl Waits {
    /// Finds the threads that the threads of this kernel may wait for. A loop over a range that nothing else leaves is
    /// no wait.
    pub fn of(kernel: &Kernel) -> Waits {
        let mut waits = Waits::default();
        kernel.walk(&mut |stmt| {
            match stmt.parts().meeting {
                Some(Meeting::Block) => waits.in_block = true,
                Some(Meeting::Warp) => waits.in_warp = true,
                None => {}
            }
            if let Stmt::Loop { label, body, continuing, bounded, .. } = stmt
                && (reads_of_others(kernel, body) || reads_of_others(kernel, continuing))
                && !(*bounded && is_left_at_its_head_alone(*label, body))
            {
                waits.in_block = true;
            }
        });
        waits
    }
}

/// Whether one of the statements, or one in them, reads memory that other threads may write.
fn reads_of_others(kernel: &Kernel, block: &[Stmt]) -> bool {
    let may_be_written = |place: &Place| match place {
        Place::Param(param) => match kernel.params[param.index()].kind {
            ParamKind::View { access: Access::Read, .. } | ParamKind::Scalar(_) => false,
            ParamKind::View { access: Access::PerItem | Access::Shared | Access::Atomic, .. } => true,
        },
        Place::Shared(_) => true,
        Place::Local(_) => false,
    };
    let mut found = false;
    walk(block, &mut |stmt| {
        let parts = stmt.parts();
        let reads = parts.slot.is_some() || parts.array.is_some();
        found |= reads && parts.place.is_some_and(may_be_written);
    });
    found
}

/// Whether the loop with this label and body is left by the test at its head and by nothing else.
fn is_left_at_its_head_alone(label: Label, body: &[Stmt]) -> bool {
    let rest = match HeadTest::of(label, body) {
        Some(_) => &body[1..],
        None => return false,
    };
    let mut within = Vec::new();
    walk(rest, &mut |stmt| within.extend(stmt.parts().label));
    let mut leaves = false;
    walk(rest, &mut |stmt| {
        leaves |= match stmt.parts().jump {
            Some(Jump::Break(to)) => !within.contains(&&to),
            Some(Jump::Continue(to)) => to != label && !within.contains(&&to),
            Some(Jump::Return) => true,
            None => false,
        };
    });
    !leaves
}
