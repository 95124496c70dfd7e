//! One thread's turn.

use super::atomic;
use super::convert::convert;
use super::fence;
use super::int;
use super::memory::{LOCAL_WINDOW, SHARED_WINDOW, View, WINDOW};
use super::op::{Access, NO_REG, Op, Reg, Special};
use super::{Fault, grid::Shape};
use crate::ptx::Kernel;
use crate::ptx::types::Space;

/// A thread between its turns.
pub struct Thread {
    /// The next instruction.
    pub at: u32,
    /// The carry flag.
    pub flag: bool,
    /// What it is doing.
    pub state: State,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has turns.
    Runs,
    /// It waits at that barrier.
    Waits(u8),
    /// It has ended.
    Ended,
}

/// Why a turn ended.
pub enum Turn {
    /// Others have a turn now.
    Over,
    /// The thread has come to a barrier; whether it waits there, and for how many threads if that is told.
    Barrier { waits: bool, barrier: u8, threads: Option<u32> },
    /// The thread has ended.
    Ended,
}

/// What all threads of a launch have in common.
pub struct Common<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub params: &'a [u8],
    /// The module's constant space.
    pub constants: &'a [u8],
    /// Instructions carried out.
    pub count: u64,
    pub view: View<'a>,
    pub sms: u32,
    pub grid: u64,
}

impl Common<'_> {
    /// Bytes of a block's shared memory.
    fn shared(&self) -> u64 {
        self.kernel.shared + u64::from(self.shape.dynamic)
    }
}

/// What a thread has of its own, and what its block has.
pub struct Own<'a> {
    pub regs: &'a mut [u64],
    /// Which registers were written; empty where that is known beforehand.
    pub written: &'a mut [u64],
    pub shared: &'a mut [u64],
    pub local: &'a mut [u64],
    pub index: [u32; 3],
    pub linear: u32,
    pub block: [u32; 3],
    pub slot: u32,
}

/// Whether memory of `end` bytes has `bytes` at `address`.
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

/// The space and the address in it that a generic address means.
fn generic(address: u64) -> (Space, u64) {
    match address {
        SHARED_WINDOW.. if address < SHARED_WINDOW + WINDOW => (Space::Shared, address - SHARED_WINDOW),
        LOCAL_WINDOW.. if address < LOCAL_WINDOW + WINDOW => (Space::Local, address - LOCAL_WINDOW),
        _ => (Space::Global, address),
    }
}

