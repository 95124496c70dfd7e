//! One turn of a thread.

use wattle_modules::code::{Access, Copied, Exchange, Gather, Kernel, NO_REG, Ordering, Reg, Special, Src};
use wattle_modules::meaning::atomic::apply;
use wattle_modules::meaning::warp::Part;
use wattle_modules::types::Space;
use wattle_modules::{Cursor, Effect, step};

use super::Fault;
use super::atomic;
use super::fence;
use super::memory::View;
use super::shape::Shape;

/// A thread between its turns.
pub struct Thread {
    /// The position in the kernel.
    pub cursor: Cursor,
    /// Whether the thread runs, waits, or has ended.
    pub state: ThreadState,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// The thread takes turns.
    Runs,
    /// The thread waits at the barrier with this number.
    Waits(u8),
    /// The thread waits for the other lanes of its warp.
    Meets,
    /// The thread has ended.
    Ended,
}

/// What a lane waits for the others of its warp with.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// The number of the instruction.
    pub at: u32,
    pub how: Exchange,
    pub part: Part,
    pub mask: u32,
    /// The registers that get the result, and a shuffle's predicate.
    pub to: Reg,
    pub predicate: Reg,
}

/// What a thread gives to a barrier that gathers, and where it wants the result.
#[derive(Clone, Copy)]
pub struct Gathering {
    pub how: Gather,
    pub holds: bool,
    pub to: Reg,
}

/// Why a turn ended.
pub enum Turn {
    /// The thread has done its share of instructions, or yields: other threads take their turns now.
    Over,
    /// The thread has arrived at a barrier; whether it waits there, and the number of threads if one is given.
    Barrier { waits: bool, barrier: u8, threads: Option<u32>, gather: Option<Gathering> },
    /// The thread has come to an instruction of its warp.
    Meets(Meeting),
    /// The thread has ended.
    Ended,
}

/// The state that all threads of a launch share.
pub struct Common<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub params: &'a [u8],
    /// The module's constant space.
    pub constants: &'a [u8],
    /// The number of instructions executed.
    pub count: u64,
    pub view: View<'a>,
    pub sms: u32,
    pub grid: u64,
}

impl Common<'_> {
    /// The size of a block's shared memory in bytes.
    fn shared(&self) -> u64 {
        self.kernel.shared_extent(u64::from(self.shape.dynamic))
    }

    /// The number of an access's first byte among the bytes of local memory that its thread has.
    fn local_byte(&self, address: u64, bytes: u8) -> Result<u64, Fault> {
        let bytes = u64::from(bytes);
        if address & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address, bytes });
        }
        self.kernel.local_byte(address, bytes).ok_or(Fault::Illegal { address, bytes })
    }
}

/// The state of one thread, and of its block.
pub struct Own<'a> {
    pub regs: &'a mut [u64],
    /// The registers that were written, as bits; empty where that is known beforehand.
    pub written: &'a mut [u64],
    pub shared: &'a mut [u64],
    pub local: &'a mut [u64],
    pub index: [u32; 3],
    pub linear: u32,
    pub block: [u32; 3],
    pub slot: u32,
}

/// Checks that memory of `end` bytes contains `bytes` bytes at `address`, which must be aligned.
fn within(end: u64, address: u64, bytes: u8) -> Result<(), Fault> {
    let bytes = u64::from(bytes);
    if address & (bytes - 1) != 0 {
        return Err(Fault::Misaligned { address, bytes });
    }
    if address < end && bytes <= end - address { Ok(()) } else { Err(Fault::Illegal { address, bytes }) }
}

fn mask(bytes: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(bytes))
}

fn get(words: &[u64], end: u64, address: u64, bytes: u8) -> Result<u64, Fault> {
    within(end, address, bytes)?;
    Ok(words[(address / 8) as usize] >> (8 * (address % 8)) & mask(bytes))
}

