//! Branches and loops of a kernel, before which advice tries the block's barrier.

use wattle_ir::visit::walk;
use wattle_ir::{Access, Kernel, ParamKind, Place, Site, Stmt};

/// A branch or loop in which threads touch memory that those of a block share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The number of the branch or loop among the kernel's, in the order of the code.
    pub number: u32,
    /// The line where it stands; of a branch that of the first statement within.
    pub site: Site,
    /// Whether this is a loop, not a branch.
    pub is_loop: bool,
}

/// The branches and loops of a kernel in which threads touch shared memory plainly.
pub fn forks(kernel: &Kernel) -> Vec<Fork> {
    let mut forks = Vec::new();
    let mut number = 0;
    walk(&kernel.body, &mut |stmt| {
        if !is_fork(stmt) {
            return;
        }
        let (mut touches, mut first) = (false, None);
        walk(std::slice::from_ref(stmt), &mut |inner| {
            touches |= touches_shared(kernel, inner);
            first = first.or(inner.site());
        });
        if let (true, Some(site)) = (touches, stmt.site().or(first)) {
            forks.push(Fork { number, site, is_loop: matches!(stmt, Stmt::Loop { .. }) });
        }
        number += 1;
    });
    forks
}

/// The kernel with the block's barrier before the branch or loop of this number.
pub fn with_barrier_before(kernel: &Kernel, number: u32) -> Kernel {
    let mut kernel = kernel.clone();
    let site = kernel.site;
    insert(&mut kernel.body, number, &mut 0, site);
    kernel
}

fn insert(block: &mut Vec<Stmt>, wanted: u32, number: &mut u32, site: Site) -> bool {
    for at in 0..block.len() {
        if is_fork(&block[at]) {
            if *number == wanted {
                block.insert(at, Stmt::Barrier { site });
                return true;
            }
            *number += 1;
        }
        if block[at].blocks_mut().any(|inner| insert(inner, wanted, number, site)) {
            return true;
        }
    }
    false
}

fn is_fork(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If { .. } | Stmt::Loop { .. })
}

fn touches_shared(kernel: &Kernel, stmt: &Stmt) -> bool {
    let is_plain = stmt.atomic_place().is_none();
    stmt.place().filter(|_| is_plain).is_some_and(|place| match place {
        Place::Param(id) => matches!(
            kernel.params.get(id.index()).map(|param| param.kind),
            Some(ParamKind::View { access: Access::Shared, .. })
        ),
        Place::Shared(_) => true,
        Place::Local(_) => false,
    })
}
