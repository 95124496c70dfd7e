//! A kernel as data.
//!
//! The representation is structured and has mutable slots, no SSA: PTX has registers without end and SPIR-V has
//! function variables, and both drivers rebuild SSA themselves. Expressions are pure and total; whatever touches
//! memory, waits, or can fault is a statement and carries its source line.

use std::fmt;

use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::extents::SharedLen;
use crate::fault::Fault;
use crate::layout::ElementLayout;
use crate::message::Message;
use crate::names::intern;
use crate::specialize::DeviceProperty;
use crate::{AtomicOp, BinaryOp, DivOp, Scalar, TernaryOp, Type, UnaryOp, WarpOp};

/// A name in the source. (An alias, since what reads kernels from files would take a written reference for borrowed.)
pub(crate) type Name = &'static str;

/// The greatest number of dimensions of a launch or a view.
pub const MAX_RANK: usize = 4;

/// A place in the user's source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The file, as rustc names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known, as in a module.
    pub column: u32,
}

impl Site {
    /// The place from which the caller was called.
    #[track_caller]
    #[inline]
    pub fn caller() -> Site {
        std::panic::Location::caller().into()
    }
}

impl From<&'static std::panic::Location<'static>> for Site {
    #[inline]
    fn from(at: &'static std::panic::Location<'static>) -> Site {
        Site { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column == 0 { Ok(()) } else { write!(f, ":{}", self.column) }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident $letter:literal),+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the kernel's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    )+};
}

ids! {
    /// An entry of [`Kernel::exprs`].
    ExprId "e",
    /// An entry of [`Kernel::slots`].
    SlotId "s",
    /// An entry of [`Kernel::params`].
    ParamId "p",
    /// An entry of [`Kernel::shared`].
    SharedId "sh",
    /// An entry of [`Kernel::locals`].
    LocalId "a",
    /// A loop or a block that `Break` and `Continue` can name; each is defined once in a kernel.
    Label "l"
}

/// A kernel: what one thread does, given its parameters and its place in the launch.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// The function's name, with its generic arguments where there are any.
    pub name: String,
    /// The source line that defines the function.
    pub site: Site,
    /// The number of dimensions of its launches, from 1 to [`MAX_RANK`].
    pub rank: usize,
    /// Whether a view may have 2³² elements or more: then the extents of the views among its parameters are `u64`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub wide: bool,
    /// Whether the kernel permits to add the sums over its loops in another order, as the host does.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub reassociates: bool,
    /// The parameters, whose arguments the launch gives.
    pub params: Vec<Param>,
    /// The block's shared memory: one copy per block.
    pub shared: Vec<SharedArray>,
    /// The thread's own arrays, and those of constants.
    pub locals: Vec<LocalArray>,
    /// The thread's own scalar variables.
    pub slots: Vec<Slot>,
    /// The expressions; each refers only to earlier ones.
    pub exprs: Vec<Expr>,
    /// The statements that the thread runs.
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// A kernel of this name, defined at `site`, with launches of `rank` dimensions, that has no parameters and does
    /// nothing.
    pub fn new(name: impl Into<String>, site: Site, rank: usize) -> Kernel {
        Kernel {
            name: name.into(),
            site,
            rank,
            wide: false,
            reassociates: false,
            params: Vec::new(),
            shared: Vec::new(),
            locals: Vec::new(),
            slots: Vec::new(),
            exprs: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The bytes of a block's shared arrays together, in a launch that gives this length to those that are sized at
    /// launch.
    pub fn shared_bytes(&self, shared_len: u32) -> u64 {
        let bytes = |array: &SharedArray| u64::from(array.len.in_launch(shared_len)) * array.element.size() as u64;
        self.shared.iter().map(bytes).sum()
    }

    /// The type of the extents of a place: `U64` of a view in a kernel that is wide, else `U32`.
    pub fn extent_type(&self, place: Place) -> Type {
        match place {
            Place::Param(_) if self.wide => Type::U64,
            Place::Param(_) | Place::Shared(_) | Place::Local(_) => Type::U32,
        }
    }
}

/// The name in faults of an array of the thread's own and of a constant table, which have no name in the
/// representation.
pub const LOCAL_ARRAY: &str = "an array of the kernel";

impl Kernel {
    /// The name that the user knows a place by; several arrays of the thread's own have numbers.
    pub fn place_name(&self, place: Place) -> String {
        let name = match place {
            Place::Param(id) => self.params.get(id.index()).map(|param| param.name),
            Place::Shared(id) => self.shared.get(id.index()).map(|array| array.name),
            Place::Local(_) => Some(LOCAL_ARRAY),
        };
        name.map_or_else(|| format!("{place:?}"), str::to_owned)
    }

    /// The way from an element to the number of it that a place is, `.position[2]`; empty where it is all of the element.
    pub fn path(&self, place: Place) -> &'static str {
        let path = match place {
            Place::Param(id) => self.params.get(id.index()).and_then(|param| param.field).map(|field| field.path),
            Place::Shared(id) => self.shared.get(id.index()).and_then(|array| array.field).map(|field| field.path),
            Place::Local(_) => None,
        };
        path.unwrap_or_default()
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Param {
    /// The name in the source.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::name"))]
    pub name: Name,
    /// The kind of argument: a value or a view, with its type.
    pub kind: ParamKind,
    /// The number of the value or of the view's elements that the parameter is; `None` if these have one number.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub field: Option<Field>,
}

/// A number of an element, which a parameter stands for, or an array in shared memory: an element that is an array or a
/// struct has one for each of its numbers, one behind the other. For a kernel each is memory of its own, so that fields
/// are separate; code that passes arguments or addresses finds here where the number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Field<Id = ParamId> {
    /// The parameter or the array of the element's first number. Its extents are those of all.
    pub first: Id,
    /// The number's offset in the element, in bytes.
    pub offset: u32,
    /// The size of an element in bytes: the distance of neighbours.
    pub size: u32,
    /// The way from the element to the number, as it is written behind the element: `.position[2]`.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::name"))]
    pub path: Name,
}

impl<Id> Field<Id> {
    /// The number of this number in elements of this layout; `None` where the element is the number.
    pub fn of(first: Id, layout: &ElementLayout, number: usize) -> Option<Field<Id>> {
        let leaf = layout.numbers().get(number)?;
        let path = leaf.path();
        (!path.is_empty()).then(|| Field { first, offset: leaf.offset, size: layout.size() as u32, path: intern(path) })
    }
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ParamKind {
    /// A value, the same for all threads.
    Scalar(Type),
    /// A view of a buffer.
    View {
        /// How the threads share it.
        access: Access,
        /// The type of its elements.
        element: Type,
        /// The number of its dimensions, from 1 to [`MAX_RANK`].
        rank: usize,
    },
}

/// How the threads of a launch share a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Access {
    /// All threads read, none writes.
    Read,
    /// Each element belongs to one thread.
    PerItem,
    /// Plain accesses, ordered by fences and barriers.
    Shared,
    /// Atomic operations alone.
    Atomic,
}

/// An array in the block's shared memory. Its contents are unspecified when the block starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SharedArray {
    /// The name of the variable that holds it.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::name"))]
    pub name: Name,
    /// The type of its elements.
    pub element: Type,
    /// The number of elements, and the extents in which they are.
    pub len: SharedLen,
    /// Whether the array takes atomic operations alone, or plain accesses alone.
    pub atomic: bool,
    /// The source line that declares the array.
    pub site: Site,
    /// The number of the elements that the array holds; `None` if these have one number.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub field: Option<Field<SharedId>>,
}

/// An array of the thread's own, whose elements are zero when the kernel starts; or one of constants, the same for all
/// threads, to which nothing is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LocalArray {
    /// The type of its elements.
    pub element: Type,
    /// The number of elements.
    pub len: u32,
    /// The elements' bits, of an array of constants.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub constants: Option<Vec<u64>>,
}

