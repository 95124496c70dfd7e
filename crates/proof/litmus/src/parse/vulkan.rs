//! Parses Vulkan's memory instructions, after Khronos' formal model (Vulkan-MemoryModel, `alloy`): a mnemonic is a set
//! of flags. Atomics have an availability (write) or visibility (read) operation of their own, and whatever is atomic,
//! available or visible is non-private; other accesses are private unless they say `nonpriv`.

use wattle_ir::AtomicOp;
use wattle_memory::{Classes, Kind, Label, Level, ThreadId};

use super::Parser;
use super::instruction::{Loaded, Mnemonic};
use crate::error::{Place, Problem, Wrong};
use crate::program::Instruction;
use crate::words::{AtomicKind, CLASSES, Head, VULKAN_HEADS, VULKAN_ORDERS, VULKAN_SCOPES};

fn scopes() -> String {
    format!("a scope: {}", VULKAN_SCOPES.list())
}

fn storage_classes() -> String {
    format!("a storage class: {}", CLASSES.list())
}

fn class(text: &str) -> Option<Classes> {
    CLASSES.meaning(text)
}

fn semantic_class(text: &str) -> Option<Classes> {
    match text {
        "semsc01" => Some(Classes(3)),
        _ => class(text.strip_prefix("sem")?),
    }
}

/// The flags that every mnemonic may have.
struct Flags {
    acquire: Option<Place>,
    release: Option<Place>,
    level: Option<Level>,
    semantics: Classes,
    makes_available: bool,
    makes_visible: bool,
}

impl Flags {
    fn take(mnemonic: &mut Mnemonic) -> Result<Flags, Wrong> {
        let (mut acquire, mut release) = (None, None);
        while let Some(((acquires, releases), place)) = mnemonic.take(|text| {
            VULKAN_ORDERS.meaning(text).filter(|(a, r)| !(*a && acquire.is_some() || *r && release.is_some()))
        }) {
            acquire = acquire.or(acquires.then_some(place));
            release = release.or(releases.then_some(place));
        }
        let level = mnemonic.take(|text| VULKAN_SCOPES.meaning(text)).map(|(level, _)| level);
        let mut semantics = Classes::NONE;
        while let Some((classes, _)) =
            mnemonic.take(|text| semantic_class(text).filter(|classes| classes.0 & semantics.0 == 0))
        {
            semantics.0 |= classes.0;
        }
        let (available, visible) = (mnemonic.has("semav"), mnemonic.has("semvis"));
        for (semantic, name, order, needs) in [
            (available, "semav", release, "`rel` or `acq_rel` with it"),
            (visible, "semvis", acquire, "`acq` or `acq_rel` with it"),
        ] {
            if let (Some(place), None) = (semantic, order) {
                return Err((place, Problem::unexpected(format!("`.{name}` in `{}`", mnemonic.whole), needs)));
            }
        }
        let (makes_available, makes_visible) = (available.is_some(), visible.is_some());
        Ok(Flags { acquire, release, level, semantics, makes_available, makes_visible })
    }

    /// A label with acquire and release as requested.
    fn ordered(&self, label: Label, acquire: bool, release: bool) -> Label {
        Label {
            acquire,
            release,
            semantics: if acquire || release { self.semantics } else { Classes::NONE },
            makes_available: release && self.makes_available,
            makes_visible: acquire && self.makes_visible,
            ..label
        }
    }
}

