//! Warps on the host: threads of a block that exchange values.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use wattle_ir::warp::{MASK_WORDS, WarpKind};
use wattle_ir::{Int, Number, Scalar, Type, WarpMask, WarpOp, warps};

use crate::thread::{LanePart, Thread, Turns};

/// The warp that a thread is in, `acc.warp()`: threads of its block that exchange values without memory.
///
/// Warps are formed of threads whose row-major numbers in the block are consecutive, [`size`](Warp::size) each; where a
/// block's threads are no multiple of that, its last warp has fewer lanes. **All lanes of a warp must come to the same
/// operation** (the same statement, in the same iterations of the loops around it): a branch or loop around it must be
/// taken by all of them or by none. The host, the simulated device and the checker report a warp that parts; on GPUs it
/// has no meaning, and may hang until the time limit.
///
/// The size is the device's ([`Properties::warp_width`](crate::Properties::warp_width)): 32 on CUDA devices, from 4 to
/// 128 on Vulkan devices, 1 on the host. A kernel is right for all sizes if it asks for `size` and `lane`; where it
/// needs a certain one it is launched with [`LaunchOptions::warp_size`](crate::LaunchOptions::warp_size), of which the
/// host and the simulated device have every power of two up to 128.
///
/// Of the operations, [`sync`](Warp::sync) alone orders memory; a shuffle orders nothing, on no device.
///
/// | CUDA | here |
/// |---|---|
/// | `warpSize`, `laneId`, `threadIdx.x % 32` | [`size`](Warp::size), [`lane`](Warp::lane) |
/// | `__shfl_sync`, `__shfl_up_sync`, `__shfl_down_sync`, `__shfl_xor_sync` | [`shuffle`](Warp::shuffle), [`shuffle_up`](Warp::shuffle_up), [`shuffle_down`](Warp::shuffle_down), [`shuffle_xor`](Warp::shuffle_xor) |
/// | `__ballot_sync`, `__any_sync`, `__all_sync` | [`ballot`](Warp::ballot), [`any`](Warp::any), [`all`](Warp::all) |
/// | `__activemask`, `__popc`, `__ffs` of a mask | `warp.ballot(true)`, [`count`](WarpMask::count), [`lowest`](WarpMask::lowest) |
/// | `__reduce_add_sync`, `__reduce_min_sync`, `__reduce_max_sync`, … | [`reduce_sum`](Warp::reduce_sum), [`reduce_min`](Warp::reduce_min), [`reduce_max`](Warp::reduce_max), `reduce_and`, `reduce_or`, `reduce_xor` |
/// | `cg::inclusive_scan`, `cg::exclusive_scan` | [`inclusive_sum`](Warp::inclusive_sum), [`exclusive_sum`](Warp::exclusive_sum), `inclusive_min`, `inclusive_max` |
/// | `__syncwarp` | [`sync`](Warp::sync) |
///
/// A block adds up its numbers by warps, so that one barrier is enough:
///
/// ```ignore
/// use wattle::prelude::*;
///
/// #[kernel]
/// fn block_sums(acc: &Acc, x: Read<f32>, sums: Shared<f32>) {
///     let parts = acc.shared::<f32, 1024>();
///     let warp = acc.warp();
///     let mut sum = 0.0;
///     for i in acc.indices(THREADS_IN_GRID, 0..x.len()).strided() {
///         sum += x[i];
///     }
///     let of_warp = warp.reduce_sum(sum);
///     if warp.lane() == 0 {
///         parts[acc.warp_in_block()] = of_warp;
///     }
///     acc.sync_block();
///     if acc.warp_in_block() == 0 {
///         let mut sum = 0.0;
///         for part in acc.indices(THREADS_IN_WARP, 0..acc.warps_in_block()) {
///             sum += parts[part];
///         }
///         let of_block = warp.reduce_sum(sum);
///         if warp.lane() == 0 {
///             sums[acc.block_in_grid()] = of_block;
///         }
///     }
/// }
///
/// fn scenario(device: &Device) -> Result<()> {
///     let queue = device.queue()?;
///     let (x, sums) = (device.from_slice(&[1.0f32; 1000])?, device.alloc_zeroed::<f32>(2)?);
///     queue.launch(ThreadSpec::new(2, 128), block_sums(&x, &sums))?;
///     assert_eq!(sums.read(&queue)?.iter().sum::<f32>(), 1000.0);
///     Ok(())
/// }
///
/// # fn main() -> Result<()> {
/// for device in Device::all() {
///     scenario(&device)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// The masks of CUDA's functions have no counterpart: all lanes take part. `acc.indices(THREADS_IN_WARP, 0..n)`,
/// `WARPS_IN_BLOCK` and `WARPS_IN_GRID` share out indices by lane and by warp.
#[derive(Clone, Copy)]
pub struct Warp<'l> {
    thread: &'l Thread<'l>,
    /// What the thread shares its worker by, where its warp has other lanes.
    turns: Option<NonNull<Turns>>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident(value $(, $operand:ident)?) -> $out:ident $how:ident
        {$($kind:ident)+})+) => {
        $(method!($(#[$doc])* $class $op $method($($operand)?) -> $out);)+
    };
}

macro_rules! method {
    ($(#[$doc:meta])* word $($rest:tt)*) => {};
    ($(#[$doc:meta])* bool $op:ident $method:ident() -> $out:ident) => {
        impl Warp<'_> {
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $method(&self, value: bool) -> bool {
                self.together(WarpOp::$op, value, 0)
            }
        }
    };
    ($(#[$doc:meta])* $class:ident $op:ident $method:ident($($operand:ident)?) -> Self) => {
        impl Warp<'_> {
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $method<T: $class>(&self, value: T $(, $operand: u32)?) -> T {
                self.together(WarpOp::$op, value, operand!($($operand)?))
            }
        }
    };
}

macro_rules! operand {
    () => {
        0
    };
    ($operand:ident) => {
        $operand
    };
}
warps!(methods);

impl<'l> Warp<'l> {
    #[inline(always)]
    pub(crate) fn new(thread: &'l Thread<'l>, turns: Option<NonNull<Turns>>) -> Self {
        Warp { thread, turns: turns.filter(|_| thread.shape().warp_size > 1) }
    }

    /// The result of an operation of all lanes.
    #[inline(always)]
    #[track_caller]
    fn together<T: Scalar, U: Scalar>(&self, op: WarpOp, value: T, operand: u32) -> U {
        let value = value.to_raw();
        U::from_raw(match self.turns {
            None => alone(op, value, operand),
            Some(turns) => {
                let part = LanePart { op: Some(op), ty: T::TYPE, value, operand };
                self.thread.take_part(turns, part, Location::caller())
            }
        })
    }

    /// How many lanes a warp has: a power of two, the same for all warps of a launch. The last warp of a block may have
    /// fewer threads.
    #[doc(alias = "warpSize")]
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.thread.shape().warp_size
    }

    /// The thread's lane, from 0: its row-major number in the block, modulo the size.
    #[doc(alias = "laneId")]
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        self.thread.number_in_block() & (self.size() - 1)
    }

    /// How many lanes of this warp have a thread.
    #[inline(always)]
    pub fn lane_count(&self) -> u32 {
        let first = self.thread.number_in_block() & !(self.size() - 1);
        (self.thread.launch().threads_in_block() - first).min(self.size())
    }

    /// The lanes that hold true (CUDA's `__ballot_sync`).
    #[doc(alias("__ballot_sync", "__activemask"))]
    #[inline(always)]
    #[track_caller]
    pub fn ballot(&self, value: bool) -> WarpMask {
        let mut words = [0; MASK_WORDS];
        for number in 0..self.size().div_ceil(32) {
            words[number as usize] = self.together(WarpOp::Ballot, value, number);
        }
        WarpMask::from_words(words)
    }

    /// The warp's barrier: waits until all lanes are here, and orders block and global memory among them
    /// (`__syncwarp`).
    #[doc(alias = "__syncwarp")]
    #[inline(always)]
    #[track_caller]
    pub fn sync(&self) {
        match self.turns {
            None => compiler_fence(Ordering::SeqCst),
            Some(turns) => {
                let part = LanePart { op: None, ty: Type::U32, value: 0, operand: 0 };
                self.thread.take_part(turns, part, Location::caller());
            }
        }
    }
}

/// The result of an operation in a warp of one lane.
#[inline(always)]
fn alone(op: WarpOp, value: u64, operand: u32) -> u64 {
    match op.kind() {
        WarpKind::Ballot if operand > 0 => 0,
        WarpKind::ExclusiveScan => 0,
        WarpKind::Shuffle | WarpKind::Ballot | WarpKind::Vote | WarpKind::Reduce | WarpKind::InclusiveScan => value,
    }
}

#[cfg(test)]
mod tests {
    use wattle_ir::warp::evaluate;

    use super::*;

    #[test]
    fn a_lane_alone_does_what_the_table_says() {
        for &op in WarpOp::ALL {
            for ty in Type::ALL.into_iter().filter(|&ty| op.applies_to(ty)) {
                for operand in [0, 1, 2] {
                    let together = evaluate(op, ty, &[1], &[operand]);
                    assert_eq!(together, [alone(op, 1, operand)], "{op:?} of {ty}, {operand}");
                }
            }
        }
    }
}
