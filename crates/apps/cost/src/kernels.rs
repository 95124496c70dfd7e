//! The loops that are timed: one kernel for each operation, and those without one.
//!
//! All are one body around the operation, so that nothing else differs. In each turn a thread makes its writes (to the
//! buffer relaxed ones of block scope, which nothing orders and no compiler joins), each to a line of its own, then the
//! operation, and then some work without memory: writes that no operation waited for leave meanwhile, so that the
//! difference shows the waiting. On a core that runs ahead, the work begins with what is read of the operation's own
//! word, and so waits for an atomic operation there; for a fence it does not. What an operation returns is part of the
//! address of the next one, so that a chain of them is as long as their latency; `zero` is 0 when the kernel runs,
//! which no compiler knows. Nothing here is a stand-in for the operation: a test reads it in what is emitted.

use std::cell::Cell;

use wattle::View;
use wattle::prelude::*;

use crate::operation_kind::OperationKind;

/// The number of 32-bit words between two words of which each has a cache line to itself.
pub const LINE: u32 = 32;
/// The slots of the block's shared memory that a thread writes in turn: at least as many as writes in flight.
pub const SHARED_SLOTS: u32 = 64;

/// The numbers of a launch of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loop {
    /// How often the loop is gone through.
    pub turns: u32,
    /// Writes in each turn to the block's shared memory.
    pub in_shared: u32,
    /// Writes in each turn to the buffer.
    pub in_data: u32,
    /// Steps of work in each turn that touch no memory.
    pub work: u32,
    /// Whether the work depends on what the operation has left in its word, as a number.
    pub runs_ahead: u32,
    /// The lines of the buffer that a block writes, one after the other: a power of two.
    pub slots: u32,
    /// The distance from one written line to the next: odd, so that all are written.
    pub step: u32,
    /// The elements from a line to the next.
    pub pitch: u32,
    /// The blocks that will have arrived, of all launches.
    pub goal: u32,
    /// How often a block looks whether the others have begun; 0 where there are no others.
    pub patience: u32,
}

/// The buffers of a loop.
pub struct Buffers {
    /// The memory that the writes go to.
    pub data: View<u32>,
    /// A word for each thread, which atomic operations are on.
    pub words: Buffer<u32>,
    /// The number of blocks that have begun, counted over all launches.
    pub arrived: Buffer<u32>,
    /// What `arrived` is once all launches so far have begun.
    pub arrivals: Cell<u32>,
    /// For each thread the ticks that its loop took, modulo 2³².
    pub ticks: Buffer<u32>,
}

impl Buffers {
    /// Buffers for loops of `threads` threads, whose writes go to `data`.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn new(device: &Device, data: View<u32>, threads: usize) -> Result<Buffers> {
        Ok(Buffers {
            data,
            words: device.alloc_zeroed(threads * LINE as usize)?,
            arrived: device.alloc_zeroed(1)?,
            arrivals: Cell::new(0),
            ticks: device.alloc_zeroed(threads)?,
        })
    }
}

/// A loop's code.
#[derive(Clone, Copy)]
pub struct Code {
    /// Launches the loop on a queue.
    pub launch: fn(&Queue, LaunchOptions, ThreadSpec<1>, &Loop, &Buffers) -> Result<()>,
    /// The kernel with its arguments.
    pub kernel: fn(&Loop, &Buffers) -> Box<dyn wattle::Kernel>,
}