impl LocalArray {
    /// An array of the thread's own.
    pub fn new(element: Type, len: u32) -> LocalArray {
        LocalArray { element, len, constants: None }
    }
}

/// A scalar variable of the thread's own. It is zero when the kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Slot {
    /// The type of its value.
    pub ty: Type,
    /// The name in the source; `None` for a temporary.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serial::optional_name"))]
    pub name: Option<Name>,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Const {
    /// The constant's type.
    pub ty: Type,
    /// The constant's bits, in the low end ([`Scalar::to_raw`]).
    pub raw: u64,
}

impl Const {
    /// The constant of a value.
    pub fn of<T: Scalar>(value: T) -> Const {
        Const { ty: T::TYPE, raw: value.to_raw() }
    }
}

/// An expression: pure, and defined for all operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Expr {
    /// A constant.
    Const(Const),
    /// The value that the slot has where the expression is used.
    Slot(SlotId),
    /// A scalar parameter.
    Param(ParamId),
    /// A place's extent in one dimension, in elements; of the type [`Kernel::extent_type`].
    Extent(Place, u8),
    /// The thread's place in the launch, or the launch's shape, in one dimension; `u32`.
    Builtin(Builtin, u8),
    /// An operation with one operand.
    Unary(UnaryOp, ExprId),
    /// An operation with two operands.
    Binary(BinaryOp, ExprId, ExprId),
    /// An operation with three operands.
    Ternary(TernaryOp, ExprId, ExprId, ExprId),
    /// The second operand where the first holds, else the third; both are evaluated.
    Select(ExprId, ExprId, ExprId),
    /// Conversion to another type, as Rust's `as` does it.
    Cast(Type, ExprId),
    /// Reinterpretation of the operand's bits as another type of the same size.
    Bits(Type, ExprId),
}

