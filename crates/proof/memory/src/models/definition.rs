//! The terms in which it is explained why operations do not synchronize, each in the words of a model's specification.

use crate::Clause;

/// A term that a model's specification defines, or a rule that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// When two accesses are atomic with regard to each other.
    Atomic,
    /// When each of two operations is in the other's scope.
    InScope,
    /// How a thread releases what it has done.
    Release,
    /// How a thread acquires what others have done.
    Acquire,
    /// What synchronizes at all.
    Synchronizes,
    /// How sequentially consistent fences order.
    FenceOrder,
    /// How barriers synchronize.
    Barrier,
}

/// The clauses of a specification for the terms; `None` where it has no such term.
pub(super) struct Definitions {
    pub atomic: Option<Clause>,
    pub in_scope: Option<Clause>,
    pub release: Option<Clause>,
    pub acquire: Option<Clause>,
    pub synchronizes: Option<Clause>,
    pub fence_order: Option<Clause>,
    pub barrier: Option<Clause>,
}

impl Definitions {
    /// The definitions of a model that follows no specification.
    pub const NONE: Definitions = Definitions {
        atomic: None,
        in_scope: None,
        release: None,
        acquire: None,
        synchronizes: None,
        fence_order: None,
        barrier: None,
    };

    pub const fn of(&self, term: Term) -> Option<Clause> {
        match term {
            Term::Atomic => self.atomic,
            Term::InScope => self.in_scope,
            Term::Release => self.release,
            Term::Acquire => self.acquire,
            Term::Synchronizes => self.synchronizes,
            Term::FenceOrder => self.fence_order,
            Term::Barrier => self.barrier,
        }
    }
}
