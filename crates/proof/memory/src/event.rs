//! Events: the actions of threads on memory, as the models see them.

use crate::Level;

/// The number of an event in its graph.
pub type EventId = usize;
/// The number of a thread in its graph.
pub type ThreadId = usize;
/// The number of a memory location in its graph.
pub type LocationId = usize;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A read; the first half of a read-modify-write too.
    Read,
    /// A write; the second half of a read-modify-write too.
    Write,
    /// A memory fence.
    Fence,
    /// An arrival at a control barrier. One that acquires or releases is also a fence.
    Barrier,
    /// Vulkan's availability operation to the device domain, done outside of any kernel.
    MakeAvailable,
    /// Vulkan's visibility operation to the device domain, done outside of any kernel.
    MakeVisible,
}

/// Storage classes, as bits; storage buffers are the first, block shared memory the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Classes(pub u8);

impl Classes {
    /// The empty set of classes.
    pub const NONE: Classes = Classes(0);
    /// Storage buffers.
    pub const BUFFER: Classes = Classes(1);
    /// Block shared memory.
    pub const BLOCK: Classes = Classes(2);
    /// Storage buffers and block shared memory.
    pub const BOTH: Classes = Classes(3);

    /// Whether every class of `other` is here.
    pub fn includes(self, other: Classes) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Everything that a model may use of an event, except its location, value and place in the graph.
///
/// A model ignores properties that it does not have: PTX has no storage classes, C++ no scopes. [`Label::plain_read`]
/// and similar functions set everything that they do not name to a neutral value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The kind of the event.
    pub kind: Kind,
    /// Whether an access is atomic (PTX: strong).
    pub atomic: bool,
    /// Whether it is an acquire operation.
    pub acquire: bool,
    /// Whether it is a release operation.
    pub release: bool,
    /// Whether a fence is sequentially consistent. Such a fence acquires and releases too.
    pub sc: bool,
    /// The scope; of a plain access of Vulkan's the domain of its availability or visibility operation.
    pub level: Level,
    /// The class of the memory that an access touches.
    pub storage: Classes,
    /// The storage classes to which a fence, or an acquire or release, applies.
    pub semantics: Classes,
    /// Whether an access is Vulkan's private one, which takes no part in ordering between threads.
    pub private: bool,
    /// Whether an access has an availability (write) or visibility (read) operation of its own.
    pub coherent: bool,
    /// Whether a release makes writes available (`MakeAvailable`).
    pub makes_available: bool,
    /// Whether an acquire makes writes visible (`MakeVisible`).
    pub makes_visible: bool,
    /// Whether a write leaves a value that nobody has written: the initial one of memory without contents, or one that
    /// was copied from there along with others, as padding is.
    pub unwritten: bool,
    /// Whether it is the read of PTX's `red`, whose thread is given no value: it begins no acquire pattern (PTX ISA
    /// 8.5, 8.8).
    pub reduces: bool,
}

impl Label {
    /// A plain read of a buffer.
    pub const fn plain_read() -> Label {
        Label {
            kind: Kind::Read,
            atomic: false,
            acquire: false,
            release: false,
            sc: false,
            level: Level::Thread,
            storage: Classes::BUFFER,
            semantics: Classes::NONE,
            private: false,
            coherent: false,
            makes_available: false,
            makes_visible: false,
            unwritten: false,
            reduces: false,
        }
    }

    /// A plain write of a buffer.
    pub const fn plain_write() -> Label {
        Label { kind: Kind::Write, ..Label::plain_read() }
    }

    /// A relaxed atomic read of a buffer, with the given scope.
    pub const fn atomic_read(level: Level) -> Label {
        Label { atomic: true, level, ..Label::plain_read() }
    }

    /// A relaxed atomic write of a buffer, with the given scope.
    pub const fn atomic_write(level: Level) -> Label {
        Label { atomic: true, level, ..Label::plain_write() }
    }

    /// A fence that orders nothing yet.
    pub const fn fence(level: Level) -> Label {
        Label { kind: Kind::Fence, level, storage: Classes::NONE, ..Label::plain_read() }
    }

    /// The block's barrier, ordering all memory among the threads of the block.
    pub const fn barrier(level: Level) -> Label {
        Label { kind: Kind::Barrier, ..Label::fence(level).acquiring().releasing() }
    }

    /// The label, made to acquire all classes and make them visible.
    pub const fn acquiring(self) -> Label {
        Label { acquire: true, semantics: Classes::BOTH, makes_visible: true, ..self }
    }

    /// The label, made to release all classes and make them available.
    pub const fn releasing(self) -> Label {
        Label { release: true, semantics: Classes::BOTH, makes_available: true, ..self }
    }

    /// The label, made sequentially consistent; it acquires and releases.
    pub const fn sequentially_consistent(self) -> Label {
        Label { sc: true, ..self.acquiring().releasing() }
    }

    /// The label, moved to a class of memory.
    pub const fn of(self, storage: Classes) -> Label {
        Label { storage, ..self }
    }

    /// Whether the event reads or writes.
    pub fn is_access(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Write)
    }
}

/// An event of an execution: an access, a fence, a barrier or an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The label of the event.
    pub label: Label,
    /// The thread of the event; `None` for the initial value of a location.
    pub thread: Option<ThreadId>,
    /// The location that an access touches; `None` while its address waits for a read.
    pub location: Option<LocationId>,
    /// The variable through which the access goes: Vulkan's "reference". Accesses of one location by different names
    /// have different ones.
    pub reference: u32,
    /// The value read or written; `None` while it is not known.
    pub value: Option<u64>,
    /// The statement that it comes from, by a number that the graph's creator assigns.
    pub source: u32,
}
