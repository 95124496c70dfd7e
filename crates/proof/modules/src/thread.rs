//! One thread: its position, and the effect of its next instruction.

use wattle_memory::Label;

use crate::address;
use crate::code::{
    Access, AtObject, Bitwise, Carry, Copied, Exchange, Fence, Gather, Kernel, NO_REG, Op, Ordering, Reg, Rmw, Special,
    Src, TableJoin, TestJoin,
};
use crate::meaning::{bits, convert, exact, int};
use crate::value::Value;

/// The position of a thread in its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor<V = u64> {
    /// The number of the next instruction.
    pub at: u32,
    /// The carry flag (PTX ISA 8.8, 9.7.2), 0 or 1; behind a difference 1 where nothing is borrowed.
    pub flag: V,
}

impl<V: Value> Default for Cursor<V> {
    fn default() -> Self {
        Cursor { at: 0, flag: V::of(0) }
    }
}

/// The part of an instruction that is left to its thread's owner.
///
/// An address is in the instruction's space; [`Access::place`] resolves a generic one.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "their fields are the instruction's operands")]
pub enum Effect<'k, V> {
    /// The instruction is done: at most the thread's registers and its position have changed.
    None,
    /// The instruction is done: the thread jumped backwards or to the same instruction.
    Back,
    /// The owner loads the items at the address and behind it into the registers, each as [`Access::extended`] converts
    /// it.
    Load { access: &'k Access, address: V, to: &'k [Reg] },
    /// The owner stores the values of these operands at the address and behind it.
    Store { access: &'k Access, address: V, values: &'k [Src] },
    /// In one atomic step, `to`, unless it is [`NO_REG`], gets the old item, and
    /// [`apply`](crate::meaning::atomic::apply) computes the new one.
    Update { access: &'k Access, address: V, how: Rmw, operand: V, to: Reg },
    /// In one atomic step, `to` gets the old item; if that is the expected one, the new one replaces it.
    CompareExchange { access: &'k Access, address: V, expected: V, new: V, to: Reg, succeeded: Option<Label> },
    /// The thread passes a fence.
    Fence(Fence),
    /// The thread passes a fence or has reached a barrier, in the model's own terms.
    Ordering(Ordering),
    /// The thread has reached a barrier, and waits there or not; `threads` is the number of threads, if it is given.
    Barrier { waits: bool, aligned: bool, barrier: V, threads: Option<V> },
    /// The thread has reached a barrier, and waits there; `to` gets what the predicates of all its threads give
    /// together.
    BarrierReduce { how: Gather, aligned: bool, barrier: V, threads: Option<V>, holds: V, to: Reg },
    /// The thread begins to copy `read` bytes from global to shared memory; the rest of the target becomes zero.
    Copy { copied: &'k Copied, from: V, target: V, read: V },
    /// The copies since the last group become a group.
    CopyGroup,
    /// The thread waits until all groups of copies but the last ones are complete, or all copies.
    CopyWait { but: Option<u32> },
    /// The thread does something at a barrier object that has to do with its copies.
    CopyObject { access: &'k Access, object: V, does: AtObject },
    /// The thread has come to an instruction that the lanes of its warp in the mask do together; `to` and `predicate`
    /// get the results once all of them are there.
    Exchange { how: Exchange, part: [V; 3], mask: V, to: Reg, predicate: Reg },
    /// The owner sets a register to the value of a special register.
    Special { which: Special, to: Reg },
    /// The thread yields to other threads.
    Yield,
    /// The thread has ended.
    Exit,
    /// The launch has ended: what has happened, in words.
    Trap(&'static str),
    /// The instruction needs a value that is not known; the thread still stands before it.
    NeedsValue,
}

/// Executes a thread's next instruction, as far as registers are concerned.
///
/// # Panics
/// The registers are fewer than the kernel has, or the cursor is not in it.
#[inline(always)]
pub fn step<'k, V: Value>(kernel: &'k Kernel, cursor: &mut Cursor<V>, registers: &mut [V]) -> Effect<'k, V> {
    let at = cursor.at;
    let step = &kernel.steps[at as usize];
    let guard = step.guard;
    if guard.reg != NO_REG {
        match registers[guard.reg as usize].known() {
            None => return Effect::NeedsValue,
            Some(bits) if (bits != 0) == guard.negated => {
                cursor.at = at + 1;
                return Effect::None;
            }
            Some(_) => {}
        }
    }
    cursor.at = at + 1;
    let mut words = Words { registers, constants: &kernel.constants };
    match &step.op {
        Op::Mov { d, a } => words.set(*d, words.get(*a)),
        Op::Un { f, bitwise, d, a } => {
            words.set(*d, words.get(*a).bitwise(V::of(0), V::of(0), *bitwise, |a, _, _| f(a)));
        }
        Op::Bin { f, bitwise, d, a, b } => {
            words.set(*d, words.get(*a).bitwise(words.get(*b), V::of(0), *bitwise, |a, b, _| f(a, b)));
        }
        Op::Partial { f, d, a, b, is_open } => {
            let (a, b) = (words.get(*a), words.get(*b));
            let result = a.zip(b, f);
            let open = a.known().zip(b.known()).is_some_and(|(a, b)| is_open(a, b));
            words.set(*d, if open { result.left_open() } else { result });
        }
        Op::Tern { f, bitwise, d, a, b, c } => {
            words.set(*d, words.get(*a).bitwise(words.get(*b), words.get(*c), *bitwise, f));
        }
        Op::Quad { f, bitwise, d, a, b, c, e } => {
            words.set(*d, words.get(*a).bitwise4(words.get(*b), words.get(*c), words.get(*e), *bitwise, f));
        }
        Op::Rounded { how, d, a, b, c } => {
            words.set(*d, words.get(*a).zip3(words.get(*b), words.get(*c), |a, b, c| exact::apply(**how, a, b, c)));
        }
        Op::Halves { f, d, a, b, c } => {
            words.set(*d, words.get(*a).zip3(words.get(*b), words.get(*c), |a, b, c| f.apply(a, b, c)));
        }
        Op::Test { f, d, a, b, .. } => words.set(*d, words.get(*a).zip(words.get(*b), |a, b| u64::from(f(a, b)))),
        Op::TestJoin(test) => words.test_and_join(test),
        Op::TableJoin(logic) => words.look_up_and_join(logic),
        Op::Select { d, a, b, p } => words.set(*d, words.reg(*p).choose(words.get(*a), words.get(*b))),
        Op::Convert { d, a, how } => {
            let bitwise = Bitwise(u8::from(how.keeps_bits()));
            words.set(*d, words.get(*a).bitwise(V::of(0), V::of(0), bitwise, |a, _, _| convert::convert(how, a)));
        }
        Op::ConvertTwo { d, a, b, how } => {
            let two = |a, b| convert::convert(how, a) << 16 | convert::convert(how, b);
            words.set(*d, words.get(*a).zip(words.get(*b), two));
        }
        Op::Carry { how, d, a, b } => words.carry(*how, *d, [words.get(*a), words.get(*b)], &mut cursor.flag),
        Op::CarryProduct { how, f, d, a, b, c } => {
            let product = words.get(*a).zip(words.get(*b), f);
            words.carry(*how, *d, [product, words.get(*c)], &mut cursor.flag);
        }
        Op::Pack { d, bits, parts } => {
            words.set(*d, parts.iter().rev().fold(V::of(0), |whole, part| whole.above(*bits, words.get(*part))));
        }
        Op::Unpack { a, bits, parts } => {
            let whole = words.get(*a);
            for (part, shift) in parts.iter().zip((0..).step_by(*bits as usize)) {
                words.set(*part, whole.part(shift, *bits));
            }
        }
        Op::ToGeneric { space, d, a } => {
            words.set(*d, words.get(*a).map(|a| a.wrapping_add(address::window(*space))));
        }
        Op::FromGeneric { space, d, a } => {
            words.set(*d, words.get(*a).map(|a| a.wrapping_sub(address::window(*space))));
        }
        Op::IsSpace { space, d, a } => {
            words.set(*d, words.get(*a).map(|a| u64::from(address::generic(a).0 == *space)));
        }
        Op::Hint => {}
        Op::Branch { target } => {
            cursor.at = *target;
            if *target <= at {
                return Effect::Back;
            }
        }
        Op::Special { which, d } => return Effect::Special { which: *which, to: *d },
        Op::Load { access, d } => {
            return Effect::Load { access, address: words.address(access), to: std::slice::from_ref(d) };
        }
        Op::LoadMany { access, d } => return Effect::Load { access, address: words.address(access), to: d },
        Op::Store { access, a } => {
            return Effect::Store { access, address: words.address(access), values: std::slice::from_ref(a) };
        }
        Op::StoreMany { access, a } => return Effect::Store { access, address: words.address(access), values: a },
        Op::Rmw { access, how, d, a } => {
            let (address, operand) = (words.address(access), words.get(*a));
            return Effect::Update { access, address, how: *how, operand, to: *d };
        }
        Op::Cas { access, d, a, b, succeeded } => {
            let (address, expected, new) = (words.address(access), words.get(*a), words.get(*b));
            return Effect::CompareExchange { access, address, expected, new, to: *d, succeeded: *succeeded };
        }
        Op::Fence(fence) => return Effect::Fence(*fence),
        Op::Ordering(ordering) => return Effect::Ordering(**ordering),
        Op::Barrier { waits, aligned, a, b } => {
            let (barrier, threads) = (words.get(*a), b.map(|b| words.get(b)));
            return Effect::Barrier { waits: *waits, aligned: *aligned, barrier, threads };
        }
        Op::BarrierReduce { how, aligned, a, b, d, p, negated } => {
            let (barrier, threads) = (words.get(*a), b.map(|b| words.get(b)));
            let holds = words.reg(*p).map(|holds| holds ^ u64::from(*negated));
            return Effect::BarrierReduce { how: *how, aligned: *aligned, barrier, threads, holds, to: *d };
        }
        Op::Exchange { how, negated, d, p, a, b, c, mask } => {
            let a = words.get(*a);
            let part = [if *negated { a.map(|a| a ^ 1) } else { a }, words.get(*b), words.get(*c)];
            return Effect::Exchange { how: *how, part, mask: words.get(*mask), to: *d, predicate: *p };
        }
        Op::Copy(copied) => {
            let (from, target, read) =
                (words.address(&copied.from), words.address(&copied.to), words.bytes_copied(copied));
            return Effect::Copy { copied, from, target, read };
        }
        Op::CopyGroup => return Effect::CopyGroup,
        Op::CopyWait { but } => return Effect::CopyWait { but: *but },
        Op::CopyObject { access, does } => {
            return Effect::CopyObject { access, object: words.address(access), does: *does };
        }
        Op::Yield => return Effect::Yield,
        Op::Exit => return Effect::Exit,
        Op::Trap(what) => return Effect::Trap(what),
    }
    Effect::None
}

/// The words that an instruction computes with: the registers of its thread, and the constants of its kernel.
struct Words<'w, V> {
    registers: &'w mut [V],
    constants: &'w [u64],
}

impl<V: Value> Words<'_, V> {
    /// The value of an operand.
    #[inline(always)]
    fn get(&self, src: Src) -> V {
        src.get(self.registers, self.constants)
    }

    /// The value of a register.
    #[inline(always)]
    fn reg(&self, reg: Reg) -> V {
        self.registers[reg as usize]
    }

    #[inline(always)]
    fn set(&mut self, reg: Reg, value: V) {
        self.registers[reg as usize] = value;
    }

    /// The address of an access, in its space.
    #[inline(always)]
    fn address(&self, access: &Access) -> V {
        self.get(access.base).map(|base| access.address(base))
    }

    /// Adds or subtracts with the carry flag, as far as the instruction takes and gives it (PTX ISA 8.8, 9.7.2).
    #[inline(always)]
    fn carry(&mut self, how: Carry, d: Reg, [a, b]: [V; 2], carried: &mut V) {
        let flag = if how.takes { *carried } else { V::of(0) };
        self.set(d, a.zip3(b, flag, |a, b, flag| int::carry(how, a, b, flag != 0).0));
        if how.gives {
            *carried = a.zip3(b, flag, |a, b, flag| u64::from(int::carry(how, a, b, flag != 0).1));
        }
    }

    /// Compares two operands, and joins the result, and its negation for a second destination, with a predicate.
    #[inline(always)]
    fn test_and_join(&mut self, test: &TestJoin) {
        let found = self.get(test.a).zip(self.get(test.b), |a, b| u64::from((test.f)(a, b)));
        let joined = if test.c == NO_REG { V::of(u64::from(test.negated)) } else { self.reg(test.c) };
        let join = |found: bool, joined: u64| u64::from((test.join)(found, (joined != 0) != test.negated));
        self.set(test.d, found.zip(joined, |found, joined| join(found != 0, joined) * test.yes));
        if test.q != NO_REG {
            self.set(test.q, found.zip(joined, |found, joined| join(found == 0, joined)));
        }
    }

    /// Looks the bits of three operands up in a table, and joins whether the result is not 0 with a predicate.
    #[inline(always)]
    fn look_up_and_join(&mut self, logic: &TableJoin) {
        let [a, b, c] = logic.operands.map(|operand| self.get(operand));
        let found = a.bitwise(b, c, Bitwise(3), |a, b, c| bits::lop3(a, b, c, logic.table));
        let join = |found: u64, q: u64| u64::from((logic.join)(found != 0, (q != 0) != logic.negated));
        self.set(logic.p, found.zip(self.get(logic.q), join));
        if logic.d != NO_REG {
            self.set(logic.d, found);
        }
    }

    /// The number of bytes that a copy reads: those that its instruction gives, or all; 0 where its predicate says so.
    #[inline(always)]
    fn bytes_copied(&self, copied: &Copied) -> V {
        let whole = u64::from(copied.from.bytes) * u64::from(copied.items);
        let read = copied.read.map_or(V::of(whole), |read| self.get(read).map(|read| read & 0xFFFF_FFFF));
        if copied.ignore == NO_REG {
            return read;
        }
        read.zip(self.reg(copied.ignore), |read, ignore| if ignore != 0 { 0 } else { read })
    }
}