fn set(words: &mut [u64], end: u64, address: u64, bytes: u8, value: u64) -> Result<(), Fault> {
    within(end, address, bytes)?;
    let shift = 8 * (address % 8);
    let word = &mut words[(address / 8) as usize];
    *word = *word & !(mask(bytes) << shift) | (value & mask(bytes)) << shift;
    Ok(())
}

fn get_bytes(from: &[u8], address: u64, bytes: u8) -> Result<u64, Fault> {
    let size = u64::from(bytes);
    if address & (size - 1) != 0 {
        return Err(Fault::Misaligned { address, bytes: size });
    }
    let range = usize::try_from(address).ok().and_then(|at| from.get(at..at.checked_add(usize::from(bytes))?));
    let Some(range) = range else { return Err(Fault::Illegal { address, bytes: size }) };
    let mut value = [0; 8];
    value[..range.len()].copy_from_slice(range);
    Ok(u64::from_le_bytes(value))
}

impl Own<'_> {
    fn load(&self, common: &mut Common<'_>, access: &Access, space: Space, address: u64) -> Result<u64, Fault> {
        let bytes = access.bytes;
        let value = match space {
            Space::Shared => get(self.shared, common.shared(), address, bytes)?,
            Space::Local => get(self.local, common.kernel.local, common.local_byte(address, bytes)?, bytes)?,
            Space::Param => get_bytes(common.params, address, bytes)?,
            Space::Const => get_bytes(common.constants, address, bytes)?,
            Space::Global | Space::Generic => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                unsafe { atomic::load(at, bytes, access.strength.is_strong()) }
            }
        };
        Ok(access.extended(value))
    }

    fn store(&mut self, common: &mut Common<'_>, access: &Access, at: (Space, u64), value: u64) -> Result<(), Fault> {
        let bytes = access.bytes;
        match at {
            (Space::Shared, address) => set(self.shared, common.shared(), address, bytes, value),
            (Space::Local, address) => {
                set(self.local, common.kernel.local, common.local_byte(address, bytes)?, bytes, value)
            }
            // Constants and parameters are at no address of an allocation, so that writing them is a fault.
            (Space::Global | Space::Generic | Space::Param | Space::Const, address) => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                unsafe { atomic::store(at, bytes, access.strength.is_strong(), value) };
                Ok(())
            }
        }
    }

    /// Loads a number, or the items of a vector, into registers.
    #[inline(always)]
    fn load_items(&mut self, common: &mut Common<'_>, access: &Access, address: u64, to: &[Reg]) -> Result<(), Fault> {
        if let [to] = to {
            let (space, address) = access.place(address);
            self.regs[*to as usize] = self.load(common, access, space, address)?;
            return Ok(());
        }
        let (space, address) = vector(access, address, to.len())?;
        // All items are read before a register changes, so a fault leaves the registers unchanged.
        let mut values = [0; 4];
        for (at, value) in values[..to.len()].iter_mut().enumerate() {
            *value = self.load(common, access, space, address + at as u64 * u64::from(access.bytes))?;
        }
        for (to, value) in to.iter().zip(values) {
            self.regs[*to as usize] = value;
        }
        Ok(())
    }

    /// Stores a number, or the items of a vector.
    #[inline(always)]
    fn store_items(
        &mut self,
        common: &mut Common<'_>,
        access: &Access,
        address: u64,
        values: &[Src],
    ) -> Result<(), Fault> {
        let constants = &common.kernel.constants;
        if let [value] = values {
            let value = value.get(self.regs, constants);
            return self.store(common, access, access.place(address), value);
        }
        let (space, address) = vector(access, address, values.len())?;
        for (at, value) in values.iter().enumerate() {
            let address = address + at as u64 * u64::from(access.bytes);
            let value = value.get(self.regs, constants);
            self.store(common, access, (space, address), value)?;
        }
        Ok(())
    }

    /// Copies words from global to shared memory; those that are not read become zero.
    fn copy(&mut self, common: &mut Common<'_>, copied: &Copied, [from, to, read]: [u64; 3]) -> Result<(), Fault> {
        let item = u64::from(copied.from.bytes);
        let whole = item * u64::from(copied.items);
        for address in [from, to] {
            if address & (whole - 1) != 0 {
                return Err(Fault::Misaligned { address, bytes: whole });
            }
        }
        for at in (0..whole).step_by(item as usize) {
            let left = read.saturating_sub(at).min(item);
            let mut value = 0;
            for byte in 0..left {
                let access = Access { bytes: 1, ..copied.from };
                value |= self.load(common, &access, Space::Global, from.wrapping_add(at + byte))? << (8 * byte);
            }
            self.store(common, &copied.to, (Space::Shared, to.wrapping_add(at)), value)?;
        }
        Ok(())
    }

    fn update(
        &mut self,
        common: &mut Common<'_>,
        access: &Access,
        address: u64,
        next: impl Fn(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        let bytes = access.bytes;
        match access.place(address) {
            (Space::Shared, address) => {
                let old = get(self.shared, common.shared(), address, bytes)?;
                if let Some(new) = next(old) {
                    set(self.shared, common.shared(), address, bytes, new)?;
                }
                Ok(old)
            }
            // Atomic operations on local memory are not allowed.
            (Space::Local, address) => Err(Fault::Illegal { address, bytes: bytes.into() }),
            // Constants and parameters are at no address of an allocation, so that writing them is a fault.
            (Space::Global | Space::Generic | Space::Param | Space::Const, address) => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                Ok(unsafe { atomic::update(at, bytes, next) })
            }
        }
    }

    fn special(&self, common: &Common<'_>, which: Special) -> u64 {
        let Shape { grid, block, dynamic, .. } = &common.shape;
        let value = match which {
            Special::Thread(axis) => self.index[usize::from(axis)],
            Special::Threads(axis) => block[usize::from(axis)],
            Special::Block(axis) => self.block[usize::from(axis)],
            Special::Blocks(axis) => grid[usize::from(axis)],
            Special::Lane => self.linear % 32,
            Special::LaneMask(mask) => mask.of(self.linear),
            // The threads of a warp take turns, each alone.
            Special::Active => 1 << (self.linear % 32),
            Special::Warp => self.linear / 32,
            Special::Warps => block.iter().product::<u32>().div_ceil(32),
            Special::Sm => self.slot % common.sms,
            Special::Sms => common.sms,
            // No launch is a cooperative one to a driver that knows none.
            Special::Workspace(_) => 0,
            Special::DynamicShared => *dynamic,
            Special::TotalShared => *dynamic + common.kernel.shared as u32,
            Special::Grid => return common.grid,
            Special::Clock => return common.count,
            Special::Timer => return super::nanoseconds(),
        };
        u64::from(value)
    }

    fn check(&mut self, common: &Common<'_>, at: u32) -> Result<(), Fault> {
        let step = &common.kernel.steps[at as usize];
        let mut bad = None;
        let mut read = |reg: Reg, written: &[u64]| {
            if written[reg as usize / 64] >> (reg % 64) & 1 == 0 {
                bad = bad.or(Some(reg));
            }
        };
        let mut runs = true;
        if step.guard.reg != NO_REG {
            read(step.guard.reg, self.written);
            runs = (self.regs[step.guard.reg as usize] != 0) != step.guard.negated;
        }
        if runs {
            step.op.outline(|reg| read(reg, self.written), |_| {});
        }
        if let Some(reg) = bad {
            return Err(Fault::Unwritten { register: common.kernel.registers[reg as usize].clone() });
        }
        if runs {
            step.op.outline(|_| {}, |reg| self.written[reg as usize / 64] |= 1 << (reg % 64));
        }
        Ok(())
    }

    /// Runs the thread for `quantum` instructions, or until it must wait.
    ///
    /// If `CHECKED`, registers are checked for having been written.
    pub fn turn<const CHECKED: bool>(
        &mut self,
        common: &mut Common<'_>,
        thread: &mut Thread,
        quantum: u32,
    ) -> Result<Turn, Fault> {
        let kernel = common.kernel;
        // Counts loads and atomic operations, by which a thread may wait for another: a loop around one mostly does so.
        let mut looks = 0;
        for done in 1..=quantum {
            let at = thread.cursor.at;
            if CHECKED {
                self.check(common, at).inspect_err(|_| common.count += u64::from(done))?;
            }
            common.view.instruction = at as usize;
            match step(kernel, &mut thread.cursor, self.regs) {
                Effect::None => {}
                Effect::Back if looks < 4 => {}
                Effect::Back | Effect::Yield => {
                    common.count += u64::from(done);
                    return Ok(Turn::Over);
                }
                Effect::Load { access, address, to } => {
                    looks += u32::from(access.strength.is_strong());
                    self.load_items(common, access, address, to)?;
                }
                Effect::Store { access, address, values } => self.store_items(common, access, address, values)?,
                Effect::Update { access, address, how, operand, to } => {
                    looks += 1;
                    let next = |old| Some(apply(how, access.bytes, old, operand));
                    let old = self.update(common, access, address, next)?;
                    if to != NO_REG {
                        self.regs[to as usize] = old;
                    }
                }
                Effect::CompareExchange { access, address, expected, new, to, .. } => {
                    looks += 1;
                    let next = |old| (old == expected).then_some(new);
                    self.regs[to as usize] = self.update(common, access, address, next)?;
                }
                Effect::Fence(_) | Effect::Ordering(Ordering::Fence(_)) => fence::full(),
                Effect::Ordering(Ordering::Barrier { .. }) => unreachable!("PTX has barriers of its own"),
                Effect::Special { which, to } => {
                    common.count += u64::from(which == Special::Clock);
                    self.regs[to as usize] = self.special(common, which);
                }
                Effect::Barrier { waits, barrier, threads, .. } => {
                    let turn = arrived(waits, barrier, threads, None)?;
                    common.count += u64::from(done);
                    return Ok(turn);
                }
                Effect::BarrierReduce { how, barrier, threads, holds, to, .. } => {
                    let turn = arrived(true, barrier, threads, Some(Gathering { how, holds: holds != 0, to }))?;
                    common.count += u64::from(done);
                    return Ok(turn);
                }
                // A copy may be complete as soon as it has begun.
                Effect::Copy { copied, from, target, read } => self.copy(common, copied, [from, target, read])?,
                Effect::CopyGroup | Effect::CopyWait { .. } | Effect::CopyObject { .. } => {}
                Effect::Exchange { how, part: [a, b, c], mask, to, predicate } => {
                    common.count += u64::from(done);
                    let part = Part { a, b, c };
                    return Ok(Turn::Meets(Meeting { at, how, part, mask: mask as u32, to, predicate }));
                }
                Effect::Exit => {
                    common.count += u64::from(done);
                    return Ok(Turn::Ended);
                }
                Effect::Trap(_) => return Err(Fault::Trap),
                Effect::NeedsValue => unreachable!("all words are known"),
            }
        }
        common.count += u64::from(quantum);
        Ok(Turn::Over)
    }
}

/// The end of a turn at a barrier of that number, for all threads or for a number of them.
fn arrived(waits: bool, barrier: u64, threads: Option<u64>, gather: Option<Gathering>) -> Result<Turn, Fault> {
    if barrier > 15 || threads.is_some_and(|threads| threads == 0 || threads % 32 != 0) {
        return Err(Fault::Barrier);
    }
    Ok(Turn::Barrier { waits, barrier: barrier as u8, threads: threads.map(|threads| threads as u32), gather })
}

/// The space and the address of a vector, which is aligned to its own size.
#[inline(always)]
fn vector(access: &Access, address: u64, items: usize) -> Result<(Space, u64), Fault> {
    let (space, address) = access.place(address);
    let bytes = u64::from(access.bytes) * items as u64;
    if address & (bytes - 1) == 0 { Ok((space, address)) } else { Err(Fault::Misaligned { address, bytes }) }
}