macro_rules! measured {
    ($(#[$doc:meta])* $name:ident |$acc:ident, $words:ident, $at:ident, $found:ident, $turn:ident|
        $block:tt $device:tt $system:tt) => {
        $(#[$doc])*
        #[allow(unused_mut, reason = "an operation may find nothing")]
        pub mod $name {
            use super::*;

            // The loops are timed for what memory does, and there are many.
            #[kernel(baseline)]
            fn $name<const SCOPE: u32>(
                $acc: &Acc,
                turns: u32,
                in_shared: u32,
                in_data: u32,
                work: u32,
                runs_ahead: u32,
                slots: u32,
                step: u32,
                pitch: u32,
                zero: u32,
                goal: u32,
                patience: u32,
                data: Atomic<u32>,
                $words: Atomic<u32>,
                arrived: Atomic<u32>,
                ticks: Shared<u32>,
            ) {
                let local = $acc.shared_at_launch::<u32>();
                let (thread, lane) = ($acc.thread_in_grid(), $acc.thread_in_block());
                let base = $acc.block_in_grid() * slots;
                let first = thread * super::LINE;
                let mut $at = first;
                let mut $found = $words.load_with($at, Scope::Block, Order::Relaxed);
                // The blocks begin together, if they are all there before patience ends. A loop of block scope does
                // without: Vulkan's fences of a kernel that also uses wider scopes are all of device scope.
                if SCOPE > 0 && patience > 0 {
                    if lane == 0 {
                        arrived.fetch_add(0, 1);
                        let mut waited = 0;
                        while waited < patience && arrived.load(0) < goal {
                            waited += 1;
                        }
                    }
                    $acc.sync_block();
                }
                let mut began = 0;
                if $acc.device().has_clock() && $acc.device().has_u64() {
                    began = $acc.clock() as u32;
                }
                let mut slot = 0;
                let mut busy = thread + 1;
                for $turn in 0..turns {
                    for write in 0..in_shared {
                        local[write * pitch + lane] = $turn;
                    }
                    for _ in 0..in_data {
                        slot = (slot + step) & (slots - 1);
                        data.store_with((base + slot) * pitch + lane, $turn, Scope::Block, Order::Relaxed);
                    }
                    $at = first + ($found & zero);
                    if SCOPE == 0 $block else if SCOPE == 1 $device else $system
                    // What an atomic operation has left, on which the work depends.
                    if runs_ahead > 0 {
                        busy = busy ^ ($words.load_with(first, Scope::Block, Order::Relaxed) & zero);
                    }
                    // Work without memory, during which writes that nobody waits for leave.
                    for _ in 0..work {
                        busy = busy ^ (busy << 13);
                        busy = busy ^ (busy >> 17);
                        busy = busy ^ (busy << 5);
                        busy = busy ^ (busy << 13);
                        busy = busy ^ (busy >> 17);
                        busy = busy ^ (busy << 5);
                        busy = busy ^ (busy << 13);
                        busy = busy ^ (busy >> 17);
                        busy = busy ^ (busy << 5);
                    }
                }
                if $acc.device().has_clock() && $acc.device().has_u64() {
                    ticks[thread] = $acc.clock() as u32 - began;
                }
                // What was found is used, so that no read of the loop is idle.
                $words.store_with(first, $found + (($at + busy) & zero), Scope::Block, Order::Relaxed);
            }

            /// Returns the code of the loop around the operation, at scope number `SCOPE`.
            pub const fn code<const SCOPE: u32>() -> Code {
                Code {
                    launch: |queue, options, spec, l, b| queue.launch_with(options, spec, bundle::<SCOPE>(l, b)),
                    kernel: |l, b| Box::new(bundle::<SCOPE>(l, b)),
                }
            }

            fn bundle<const SCOPE: u32>(l: &Loop, b: &Buffers) -> impl wattle::Launch<1> + use<SCOPE> {
                $name::<SCOPE>(
                    l.turns, l.in_shared, l.in_data, l.work, l.runs_ahead, l.slots, l.step, l.pitch, 0, l.goal, l.patience,
                    b.data.clone(), b.words.view(), b.arrived.view(), b.ticks.view(),
                )
            }
        }
    };
}

macro_rules! fence {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { acc.mem_fence(Scope::Block, Order::$order); }
            { acc.mem_fence(Scope::Device, Order::$order); }
            { acc.mem_fence(Scope::System, Order::$order); }
        }
    };
}

macro_rules! load {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { found = words.load_with(at, Scope::Block, Order::$order); }
            { found = words.load_with(at, Scope::Device, Order::$order); }
            { found = words.load_with(at, Scope::System, Order::$order); }
        }
    };
}

macro_rules! store {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { words.store_with(at, turn, Scope::Block, Order::$order); }
            { words.store_with(at, turn, Scope::Device, Order::$order); }
            { words.store_with(at, turn, Scope::System, Order::$order); }
        }
    };
}

