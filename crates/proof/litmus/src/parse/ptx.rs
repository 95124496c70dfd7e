//! Parses PTX's memory instructions (PTX ISA 8.5, sections 8.4 to 8.6 and 9.7.12).

use wattle_memory::{Label, Level, ThreadId};

use super::Parser;
use super::instruction::{Loaded, Mnemonic};
use crate::error::{Problem, Wrong};
use crate::program::Instruction;
use crate::words::{AtomicKind, Head, Order, PTX_BARRIERS, PTX_HEADS, PTX_ORDERS, PTX_SCOPES};

fn scopes() -> String {
    format!("a scope: {}", PTX_SCOPES.list())
}

fn scope(text: &str) -> Option<Level> {
    PTX_SCOPES.meaning(text)
}

fn order(text: &str) -> Option<Order> {
    PTX_ORDERS.meaning(text)
}

/// The mnemonics and modifiers that leave the generic proxy.
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
        match PTX_HEADS.meaning(&head) {
            Some(Head::Load) => self.ptx_load(thread, &mut mnemonic),
            Some(Head::Store) => self.ptx_store(thread, &mut mnemonic),
            Some(Head::Update) => self.ptx_atomic(thread, &mut mnemonic, true),
            Some(Head::Reduce) => self.ptx_atomic(thread, &mut mnemonic, false),
            Some(Head::Fence) => ptx_fence(&mut mnemonic),
            Some(Head::OldFence) => ptx_membar(&mut mnemonic),
            Some(Head::Barrier) => self.ptx_barrier(thread, &mut mnemonic),
            Some(Head::MakeAvailable | Head::MakeVisible) | None => mnemonic.missing(
                "an instruction: ld, st, atom, red, fence, membar, bar, mov, arithmetic (add, sub, …), a branch (beq, \
                 bne, …) or goto",
            ),
        }
    }

    fn ptx_load(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let (order, level) = access(mnemonic, Order::ACQUIRE, "weak, relaxed, acquire or volatile")?;
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
        let (order, level) = access(mnemonic, Order::RELEASE, "weak, relaxed, release or volatile")?;
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
        let order = match mnemonic.take(order) {
            None => Order::RELAXED,
            Some((Order::Weak | Order::Volatile | Order::Sc, place)) => {
                return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), ORDERS)));
            }
            Some((order, _)) => order,
        };
        let level = mnemonic.take(scope).map_or(Level::Device, |(level, _)| level);
        let kind = mnemonic.atomic();
        mnemonic.finish(&format!("{}, an order: {ORDERS}, or an operation: {}", scopes(), operations(result)))?;
        let kind = match kind {
            Some(AtomicKind::CompareExchange) if !result => None,
            kind => kind,
        };
        let Some(kind) = kind else { return mnemonic.missing(&format!("an operation: {}", operations(result))) };
        let updated = self.update_operands(thread, kind)?;
        let read = Label { reduces: !result && !order.acquires(), ..Label::atomic_read(level) };
        let (mut read, mut write) = (read, Label::atomic_write(level));
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
        let waits = mnemonic.take(|text| PTX_BARRIERS.meaning(text));
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

/// The names of the operations of `atom`, or of `red`, which has no compare-exchange.
fn operations(result: bool) -> String {
    let all = AtomicKind::list();
    if result { all } else { all.replacen("exch, cas, ", "", 1).replacen(" or dec", ", dec or exch", 1) }
}

/// The order and scope of a load or store; `None` as the scope of a weak one.
fn access(mnemonic: &mut Mnemonic, allowed: Order, expected: &str) -> Result<(Order, Option<Level>), Wrong> {
    let order = match mnemonic.take(order) {
        None => Order::Weak,
        Some((order @ (Order::Weak | Order::RELAXED | Order::Volatile), _)) => order,
        Some((order, _)) if order == allowed => order,
        Some((_, place)) => return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), expected))),
    };
    let level = mnemonic.take(scope).map(|(level, _)| level);
    mnemonic.finish(&format!("an order: {expected}, or {}", scopes()))?;
    match (order, level) {
        (Order::Weak, _) => Ok((order, None)),
        // 8.4: a volatile operation is treated as a relaxed one of system scope.
        (Order::Volatile, _) => Ok((order, Some(Level::System))),
        (_, Some(level)) => Ok((order, Some(level))),
        (_, None) => mnemonic.missing(&scopes()),
    }
}

fn ptx_fence(mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
    const ORDERS: &str = "an order: sc, acq_rel, acquire or release";
    let (acquires, releases) = match mnemonic.take(order) {
        None => (true, true),
        Some((Order::Weak | Order::RELAXED | Order::Volatile, place)) => {
            return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), ORDERS)));
        }
        Some((Order::Strong { acquires, releases }, _)) => (acquires, releases),
        // It is no mere combination of the two.
        Some((Order::Sc, _)) => (false, false),
    };
    let level = mnemonic.take(scope).map(|(level, _)| level);
    mnemonic.finish(&format!("{ORDERS}, or {}", scopes()))?;
    let Some(level) = level else { return mnemonic.missing(&scopes()) };
    let fence = Label::fence(level);
    Ok(Instruction::Fence(match (acquires, releases) {
        (false, false) => fence.sequentially_consistent(),
        (true, false) => fence.acquiring(),
        (false, true) => fence.releasing(),
        (true, true) => fence.acquiring().releasing(),
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