/// What a thread knows of its place. Dimension 0 varies slowest, as in the index of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Builtin {
    /// The thread's index in its block.
    ThreadInBlock,
    /// The block's index in the grid.
    BlockInGrid,
    /// Threads per block.
    BlockExtent,
    /// Blocks in the grid.
    GridExtent,
    /// Frames of the launch: of a `FrameSpec`; for a `ThreadSpec` the same as `GridExtent`.
    FrameCount,
    /// Extent of a frame: of a `FrameSpec`; for a `ThreadSpec` the same as `BlockExtent`.
    FrameExtent,
    /// Lanes of a warp, a power of two; the last warp of a block may have fewer threads. In dimension 0 alone.
    WarpSize,
    /// The thread's lane in its warp. In dimension 0 alone.
    Lane,
    /// What the device is, which is a constant when the kernel is built for it. In dimension 0 alone.
    Device(DeviceProperty),
    /// The warp's number in its block: warps are formed of threads whose row-major numbers are consecutive. In
    /// dimension 0 alone.
    WarpInBlock,
}

/// Memory that an access can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Place {
    /// A view among the parameters.
    Param(ParamId),
    /// An array in the block's shared memory.
    Shared(SharedId),
    /// An array of the thread's own.
    Local(LocalId),
}

/// An index: one expression for each dimension of the place, dimension 0 first; each a `u32` or `u64`.
pub type Index = Vec<ExprId>;

/// A statement.
///
/// An access whose index is out of bounds is skipped, a load then gives 0, and the thread goes on; the launch's
/// first fault is kept. Sequentially consistent atomics do not occur: the builder has made each a fence and a
/// weaker operation.
///
/// The fields mean the same everywhere: `dst` is the slot that gets the result, `place` and `index` say which element,
/// `order` and `scope` how it is ordered, `site` is the source line.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs, reason = "the fields are documented on the enumeration")]
pub enum Stmt {
    /// Sets a slot.
    Assign { slot: SlotId, value: ExprId },
    /// Divides integers; a divisor of zero is a fault and gives 0.
    Divide { dst: SlotId, op: DivOp, left: ExprId, right: ExprId, site: Site },
    /// A plain load.
    Load { dst: SlotId, place: Place, index: Index, site: Site },
    /// A plain load of consecutive elements of a one-dimensional place into the whole of an array, under one check.
    LoadLanes { dst: LocalId, place: Place, index: ExprId, site: Site },
    /// A plain store.
    Store { place: Place, index: Index, value: ExprId, site: Site },
    /// A plain store of consecutive elements of a one-dimensional place, one for each value, under one check.
    StoreLanes { place: Place, index: ExprId, values: Vec<ExprId>, site: Site },
    /// An atomic load.
    AtomicLoad { dst: SlotId, place: Place, index: Index, order: ReadOrder, scope: Scope, site: Site },
    /// An atomic store.
    AtomicStore { place: Place, index: Index, value: ExprId, order: WriteOrder, scope: Scope, site: Site },
    /// An atomic read-modify-write; `dst` gets the old value.
    AtomicUpdate {
        dst: SlotId,
        op: AtomicOp,
        place: Place,
        index: Index,
        operand: ExprId,
        order: UpdateOrder,
        scope: Scope,
        site: Site,
    },
    /// Stores `desired` where the place holds `expected`; `dst` gets the old value. A failed exchange is a read.
    CompareExchange {
        dst: SlotId,
        place: Place,
        index: Index,
        expected: ExprId,
        desired: ExprId,
        order: UpdateOrder,
        scope: Scope,
        site: Site,
    },
    /// A fence.
    Fence { order: FenceOrder, scope: Scope, site: Site },
    /// The block's barrier: all threads of the block reach it, and it orders block and global memory among them.
    Barrier { site: Site },
    /// An operation of the warp: all its lanes reach the same statement in the same iterations of the loops around it,
    /// and each gets its result. It orders no memory.
    Warp { dst: SlotId, op: WarpOp, value: ExprId, operand: Option<ExprId>, site: Site },
    /// The warp's barrier: all its lanes reach it, and it orders block and global memory among them.
    WarpBarrier { site: Site },
    /// Does `then` where the condition holds, else `otherwise`.
    If { condition: ExprId, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// Repeats `body` and `continuing` until a `Break`. `Continue` goes to `continuing`, which holds neither.
    Loop {
        label: Label,
        body: Vec<Stmt>,
        continuing: Vec<Stmt>,
        /// Whether the number of iterations is fixed when the loop is entered. One that is not polls the launch's
        /// stop flag on its back edge.
        bounded: bool,
        site: Site,
    },
    /// Does `body`; a `Break` with its label goes to its end.
    Block { label: Label, body: Vec<Stmt> },
    /// Leaves the loop or block.
    Break(Label),
    /// Goes to the loop's `continuing`.
    Continue(Label),
    /// Ends the thread.
    Return,
    /// A fault with this message where the condition does not hold; the thread goes on.
    Assert { condition: ExprId, message: Message, site: Site },
    /// A line in the launch's log ([`crate::printing`]). It is no access to the threads' memory: what threads print
    /// orders nothing.
    Print { message: Message, site: Site },
    /// Reads the clock: `dst`, of type `u64`, gets its ticks, which never decrease from one read of a thread to its
    /// next.
    Clock { dst: SlotId, site: Site },
    /// A fault, with the index that was out of bounds if it is one; the thread goes on. Kernels have it that were
    /// [legalized](crate::legalize()) alone, whose accesses and divisions do not fail.
    Fault { fault: Fault, index: Index, site: Site },
}
