//! What a thread can ask of its owner.

use std::fmt;
use std::sync::Arc;

use wattle_ir::{AtomicOp, Kernel, Label, Place, Site, Type};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::Value;

/// An element of a view or of an array in shared memory; in bounds, where its index is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location<V: Value = u64> {
    /// A view or a shared array; never an array of the thread's own.
    pub place: Place,
    /// The type of its elements.
    pub element: Type,
    /// The number of dimensions of the index.
    pub rank: usize,
    /// The index, dimension 0 first; 0 beyond the rank. With deferred values ([`Deferred`](crate::Deferred)) it is
    /// none while any dimension is not known.
    pub index: V::Index,
    /// The source line of the access.
    pub site: Site,
}

/// What a thread needs before it can go on, or has to say.
///
/// Those that name an answer want [`Thread::answer`](crate::Thread::answer) (or `answer_lanes`) before the next
/// [`run`](crate::Thread::run); after all others the owner simply calls `run` again.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<V: Value = u64> {
    /// A plain load. Answer: the value.
    Load(Location<V>),
    /// A plain load of consecutive elements along the only dimension. Answer: all the values.
    LoadLanes {
        /// The first element.
        location: Location<V>,
        /// How many.
        lanes: u32,
    },
    /// A plain store.
    Store {
        /// The element.
        location: Location<V>,
        /// What to store.
        value: V,
    },
    /// An atomic load. Answer: the value.
    AtomicLoad {
        /// The element.
        location: Location<V>,
        /// Its order.
        order: ReadOrder,
        /// Its scope.
        scope: Scope,
    },
    /// An atomic store.
    AtomicStore {
        /// The element.
        location: Location<V>,
        /// What to store.
        value: V,
        /// Its order.
        order: WriteOrder,
        /// Its scope.
        scope: Scope,
    },
    /// An atomic read-modify-write ([`wattle_ir::eval::atomic`]). Answer: the old value.
    AtomicUpdate {
        /// The element.
        location: Location<V>,
        /// What it does.
        op: AtomicOp,
        /// The operand.
        operand: V,
        /// Its order.
        order: UpdateOrder,
        /// Its scope.
        scope: Scope,
    },
    /// A compare-exchange. Answer: the old value.
    CompareExchange {
        /// The element.
        location: Location<V>,
        /// The value that lets it succeed.
        expected: V,
        /// What it then stores.
        desired: V,
        /// Its order.
        order: UpdateOrder,
        /// Its scope.
        scope: Scope,
    },
    /// A fence.
    Fence {
        /// Its order.
        order: FenceOrder,
        /// Its scope.
        scope: Scope,
        /// Its source line.
        site: Site,
    },
    /// The block's barrier; the owner calls `run` again once all threads of the block are there.
    Barrier {
        /// How often each of the loops around it has gone round since it was entered, outermost first: with the
        /// statement ([`Thread::at`](crate::Thread::at)) the dynamic instance of the barrier.
        iterations: Vec<u64>,
        /// Its source line.
        site: Site,
    },
    /// A loop without a bound is entered; only where values can be deferred. The thread now stands before the body, as
    /// it does at the loop's back edges.
    LoopHead {
        /// The loop.
        label: Label,
        /// Its source line.
        site: Site,
    },
    /// The back edge of a loop without a bound. The thread stands before the body again.
    BackEdge {
        /// The loop.
        label: Label,
        /// Its source line.
        site: Site,
    },
    /// Something that must not happen did; it is skipped (a load or a division gives 0) and the thread can go on.
    Fault(Fault),
    /// Control needs a value that is not known: a condition, a divisor, or the index of an array of the thread's own.
    /// Only where values can be deferred. The thread stays where it is, and says the same when it is run again; one
    /// that was kept at the load, and is now given the value, goes on.
    NeedsValue,
    /// The fuel is used up.
    OutOfFuel,
    /// The thread has ended.
    Done,
}

/// Something that must not happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An index that is not in its place.
    OutOfBounds {
        /// The place.
        place: Place,
        /// The index, one number for each dimension.
        index: Vec<u32>,
        /// How many consecutive elements from there; 1 but for a load of lanes.
        lanes: u32,
        /// The place's extent, one number for each dimension.
        extent: Vec<u32>,
        /// The source line.
        site: Site,
    },
    /// An integer divided by zero.
    DivisionByZero {
        /// The source line.
        site: Site,
    },
    /// An assertion that does not hold.
    Assertion {
        /// What it says.
        message: Arc<str>,
        /// The source line.
        site: Site,
    },
}

impl Fault {
    /// The source line.
    pub fn site(&self) -> Site {
        match self {
            Fault::OutOfBounds { site, .. } | Fault::DivisionByZero { site } | Fault::Assertion { site, .. } => *site,
        }
    }

    /// The fault in words, with the names of `kernel`, whose thread it is.
    pub fn describe<'a>(&'a self, kernel: &'a Kernel) -> impl fmt::Display + 'a {
        Description { fault: self, kernel }
    }
}

struct Description<'a> {
    fault: &'a Fault,
    kernel: &'a Kernel,
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::OutOfBounds { place, index, lanes, extent, .. } => {
                write!(f, "index {}", Tuple(index))?;
                if *lanes != 1 {
                    write!(f, " and the {lanes} lanes from there")?;
                }
                let (params, shared) = (&self.kernel.params, &self.kernel.shared);
                match place {
                    Place::Param(id) => match params.get(id.index()) {
                        Some(param) => write!(f, " out of bounds of parameter `{}`", param.name)?,
                        None => write!(f, " out of bounds of {place:?}")?,
                    },
                    Place::Shared(id) => match shared.get(id.index()) {
                        Some(array) => write!(f, " out of bounds of shared array `{}`", array.name)?,
                        None => write!(f, " out of bounds of {place:?}")?,
                    },
                    Place::Local(_) => write!(f, " out of bounds of an array of the thread's own")?,
                }
                write!(f, ", whose extent is {}", Tuple(extent))
            }
            Fault::DivisionByZero { .. } => f.write_str("division by zero"),
            Fault::Assertion { message, .. } => write!(f, "assertion failed: {message}"),
        }
    }
}

/// A number, or a tuple of several.
struct Tuple<'a>(&'a [u32]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0 {
            return write!(f, "{one}");
        }
        f.write_str("(")?;
        for (position, number) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{number}")?;
        }
        f.write_str(")")
    }
}
