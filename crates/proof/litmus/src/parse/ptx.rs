//! PTX's memory instructions (PTX ISA 8.5, sections 8.4 to 8.6 and 9.7.12).

use wattle_memory::{Label, Level, ThreadId};

use super::Parser;
use super::instruction::{AtomicKind, Loaded, Mnemonic};
use crate::error::{Problem, Wrong};
use crate::program::Instruction;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    Volatile,
    Sc,
}

impl Order {
    fn of(text: &str) -> Option<Order> {
        Some(match text {
            "weak" => Order::Weak,
            "relaxed" => Order::Relaxed,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acq_rel" => Order::AcquireRelease,
            "volatile" => Order::Volatile,
            "sc" => Order::Sc,
            _ => return None,
        })
    }

    fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease)
    }

    fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease)
    }
}

const SCOPES: &str = "a scope: cta, gpu or sys";

fn scope(text: &str) -> Option<Level> {
    Some(match text {
        "cta" => Level::Block,
        "gpu" => Level::Device,
        "sys" => Level::System,
        _ => return None,
    })
}

/// Mnemonics and modifiers that leave the generic proxy.
const PROXY_HEADS: [&str; 13] =
    ["suld", "sust", "sured", "suatom", "suq", "tld", "tld4", "tex", "txq", "cold", "cld", "ldc", "ldu"];
const PROXY_MODIFIERS: [&str; 9] =
    ["proxy", "const", "constant", "texture", "surface", "tex", "alias", "tensormap", "async"];

impl Parser<'_> {
    pub(super) fn ptx(&mut self, thread: ThreadId, mut mnemonic: Mnemonic) -> Result<Instruction, Wrong> {
        let head = mnemonic.head.clone();
        if PROXY_HEADS.contains(&head.as_str()) || mnemonic.left().any(|part| PROXY_MODIFIERS.contains(&part)) {
            return Err((mnemonic.place, Problem::Proxy { instruction: mnemonic.whole }));
        }
        match head.as_str() {
            "ld" => self.ptx_load(thread, &mut mnemonic),
            "st" => self.ptx_store(thread, &mut mnemonic),
            "atom" | "red" => self.ptx_atomic(thread, &mut mnemonic, head == "atom"),
            "fence" => ptx_fence(&mut mnemonic),
            "membar" => ptx_membar(&mut mnemonic),
            "bar" | "barrier" => self.ptx_barrier(thread, &mut mnemonic),
            _ => mnemonic.missing(
                "an instruction: ld, st, atom, red, fence, membar, bar, mov, arithmetic (add, sub, …), a branch (beq, \
                 bne, …) or goto",
            ),
        }
    }

    fn ptx_load(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let (order, level) = access(mnemonic, &[Order::Acquire], "weak, relaxed, acquire or volatile")?;
        let (to, from) = self.load_operands(thread)?;
        let from = match from {
            Loaded::Value(value) => return Ok(Instruction::Move { to, value }),
            Loaded::Memory(from) => from,
        };
        let label = match level {
            None => Label::plain_read(),
            Some(level) if order.acquires() => Label::atomic_read(level).acquiring(),
            Some(level) => Label::atomic_read(level),
        };
        Ok(Instruction::Load { to, from, label })
    }

    fn ptx_store(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let (order, level) = access(mnemonic, &[Order::Release], "weak, relaxed, release or volatile")?;
        let to = self.location(thread)?;
        self.comma()?;
        let value = self.operand(thread)?;
        let label = match level {
            None => Label::plain_write(),
            Some(level) if order.releases() => Label::atomic_write(level).releasing(),
            Some(level) => Label::atomic_write(level),
        };
        Ok(Instruction::Store { to, value, label })
    }

    fn ptx_atomic(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic, result: bool) -> Result<Instruction, Wrong> {
        const ORDERS: &str = "relaxed, acquire, release or acq_rel";
        let order = match mnemonic.take(Order::of) {
            None => Order::Relaxed,
            Some((Order::Weak | Order::Volatile | Order::Sc, place)) => {
                return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), ORDERS)));
            }
            Some((order, _)) => order,
        };
        let level = mnemonic.take(scope).map_or(Level::Device, |(level, _)| level);
        let kind = mnemonic.atomic();
        mnemonic.finish(&format!("{SCOPES}, an order: {ORDERS}, or an operation: {}", operations(result)))?;
        let kind = match kind {
            Some(AtomicKind::CompareExchange) if !result => None,
            kind => kind,
        };
        let Some(kind) = kind else { return mnemonic.missing(&format!("an operation: {}", operations(result))) };
        let updated = self.update_operands(thread, kind)?;
        let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
        if order.acquires() {
            read = read.acquiring();
        }
        if order.releases() {
            write = write.releasing();
        }
        Ok(Instruction::Update { result: updated.result, at: updated.at, update: updated.update, read, write })
    }

    fn ptx_barrier(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        const EXPECTED: &str = "`bar.cta.sync` or `bar.cta.arrive`";
        mnemonic.has("cta");
        mnemonic.has("aligned");
        let waits = mnemonic.take(|text| match text {
            "sync" => Some(true),
            "arrive" => Some(false),
            _ => None,
        });
        mnemonic.finish(EXPECTED)?;
        let Some((waits, _)) = waits else { return mnemonic.missing(EXPECTED) };
        let operands = self.barrier_operands(thread)?;
        let whole = Label::barrier(Level::Block);
        let label = if waits { whole } else { Label { kind: whole.kind, ..Label::fence(Level::Block).releasing() } };
        Ok(Instruction::Barrier {
            instance: operands.instance,
            resource: operands.resource,
            quorum: operands.quorum,
            waits,
            label,
        })
    }
}