macro_rules! exchange {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { found = words.exchange_with(at, turn, Scope::Block, Order::$order); }
            { found = words.exchange_with(at, turn, Scope::Device, Order::$order); }
            { found = words.exchange_with(at, turn, Scope::System, Order::$order); }
        }
    };
}

// Each expects what the one before left, so that all succeed.
macro_rules! compare_exchange {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { found = words.compare_exchange_with(at, found, found + 1, Scope::Block, Order::$order) + 1; }
            { found = words.compare_exchange_with(at, found, found + 1, Scope::Device, Order::$order) + 1; }
            { found = words.compare_exchange_with(at, found, found + 1, Scope::System, Order::$order) + 1; }
        }
    };
}

macro_rules! add {
    ($name:ident $order:ident) => {
        measured! { $name |acc, words, at, found, turn|
            { found = words.fetch_add_with(at, turn, Scope::Block, Order::$order); }
            { found = words.fetch_add_with(at, turn, Scope::Device, Order::$order); }
            { found = words.fetch_add_with(at, turn, Scope::System, Order::$order); }
        }
    };
}

/// The kernels of the operations that have a scope and an order, and their table: the kind, the order's name, and the
/// code by scope.
macro_rules! ordered {
    ($($kind:ident $make:ident { $($name:ident $order:ident)+ })+) => {
        $($($make!($name $order);)+)+

        /// The operations that have a scope and an order.
        pub const ORDERED: &[(OperationKind, &str, [Code; 3])] = &[$($((
            OperationKind::$kind,
            stringify!($order),
            [$name::code::<0>(), $name::code::<1>(), $name::code::<2>()],
        ),)+)+];
    };
}

ordered! {
    Fence fence {
        fence_acquire Acquire
        fence_release Release
        fence_acq_rel AcqRel
        fence_seq_cst SeqCst
    }
    Load load {
        load_relaxed Relaxed
        load_acquire Acquire
        load_seq_cst SeqCst
    }
    Store store {
        store_relaxed Relaxed
        store_release Release
        store_seq_cst SeqCst
    }
    Exchange exchange {
        exchange_relaxed Relaxed
        exchange_acquire Acquire
        exchange_release Release
        exchange_acq_rel AcqRel
        exchange_seq_cst SeqCst
    }
    CompareExchange compare_exchange {
        compare_exchange_relaxed Relaxed
        compare_exchange_acquire Acquire
        compare_exchange_release Release
        compare_exchange_acq_rel AcqRel
        compare_exchange_seq_cst SeqCst
    }
    Add add {
        add_relaxed Relaxed
        add_acquire Acquire
        add_release Release
        add_acq_rel AcqRel
        add_seq_cst SeqCst
    }
}

// The loops without an operation: what others are compared with. In a chain each address is made from the last. For the
// host there are two that keep the compiler from moving or joining writes, as operations do, without an instruction.
measured! { nothing |acc, words, at, found, turn| {} {} {} }
measured! { chain |acc, words, at, found, turn| { found = at; } { found = at; } { found = at; } }
measured! { nothing_moves |acc, words, at, found, turn|
    { acc.mem_fence(Scope::Block, Order::SeqCst); }
    { acc.mem_fence(Scope::Block, Order::SeqCst); }
    { acc.mem_fence(Scope::Block, Order::SeqCst); }
}
measured! { chain_moves_nothing |acc, words, at, found, turn|
    { found = at; acc.mem_fence(Scope::Block, Order::SeqCst); }
    { found = at; acc.mem_fence(Scope::Block, Order::SeqCst); }
    { found = at; acc.mem_fence(Scope::Block, Order::SeqCst); }
}
measured! { sync_block |acc, words, at, found, turn| { acc.sync_block(); } { acc.sync_block(); } { acc.sync_block(); } }
measured! { sync_warp |acc, words, at, found, turn|
    { let warp = acc.warp(); warp.sync(); }
    { let warp = acc.warp(); warp.sync(); }
    { let warp = acc.warp(); warp.sync(); }
}