impl Parser<'_> {
    pub(super) fn vulkan(&mut self, thread: ThreadId, mut mnemonic: Mnemonic) -> Result<Instruction, Wrong> {
        let of_device = |mnemonic: &Mnemonic, kind| {
            mnemonic.finish("no modifier")?;
            Ok(Instruction::Fence(Label { kind, ..Label::fence(Level::Device) }))
        };
        match VULKAN_HEADS.meaning(&mnemonic.head) {
            Some(Head::Load) => self.vulkan_load(thread, &mut mnemonic),
            Some(Head::Store) => self.vulkan_store(thread, &mut mnemonic),
            Some(Head::Update) => self.vulkan_update(thread, &mut mnemonic),
            Some(Head::Fence) => vulkan_fence(&mut mnemonic),
            Some(Head::Barrier) => self.vulkan_barrier(thread, &mut mnemonic),
            Some(Head::MakeAvailable) => of_device(&mnemonic, Kind::MakeAvailable),
            Some(Head::MakeVisible) => of_device(&mnemonic, Kind::MakeVisible),
            Some(Head::Reduce | Head::OldFence) | None => mnemonic.missing(
                "an instruction: ld, st, rmw, membar, cbar, avdevice, visdevice, mov, arithmetic (add, sub, …), a \
                 branch (beq, bne, …) or goto",
            ),
        }
    }

    fn vulkan_load(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let flags = Flags::take(mnemonic)?;
        let access = access(mnemonic, &flags, Kind::Read, "vis")?;
        let (to, from) = self.load_operands(thread)?;
        let from = match from {
            Loaded::Value(value) => return Ok(Instruction::Move { to, value }),
            Loaded::Memory(from) => from,
        };
        let Some(label) = access else { return mnemonic.missing(&storage_classes()) };
        if let (Some(place), None) = (flags.release, flags.acquire) {
            return Err((
                place,
                Problem::unexpected(format!("`{}`", mnemonic.whole), "a load that acquires or does not order"),
            ));
        }
        Ok(Instruction::Load { to, from, label: flags.ordered(label, flags.acquire.is_some(), false) })
    }

    fn vulkan_store(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let flags = Flags::take(mnemonic)?;
        let Some(label) = access(mnemonic, &flags, Kind::Write, "av")? else {
            return mnemonic.missing(&storage_classes());
        };
        if let (Some(place), None) = (flags.acquire, flags.release) {
            return Err((
                place,
                Problem::unexpected(format!("`{}`", mnemonic.whole), "a store that releases or does not order"),
            ));
        }
        let to = self.location(thread)?;
        self.comma()?;
        let value = self.operand(thread)?;
        Ok(Instruction::Store { to, value, label: flags.ordered(label, false, flags.release.is_some()) })
    }

    fn vulkan_update(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let flags = Flags::take(mnemonic)?;
        for implied in ["atom", "av", "vis", "nonpriv"] {
            mnemonic.has(implied);
        }
        let storage = mnemonic.take(class);
        let kind = mnemonic.atomic().unwrap_or(AtomicKind::Apply(AtomicOp::Exchange));
        mnemonic.finish(&format!(
            "an order: {}, a scope, a storage class, semantics (semsc0 to semsc3, semav, semvis), or an operation: {}",
            VULKAN_ORDERS.list(),
            AtomicKind::list(),
        ))?;
        let Some((storage, _)) = storage else { return mnemonic.missing(&storage_classes()) };
        let Some(level) = flags.level else { return mnemonic.missing(&scopes()) };
        let updated = self.update_operands(thread, kind)?;
        let half = Label { coherent: true, ..Label::atomic_read(level).of(storage) };
        let read = flags.ordered(half, flags.acquire.is_some(), false);
        let write = flags.ordered(Label { kind: Kind::Write, ..half }, false, flags.release.is_some());
        Ok(Instruction::Update { result: updated.result, at: updated.at, update: updated.update, read, write })
    }

    fn vulkan_barrier(&mut self, thread: ThreadId, mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
        let mut label = fence(mnemonic)?;
        label.kind = Kind::Barrier;
        let operands = self.barrier_operands(thread)?;
        Ok(Instruction::Barrier {
            instance: operands.instance,
            resource: operands.resource,
            quorum: operands.quorum,
            waits: true,
            label,
        })
    }
}

/// The label of a load or store before ordering; `None` if no storage class is named.
fn access(mnemonic: &mut Mnemonic, flags: &Flags, kind: Kind, coherence: &str) -> Result<Option<Label>, Wrong> {
    let atomic = mnemonic.has("atom").is_some();
    let coherent = mnemonic.has(coherence).is_some() || atomic;
    let storage = mnemonic.take(class);
    let non_private = mnemonic.has("nonpriv").is_some();
    let private = mnemonic.has("priv");
    mnemonic.finish(&format!(
        "`atom`, `{coherence}`, `nonpriv` or `priv`, an order, one scope, one storage class, or semantics (semsc0 to \
         semsc3, semav, semvis)"
    ))?;
    if let (Some(place), true) = (private, non_private || coherent) {
        let found = format!("`.priv` in `{}`", mnemonic.whole);
        return Err((
            place,
            Problem::unexpected(found, "nothing of the kind: what is atomic or coherent is not private"),
        ));
    }
    if atomic && flags.level.is_none() {
        return mnemonic.missing(&scopes());
    }
    if let (Some(place), false) = (flags.acquire.or(flags.release), atomic) {
        return Err((place, Problem::unexpected(format!("`{}`", mnemonic.whole), "`atom`, as only atomics order")));
    }
    // A plain access has a scope only for its availability or visibility operation; without a stated scope that
    // operation reaches its subgroup.
    let level = match flags.level {
        Some(level) if coherent => level,
        None if coherent => Level::Subgroup,
        _ => Level::Thread,
    };
    let plain = Label { kind, atomic, level, coherent, private: !(coherent || non_private), ..Label::plain_read() };
    Ok(storage.map(|(storage, _)| plain.of(storage)))
}

fn fence(mnemonic: &mut Mnemonic) -> Result<Label, Wrong> {
    let flags = Flags::take(mnemonic)?;
    mnemonic.finish("an order: acq, rel or acq_rel, a scope, or semantics (semsc0 to semsc3, semav, semvis)")?;
    let Some(level) = flags.level else { return mnemonic.missing(&scopes()) };
    Ok(flags.ordered(Label::fence(level), flags.acquire.is_some(), flags.release.is_some()))
}

fn vulkan_fence(mnemonic: &mut Mnemonic) -> Result<Instruction, Wrong> {
    Ok(Instruction::Fence(fence(mnemonic)?))
}
