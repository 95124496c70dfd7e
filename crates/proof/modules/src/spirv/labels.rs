//! Accesses, fences and barriers in the terms of the memory models (Vulkan 1.4, appendix "Memory Model"; SPIR-V
//! specification, 3.26 "Memory Semantics", 3.27 "Memory Operands", 3.28 "Scope").
//!
//! A module with the GLSL450 memory model means what SPIRV-Tools' `--upgrade-memory-model` makes of it: accesses of
//! variables that are `Coherent`, and of workgroup memory, are non-private and make their location available or
//! visible, and releases and acquires are of what they apply to. Where the language that it was compiled from promises
//! more, accesses of buffers are so within a workgroup
//! ([`Spirv::orders_buffers_within_groups`](super::Spirv::orders_buffers_within_groups)).
//!
//! In the OpenCL environment, whose model is that of C11 with scopes and a happens-before of its own for each of global
//! and local memory (OpenCL C 3.0, 6.15.12; OpenCL API 3.0, 3.3.6), every plain access is non-private, a release makes
//! everything before it available and an acquire everything behind it visible, in the memory that its flags name.

use rspirv::spirv::{MemoryAccess, MemoryModel, MemorySemantics, StorageClass};
use wattle_memory::{Classes, Kind, Label, Level};

use crate::types::Space;

/// The class of the model for outputs, which a compute shader has only in a test's hands.
const OUTPUT: Classes = Classes(4);

/// The address space of a storage class, and its class in the model.
pub fn space(class: StorageClass, model: MemoryModel) -> Option<(Space, Classes)> {
    Some(match class {
        // Images and samplers, where it is not OpenCL's constant memory.
        StorageClass::UniformConstant if model != MemoryModel::OpenCL => return None,
        StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::CrossWorkgroup => {
            (Space::Global, Classes::BUFFER)
        }
        StorageClass::Output => (Space::Global, OUTPUT),
        StorageClass::Workgroup => (Space::Shared, Classes::BLOCK),
        StorageClass::Private | StorageClass::Function | StorageClass::Input => (Space::Local, Classes::NONE),
        StorageClass::PushConstant => (Space::Param, Classes::NONE),
        // What it points to shows while it runs, and so does the class; constant memory is a buffer, or each thread's
        // own.
        StorageClass::Generic | StorageClass::UniformConstant => (Space::Generic, Classes::NONE),
        _ => return None,
    })
}

/// The level of a scope.
pub fn level(scope: u64) -> Option<Level> {
    Some(match scope {
        0 => Level::System,
        1 => Level::Device,
        2 => Level::Block,
        3 => Level::Subgroup,
        4 => Level::Thread,
        5 => Level::QueueFamily,
        _ => return None,
    })
}

/// The memory semantics of an operation (SPIR-V 1.6, "Memory Semantics").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semantics {
    /// Whether the operation acquires.
    pub acquire: bool,
    /// Whether the operation releases.
    pub release: bool,
    /// The memory that they order.
    pub classes: Classes,
    makes_available: bool,
    makes_visible: bool,
    is_opencl: bool,
    /// Whether they say more than that they acquire and release: OpenCL's sequentially consistent operations have one
    /// order.
    pub sequential: bool,
}

impl Semantics {
    /// The semantics of these bits; `None` for bits that this reader does not know. Vulkan's sequentially consistent
    /// semantics are those that acquire and release.
    pub fn of(bits: u64, model: MemoryModel) -> Option<Semantics> {
        let bits = MemorySemantics::from_bits(u32::try_from(bits).ok()?)?;
        let has = |wanted: MemorySemantics| bits.intersects(wanted);
        let both = has(MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::SEQUENTIALLY_CONSISTENT);
        let (acquire, release) = (has(MemorySemantics::ACQUIRE) || both, has(MemorySemantics::RELEASE) || both);
        let mut classes = Classes::NONE;
        for (wanted, class) in [
            (MemorySemantics::UNIFORM_MEMORY | MemorySemantics::CROSS_WORKGROUP_MEMORY, Classes::BUFFER),
            (MemorySemantics::WORKGROUP_MEMORY, Classes::BLOCK),
            (MemorySemantics::OUTPUT_MEMORY, OUTPUT),
        ] {
            classes.0 |= if has(wanted) { class.0 } else { 0 };
        }
        let is_implied = model != MemoryModel::Vulkan;
        Some(Semantics {
            acquire,
            release,
            classes,
            makes_available: release && (is_implied || has(MemorySemantics::MAKE_AVAILABLE)),
            makes_visible: acquire && (is_implied || has(MemorySemantics::MAKE_VISIBLE)),
            is_opencl: model == MemoryModel::OpenCL,
            sequential: model == MemoryModel::OpenCL && has(MemorySemantics::SEQUENTIALLY_CONSISTENT),
        })
    }