impl Own<'_> {
    fn place(&self, common: &Common<'_>, access: &Access) -> (Space, u64) {
        let base = access.base.get(self.regs, &common.kernel.constants);
        let address = base.wrapping_add_signed(i64::from(access.offset));
        if access.space == Space::Generic { generic(address) } else { (access.space, address) }
    }

    fn load(&self, common: &mut Common<'_>, access: &Access, space: Space, address: u64) -> Result<u64, Fault> {
        let bytes = access.bytes;
        let value = match space {
            Space::Shared => get(self.shared, common.shared(), address, bytes)?,
            Space::Local => get(self.local, common.kernel.local, address, bytes)?,
            Space::Param => get_bytes(common.params, address, bytes)?,
            Space::Const => get_bytes(common.constants, address, bytes)?,
            Space::Global | Space::Generic => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                unsafe { atomic::load(at, bytes, access.strong) }
            }
        };
        if access.sign_to == 0 {
            return Ok(value);
        }
        let shift = 64 - 8 * u32::from(bytes);
        Ok(((value << shift) as i64 >> shift) as u64 & (u64::MAX >> (64 - u32::from(access.sign_to))))
    }

    fn store(&mut self, common: &mut Common<'_>, access: &Access, at: (Space, u64), value: u64) -> Result<(), Fault> {
        let bytes = access.bytes;
        match at {
            (Space::Shared, address) => set(self.shared, common.shared(), address, bytes, value),
            (Space::Local, address) => set(self.local, common.kernel.local, address, bytes, value),
            (_, address) => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                unsafe { atomic::store(at, bytes, access.strong, value) };
                Ok(())
            }
        }
    }

    fn update(
        &mut self,
        common: &mut Common<'_>,
        access: &Access,
        next: impl Fn(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        let bytes = access.bytes;
        match self.place(common, access) {
            (Space::Shared, address) => {
                let old = get(self.shared, common.shared(), address, bytes)?;
                if let Some(new) = next(old) {
                    set(self.shared, common.shared(), address, bytes, new)?;
                }
                Ok(old)
            }
            // Atomic operations on local memory are not allowed.
            (Space::Local, address) => Err(Fault::Illegal { address, bytes: bytes.into() }),
            (_, address) => {
                let at = common.view.at(address, u64::from(bytes))?;
                // SAFETY: `at` has checked that the bytes are allocated and aligned; the view keeps them.
                Ok(unsafe { atomic::update(at, bytes, next) })
            }
        }
    }

    /// The vector is aligned to its own size.
    fn vector(&self, common: &Common<'_>, access: &Access, items: usize) -> Result<(Space, u64), Fault> {
        let (space, address) = self.place(common, access);
        let bytes = u64::from(access.bytes) * items as u64;
        if address & (bytes - 1) == 0 { Ok((space, address)) } else { Err(Fault::Misaligned { address, bytes }) }
    }

    fn special(&self, common: &Common<'_>, which: Special) -> u64 {
        let Shape { grid, block, dynamic, .. } = &common.shape;
        let value = match which {
            Special::Thread(axis) => self.index[usize::from(axis)],
            Special::Threads(axis) => block[usize::from(axis)],
            Special::Block(axis) => self.block[usize::from(axis)],
            Special::Blocks(axis) => grid[usize::from(axis)],
            Special::Lane => self.linear % 32,
            Special::Warp => self.linear / 32,
            Special::Warps => block.iter().product::<u32>().div_ceil(32),
            Special::Sm => self.slot % common.sms,
            Special::Sms => common.sms,
            Special::DynamicShared => *dynamic,
            Special::TotalShared => *dynamic + common.kernel.shared as u32,
            Special::Grid => return common.grid,
            Special::Clock => return common.count,
            Special::Timer => return crate::driver::nanoseconds(),
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
            step.op.reads(|reg| read(reg, self.written));
        }
        if let Some(reg) = bad {
            return Err(Fault::Unwritten { register: common.kernel.registers[reg as usize].clone() });
        }
        if runs {
            step.op.writes(|reg| self.written[reg as usize / 64] |= 1 << (reg % 64));
        }
        Ok(())
    }

    /// Runs the thread for a number of instructions, or until it must wait.
    ///
    /// `CHECKED`: registers are tested for having been written.
    pub fn turn<const CHECKED: bool>(
        &mut self,
        common: &mut Common<'_>,
        thread: &mut Thread,
        quantum: u32,
    ) -> Result<Turn, Fault> {
        let kernel = common.kernel;
        let constants = kernel.constants.as_slice();
        let steps = kernel.steps.as_slice();
        // Loads and atomic operations that others may wait for; a loop around such a one waits for others, mostly.
        let mut looks = 0;
        for done in 1..=quantum {
            let at = thread.at;
            if CHECKED {
                self.check(common, at).inspect_err(|_| common.count += u64::from(done))?;
            }
            let step = &steps[at as usize];
            common.view.instruction = at as usize;
            thread.at = at + 1;
            let guard = step.guard;
            if guard.reg != NO_REG && (self.regs[guard.reg as usize] != 0) == guard.negated {
                continue;
            }
            macro_rules! get {
                ($src:expr) => {
                    $src.get(self.regs, constants)
                };
            }
            match &step.op {
                Op::Mov { d, a } => self.regs[*d as usize] = get!(a),
                Op::Un { f, d, a } => self.regs[*d as usize] = f(get!(a)),
                Op::Bin { f, d, a, b } => self.regs[*d as usize] = f(get!(a), get!(b)),
                Op::Tern { f, d, a, b, c } => self.regs[*d as usize] = f(get!(a), get!(b), get!(c)),
                Op::Test { f, d, a, b } => self.regs[*d as usize] = u64::from(f(get!(a), get!(b))),
                Op::TestJoin(test) => {
                    let found = (test.f)(get!(test.a), get!(test.b));
                    let joined = test.c != NO_REG && (self.regs[test.c as usize] != 0) != test.negated;
                    self.regs[test.d as usize] = u64::from((test.join)(found, joined));
                    if test.q != NO_REG {
                        self.regs[test.q as usize] = u64::from((test.join)(!found, joined));
                    }
                }
                Op::Select { d, a, b, p } => {
                    self.regs[*d as usize] = if self.regs[*p as usize] != 0 { get!(a) } else { get!(b) };
                }
                Op::Convert { d, a, how } => self.regs[*d as usize] = convert(how, get!(a)),
                Op::Carry { how, d, a, b } => {
                    let (sum, flag) = int::carry(*how, get!(a), get!(b), thread.flag);
                    self.regs[*d as usize] = sum;
                    if how.gives {
                        thread.flag = flag;
                    }
                }
                Op::Special { which, d } => {
                    common.count += u64::from(*which == Special::Clock);
                    self.regs[*d as usize] = self.special(common, *which);
                }
                Op::Pack { d, bits, parts } => {
                    let whole = parts.iter().rev().fold(0, |whole, part| whole << bits | get!(part));
                    self.regs[*d as usize] = whole;
                }
                Op::Unpack { a, bits, parts } => {
                    let mut whole = get!(a);
                    for part in parts {
                        self.regs[*part as usize] = whole & ((1 << bits) - 1);
                        whole >>= bits;
                    }
                }
                Op::ToGeneric { space, d, a } => {
                    self.regs[*d as usize] = match space {
                        Space::Shared => get!(a).wrapping_add(SHARED_WINDOW),
                        Space::Local => get!(a).wrapping_add(LOCAL_WINDOW),
                        _ => get!(a),
                    };
                }
                Op::FromGeneric { space, d, a } => {
                    self.regs[*d as usize] = match space {
                        Space::Shared => get!(a).wrapping_sub(SHARED_WINDOW),
                        Space::Local => get!(a).wrapping_sub(LOCAL_WINDOW),
                        _ => get!(a),
                    };
                }
                Op::IsSpace { space, d, a } => {
                    self.regs[*d as usize] = u64::from(generic(get!(a)).0 == *space);
                }
                Op::Load { access, d } => {
                    let (space, address) = self.place(common, access);
                    looks += u32::from(access.strong);
                    self.regs[*d as usize] = self.load(common, access, space, address)?;
                }
                Op::LoadMany { access, d } => {
                    let (space, address) = self.vector(common, access, d.len())?;
                    looks += u32::from(access.strong);
                    let mut values = [0; 4];
                    for (at, value) in values[..d.len()].iter_mut().enumerate() {
                        *value = self.load(common, access, space, address + at as u64 * u64::from(access.bytes))?;
                    }
                    for (d, value) in d.iter().zip(values) {
                        self.regs[*d as usize] = value;
                    }
                }
                Op::Store { access, a } => {
                    let at = self.place(common, access);
                    self.store(common, access, at, get!(a))?;
                }
                Op::StoreMany { access, a } => {
                    let (space, address) = self.vector(common, access, a.len())?;
                    for (at, a) in a.iter().enumerate() {
                        let address = address + at as u64 * u64::from(access.bytes);
                        self.store(common, access, (space, address), get!(a))?;
                    }
                }
                Op::Rmw { access, how, d, a } => {
                    let a = get!(a);
                    looks += 1;
                    let old = self.update(common, access, |old| Some(atomic::apply(*how, access.bytes, old, a)))?;
                    if *d != NO_REG {
                        self.regs[*d as usize] = old;
                    }
                }
                Op::Cas { access, d, a, b } => {
                    let (expected, new) = (get!(a), get!(b));
                    looks += 1;
                    let old = self.update(common, access, |old| (old == expected).then_some(new))?;
                    self.regs[*d as usize] = old;
                }
                Op::Fence => fence::full(),
                Op::Barrier { waits, a, b } => {
                    let (barrier, threads) = (get!(a), b.map(|b| get!(b)));
                    if barrier > 15 || threads.is_some_and(|threads| threads == 0 || threads % 32 != 0) {
                        return Err(Fault::Barrier);
                    }
                    common.count += u64::from(done);
                    let threads = threads.map(|threads| threads as u32);
                    return Ok(Turn::Barrier { waits: *waits, barrier: barrier as u8, threads });
                }
                Op::Yield => {
                    common.count += u64::from(done);
                    return Ok(Turn::Over);
                }
                Op::Branch { target } => {
                    thread.at = *target;
                    if *target <= at && looks >= 4 {
                        common.count += u64::from(done);
                        return Ok(Turn::Over);
                    }
                }
                Op::Exit => {
                    common.count += u64::from(done);
                    return Ok(Turn::Ended);
                }
                Op::Trap => return Err(Fault::Trap),
                Op::Nothing => {}
            }
        }
        common.count += u64::from(quantum);
        Ok(Turn::Over)
    }
}
