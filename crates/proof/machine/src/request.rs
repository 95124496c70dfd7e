//! The requests of a thread to its owner.

use std::fmt;
use std::sync::Arc;

use wattle_ir::{AtomicOp, Kernel, Label, Place, Site, Type, WarpOp, format_index};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::Value;

/// An element of a view or of a shared array; in bounds, if its index is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location<V: Value = u64> {
    /// The view or shared array; never an array of the thread's own.
    pub place: Place,
    /// The type of its elements.
    pub element: Type,
    /// The number of dimensions of the index.
    pub rank: usize,
    /// The index, dimension 0 first; 0 beyond the rank. With deferred values ([`Deferred`](crate::Deferred)) it is
    /// `None` while any dimension is not known.
    pub index: V::Index,
    /// The source line of the access.
    pub site: Site,
}

impl Location<crate::Deferred> {
    /// The element that many further along the first dimension.
    #[must_use]
    pub fn behind(&self, lane: u32) -> Self {
        let index = self.index.map(|[first, rest @ ..]| {
            let [y, z, w] = rest;
            [first + u64::from(lane), y, z, w]
        });
        Location { index, ..*self }
    }
}

/// A request or report of a thread.
///
/// The requests with an answer expect [`Thread::answer`](crate::Thread::answer) (or `answer_lanes`) before the next
/// [`run`](crate::Thread::run); after all others the owner simply calls `run` again.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<V: Value = u64> {
    /// A plain load. Answer: the value.
    Load(Location<V>),
    /// A plain load of consecutive elements along the only dimension. Answer: all the values.
    LoadLanes {
        /// The first element.
        location: Location<V>,
        /// The number of elements.
        lanes: u32,
    },
    /// A plain store.
    Store {
        /// The element.
        location: Location<V>,
        /// The value to store.
        value: V,
    },
    /// A plain store of consecutive elements along the only dimension.
    StoreLanes {
        /// The first element.
        location: Location<V>,
        /// The values to store.
        values: Vec<V>,
    },
    /// An atomic load. Answer: the value.
    AtomicLoad {
        /// The element.
        location: Location<V>,
        /// The memory order.
        order: ReadOrder,
        /// The scope.
        scope: Scope,
    },
    /// An atomic store.
    AtomicStore {
        /// The element.
        location: Location<V>,
        /// The value to store.
        value: V,
        /// The memory order.
        order: WriteOrder,
        /// The scope.
        scope: Scope,
    },
    /// An atomic read-modify-write ([`wattle_ir::eval::atomic`]). Answer: the old value.
    AtomicUpdate {
        /// The element.
        location: Location<V>,
        /// The operation.
        op: AtomicOp,
        /// The operand.
        operand: V,
        /// The memory order.
        order: UpdateOrder,
        /// The scope.
        scope: Scope,
    },
    /// A compare-exchange. Answer: the old value.
    CompareExchange {
        /// The element.
        location: Location<V>,
        /// The value that lets it succeed.
        expected: V,
        /// The value stored on success.
        desired: V,
        /// The memory order.
        order: UpdateOrder,
        /// The scope.
        scope: Scope,
    },
    /// A fence.
    Fence {
        /// The memory order.
        order: FenceOrder,
        /// The scope.
        scope: Scope,
        /// The source line of the fence.
        site: Site,
    },
    /// The block's barrier; the owner calls `run` again once all threads of the block have arrived.
    Barrier {
        /// The number of iterations of each loop around it since it was entered, outermost first: with the statement
        /// ([`Thread::at`](crate::Thread::at)) the dynamic instance of the barrier.
        iterations: Vec<u64>,
        /// The source line of the barrier.
        site: Site,
    },
    /// An operation of the warp. Answer: the thread's result, once all lanes have come to it
    /// ([`wattle_ir::warp::evaluate`]).
    Warp {
        /// The operation.
        op: WarpOp,
        /// The type of the value.
        ty: Type,
        /// The lane's value.
        value: V,
        /// The second operand; 0 where there is none.
        operand: V,
        /// The number of iterations of each loop around it since it was entered, outermost first
        /// ([`Request::Barrier`]).
        iterations: Vec<u64>,
        /// The source line.
        site: Site,
    },
    /// The warp's barrier; the owner calls `run` again once all lanes have arrived.
    WarpBarrier {
        /// The number of iterations of each loop around it since it was entered, outermost first
        /// ([`Request::Barrier`]).
        iterations: Vec<u64>,
        /// The source line.
        site: Site,
    },
    /// A read of the clock. Answer: its ticks.
    Clock {
        /// The source line.
        site: Site,
    },
    /// A loop without a bound is entered; reported only where values can be deferred. The thread now stands before the
    /// body, as it does at the loop's back edges.
    LoopHead {
        /// The loop.
        label: Label,
        /// The source line of the loop.
        site: Site,
    },
    /// The back edge of a loop without a bound. The thread stands before the body again.
    BackEdge {
        /// The loop.
        label: Label,
        /// The source line of the loop.
        site: Site,
    },
    /// A fault happened; the statement is skipped (a load or a division gives 0) and the thread can continue.
    Fault(Fault),
    /// Control needs a value that is not known: a condition, a divisor, or the index of an array of the thread's own.
    /// This happens only where values can be deferred. The thread stays at the instruction, and requests the same when
    /// it is run again; a copy of it kept at the load continues once it is given the value.
    NeedsValue,
    /// The fuel is used up.
    OutOfFuel,
    /// The thread has ended.
    Done,
}

/// The index of the last of several elements: of lanes that are not all within bounds that one is not, and the first
/// may be.
pub fn last_index(first: &[u64], lanes: u32) -> Vec<u64> {
    let last = |&first: &u64| {
        let last = first.saturating_add(lanes.saturating_sub(1).into());
        // Indices of 32 bits do not wrap either.
        if first <= u32::MAX.into() { last.min(u32::MAX.into()) } else { last }
    };
    first.iter().map(last).collect()
}

/// An error of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An index is out of the bounds of its place.
    OutOfBounds {
        /// The place.
        place: Place,
        /// The index, one number for each dimension.
        index: Vec<u64>,
        /// The number of consecutive elements from there; 1 except for a load of lanes.
        lanes: u32,
        /// The place's extent, one number for each dimension.
        extent: Vec<u64>,
        /// The source line.
        site: Site,
    },
    /// An integer was divided by zero.
    DivisionByZero {
        /// The source line.
        site: Site,
    },
    /// An assertion does not hold.
    Assertion {
        /// The message of the assertion.
        message: Arc<str>,
        /// The source line.
        site: Site,
    },
}

impl Fault {
    /// The source line of the fault.
    pub fn site(&self) -> Site {
        match self {
            Fault::OutOfBounds { site, .. } | Fault::DivisionByZero { site } | Fault::Assertion { site, .. } => *site,
        }
    }

    /// Describes the fault, with the names of the thread's `kernel`.
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
            // As devices say it.
            Fault::OutOfBounds { place, index, lanes, extent, .. } => {
                let (index, name) = (last_index(index, *lanes), self.kernel.place_name(*place));
                write!(f, "index {} of `{name}`, which has extent {}", format_index(&index), format_index(extent))
            }
            Fault::DivisionByZero { .. } => f.write_str("division by zero"),
            Fault::Assertion { message, .. } => write!(f, "assertion failed: {message}"),
        }
    }
}