    /// Whether the semantics order anything: they acquire or release.
    pub fn order(&self) -> bool {
        self.acquire || self.release
    }

    /// Whether what these order is among what others order.
    pub fn acquire_no_more_than(&self, other: &Semantics) -> bool {
        !self.acquire
            || other.acquire && other.classes.includes(self.classes) && (other.makes_visible || !self.makes_visible)
    }

    /// A label with the acquiring or the releasing half of them, or both.
    fn on(&self, label: Label, acquire: bool, release: bool) -> Label {
        let (acquire, release) = (acquire && self.acquire, release && self.release);
        Label {
            acquire,
            release,
            semantics: if acquire || release { self.classes } else { Classes::NONE },
            makes_available: release && self.makes_available,
            makes_visible: acquire && self.makes_visible,
            ..label
        }
    }

    /// A fence with both halves, or with one of them.
    pub fn fence(&self, level: Level, acquire: bool, release: bool) -> Label {
        self.on(Label::fence(level), acquire, release)
    }

    /// The labels of an atomic operation's read and write. One in the OpenCL environment that names no memory orders
    /// that of its own object (OpenCL API 3.0, 3.3.6.3: global-synchronizes-with is of global objects, and local- of
    /// local ones).
    pub fn atomic(&self, level: Level, storage: Classes) -> [Label; 2] {
        let is_silent = self.is_opencl && self.classes == Classes::NONE;
        let named = Semantics { classes: if is_silent { storage } else { self.classes }, ..*self };
        named.labels(level, storage)
    }

    fn labels(&self, level: Level, storage: Classes) -> [Label; 2] {
        let read = Label { coherent: true, ..Label::atomic_read(level).of(storage) };
        [self.on(read, true, false), self.on(Label { kind: Kind::Write, ..read }, false, true)]
    }
}

/// The memory operands of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Whether the access is non-private.
    pub non_private: bool,
    /// The scope of its availability operation.
    pub available: Option<Level>,
    /// The scope of its visibility operation.
    pub visible: Option<Level>,
}

impl Operands {
    /// What an older memory model makes of accesses of a class, to a variable that is `Coherent` or not;
    /// `within_groups` where the language promises that all buffers are ordered within workgroups.
    pub fn implied(model: MemoryModel, class: StorageClass, coherent: bool, within_groups: bool) -> Operands {
        let level = match (model, class) {
            (MemoryModel::GLSL450, StorageClass::Workgroup) => Some(Level::Block),
            (MemoryModel::GLSL450, _) if coherent => Some(Level::QueueFamily),
            (MemoryModel::GLSL450, StorageClass::StorageBuffer | StorageClass::Uniform) if within_groups => {
                Some(Level::Block)
            }
            _ => None,
        };
        let non_private = level.is_some() || model == MemoryModel::OpenCL;
        Operands { non_private, available: level, visible: level }
    }

    /// Reads memory operands: the mask, and the words behind it; returns how many those are.
    pub fn read(self, words: &[u32], scope: impl Fn(u32) -> Option<Level>) -> Option<(Operands, usize)> {
        let mut operands = self;
        let Some(&mask) = words.first() else { return Some((operands, 0)) };
        let mask = MemoryAccess::from_bits(mask)?;
        let mut taken = 1;
        let mut next = |has: MemoryAccess| {
            mask.contains(has).then(|| {
                taken += 1;
                words.get(taken - 1).copied().unwrap_or(0)
            })
        };
        next(MemoryAccess::ALIGNED);
        if let Some(of) = next(MemoryAccess::MAKE_POINTER_AVAILABLE) {
            operands.available = Some(scope(of)?);
        }
        if let Some(of) = next(MemoryAccess::MAKE_POINTER_VISIBLE) {
            operands.visible = Some(scope(of)?);
        }
        operands.non_private |= mask.contains(MemoryAccess::NON_PRIVATE_POINTER);
        Some((operands, taken))
    }

    /// The labels of a plain read and a plain write.
    pub fn labels(&self, storage: Classes) -> [Label; 2] {
        let label = |kind, level: Option<Level>| Label {
            kind,
            level: level.unwrap_or(Level::Thread),
            coherent: level.is_some(),
            private: !self.non_private && level.is_none(),
            ..Label::plain_read().of(storage)
        };
        [label(Kind::Read, self.visible), label(Kind::Write, self.available)]
    }
}