/// A thread with registers of its own, for owners that keep threads apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread<V = u64> {
    /// The position of the thread.
    pub cursor: Cursor<V>,
    /// The values of its registers.
    pub registers: Vec<V>,
}

impl<V: Value> Thread<V> {
    /// A thread before the kernel's first instruction; its registers hold zeros, which PTX does not promise.
    pub fn new(kernel: &Kernel) -> Thread<V> {
        Thread { cursor: Cursor::default(), registers: vec![V::of(0); kernel.registers.len()] }
    }

    /// Runs until an instruction leaves something to the owner, or `fuel` instructions are done; then it returns
    /// [`Effect::None`]. A thread that has ended must not be run.
    pub fn run<'k>(&mut self, kernel: &'k Kernel, fuel: u32) -> Effect<'k, V> {
        for _ in 0..fuel {
            match step(kernel, &mut self.cursor, &mut self.registers) {
                Effect::None | Effect::Back => {}
                effect => return effect,
            }
        }
        Effect::None
    }

    /// The values that a store writes.
    pub fn values(&self, kernel: &Kernel, operands: &[Src]) -> impl Iterator<Item = V> {
        operands.iter().map(|operand| operand.get(&self.registers, &kernel.constants))
    }

    /// Answers a load, an update or a special register. The values are those of memory, whose bits above the item's are
    /// zero; with an `access`, a signed load extends the sign.
    pub fn answer(&mut self, to: &[Reg], access: Option<&Access>, values: &[V]) {
        for (&to, &value) in to.iter().zip(values) {
            if to != NO_REG {
                let extended = |bits: u64| access.map_or(bits, |access| access.extended(bits));
                self.registers[to as usize] = value.map(extended);
            }
        }
    }
}