fn operations(result: bool) -> &'static str {
    if result {
        "exch, cas, add, sub, min, max, and, or, xor, inc or dec"
    } else {
        "add, sub, min, max, and, or, xor, inc, dec or exch"
    }
}

/// The order and scope of a load or store; no scope where it is weak.
fn access(mnemonic: &mut Mnemonic, allowed: &[Order], expected: &str) -> Result<(Order, Option<Level>), Wrong> {
    let order = match mnemonic.take(Order::of) {
        None => Order::Weak,
        Some((order @ (Order::Weak | Order::Relaxed | Order::Volatile), _)) => order,
        Some((order, _)) if allowed.contains(&order) => order,
        Some((_, place)) => return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), expected))),
    };
    let level = mnemonic.take(scope).map(|(level, _)| level);
    mnemonic.finish(&format!("an order: {expected}, or {SCOPES}"))?;
    match (order, level) {
        (Order::Weak, _) => Ok((order, None)),
        // 8.4: a volatile operation is treated as a relaxed one of system scope.
        (Order::Volatile, _) => Ok((order, Some(Level::System))),
        (_, Some(level)) => Ok((order, Some(level))),
        (_, None) => mnemonic.missing(SCOPES),
    }
}

fn ptx_fence(mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
    const ORDERS: &str = "an order: sc, acq_rel, acquire or release";
    let order = match mnemonic.take(Order::of) {
        None => Order::AcquireRelease,
        Some((Order::Weak | Order::Relaxed | Order::Volatile, place)) => {
            return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), ORDERS)));
        }
        Some((order, _)) => order,
    };
    let level = mnemonic.take(scope).map(|(level, _)| level);
    mnemonic.finish(&format!("{ORDERS}, or {SCOPES}"))?;
    let Some(level) = level else { return mnemonic.missing(SCOPES) };
    let fence = Label::fence(level);
    Ok(Instruction::Fence(match order {
        Order::Sc => fence.sequentially_consistent(),
        Order::Acquire => fence.acquiring(),
        Order::Release => fence.releasing(),
        _ => fence.acquiring().releasing(),
    }))
}

/// 9.7.12: `membar` is a synonym of `fence.sc`; its `gl` is `gpu`.
fn ptx_membar(mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
    const LEVELS: &str = "a level: cta, gl or sys";
    let level = mnemonic.take(|text| if text == "gl" { Some(Level::Device) } else { scope(text) });
    mnemonic.finish(LEVELS)?;
    let Some((level, _)) = level else { return mnemonic.missing(LEVELS) };
    Ok(Instruction::Fence(Label::fence(level).sequentially_consistent()))
}
