//! What memory and arrays hold: numbers, arrays and structs of these, while a kernel is built.
//!
//! A view of elements with several numbers is a place for each of the numbers, one behind the other: so each field is a
//! location of its own for everyone who looks at the kernel. Of an array of the thread's own, each number of a struct
//! is an array, and an array of arrays is one array of all their numbers. The index of a row is checked where the row
//! is taken: what is read from a row that does not exist is 0, and what is written to it is dropped.

use super::{Array, Builder, Val, Variable};
use crate::{
    ByValue, Const, ElementLayout, Expr, ExprId, KernelType, KernelValue, LocalId, Place, Scalar, Site, Stmt, Type,
};

/// What memory can hold: a number, a `bool`, an array `[T; N]` of elements, or a struct of elements with
/// `#[derive(Element)]`.
///
/// Buffers and views are of elements; kernels have them as parameters and variables, and device functions take and
/// return them. An element has at most 32 numbers, truth values counted. Every bit pattern of a number is a value. A
/// `bool` is one byte: kernels write 0 or 1 and take every other one than 0 for `true`, and so do copies to the host,
/// so that a byte of memory that nobody has written to never becomes a `bool` that is neither.
///
/// ```ignore
/// use wattle::prelude::*;
///
/// /// What CUDA calls a `float4`, with names.
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Body {
///     position: [f32; 3],
///     mass: f32,
/// }
///
/// /// Moves each body by one step.
/// #[kernel]
/// fn fall(acc: &Acc, bodies: PerItem<Body>, speeds: Read<[f32; 3]>, step: f32) {
///     for (i, body) in acc.items(&mut bodies) {
///         let speed = speeds[i];
///         for d in 0..3 {
///             body.position[d] += speed[d] * step;
///         }
///     }
/// }
/// # fn main() -> Result<()> {
/// let device = Device::host();
/// let queue = device.queue()?;
/// let body = Body { position: [0.0, 0.0, 2.0], mass: 1.0 };
/// let mut bodies = device.from_slice(&[body; 10])?;
/// let speeds = device.from_slice(&[[0.0, 0.0, -1.0f32]; 10])?;
/// queue.launch(FrameSpec::cover(10, 4), fall(&mut bodies, &speeds, 0.5))?;
/// assert_eq!(bodies.read(&queue)?[9], Body { position: [0.0, 0.0, 1.5], ..body });
/// # Ok(())
/// # }
/// ```
///
/// A struct is `#[repr(C)]`, `Clone` and `Copy`, and has no padding: every byte belongs to a number. Each field is a
/// location of its own: `bodies[i].mass = x` on a `Shared` view touches no other field, and the race detectors and the
/// checker look at each by itself. A struct of padding is refused with the field before which it is.
///
/// On GPUs an element of 8 or 16 bytes is read and written at once (in CUDA's words: `float2`, `float4`, `LDG.E.128`),
/// larger ones by 16 bytes where their size is a multiple of it; nothing has to be said about alignment for it.
///
/// Numbers of 8 and 16 bits, and `bool`, need a device whose memory has them. Every host and CUDA device does; a Vulkan
/// device that lacks `storageBuffer8BitAccess` or `storageBuffer16BitAccess` refuses a launch with them before anything
/// is built for it. They are not kept in the 32-bit words around, since a store would then write to the bytes of
/// neighbours that other threads, launches and copies own.
///
/// Atomic operations are on single numbers ([`AtomicScalar`](crate::AtomicScalar)). Arithmetic is what
/// [`Number`](crate::Number) has; arrays of equal length are added, subtracted, multiplied and divided element by
/// element.
///
/// # Safety
/// `LAYOUT` is the layout of the type: its numbers are at their offsets and fill it, so that every bit pattern whose
/// bytes of truth values are 0 or 1 is a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of kernels' memory",
    note = "elements are bool, the numbers that `wattle::prelude::Number` lists, arrays of elements, and structs of elements \
            with `#[derive(Clone, Copy, Element)] #[repr(C)]`"
)]
#[doc(alias("float2", "float4"))]
pub unsafe trait Element:
    KernelValue + ByValue + for<'b> KernelType<Built<'b>: OfElement<'b, Element = Self>>
{
    /// The numbers that it is made of.
    const LAYOUT: &'static ElementLayout;
    /// The expressions of its numbers.
    #[doc(hidden)]
    type Ids: Copy;
    /// The memory of an array of the thread's own: a handle for each number of an element.
    #[doc(hidden)]
    type Memory: Copy;
    /// The fields of an element that is a struct: for each, what the family has for its type.
    #[doc(hidden)]
    type Fields<F: Family>;
    #[doc(hidden)]
    fn ids(value: Self::Built<'_>) -> Self::Ids;
    #[doc(hidden)]
    fn of_ids<'b>(builder: &'b Builder, ids: Self::Ids) -> Self::Built<'b>;
    /// Visits the expressions, in the order of the numbers.
    #[doc(hidden)]
    fn visit(ids: Self::Ids, visit: &mut dyn FnMut(ExprId));
    /// The expressions that `make` gives, in the order of the numbers.
    #[doc(hidden)]
    fn make(make: &mut dyn FnMut(Type) -> ExprId) -> Self::Ids;
    /// The bits of a constant's numbers, appended.
    #[doc(hidden)]
    fn raw(&self, to: &mut Vec<u64>);
    /// What stands for a constant.
    #[doc(hidden)]
    fn constant(self, builder: &Builder) -> Self::Built<'_> {
        Self::of_ids(builder, constant_ids::<Self>(builder, &self))
    }
    /// Arrays of the thread's own for `count` elements.
    #[doc(hidden)]
    fn declare(builder: &Builder, count: usize) -> Self::Memory;
    /// Declares arrays of constants, one for each number of these elements.
    #[doc(hidden)]
    fn declare_constants(builder: &Builder, constants: &[Self]) -> Self::Memory;
    /// Arrays of the thread's own with these elements, which nobody writes to: of constants where all of them are.
    #[doc(hidden)]
    fn declare_ids(builder: &Builder, elements: &[Self::Ids], site: Site) -> Self::Memory;
    /// The memory of what is `index` elements behind, which exists only where the condition holds.
    #[doc(hidden)]
    fn behind(memory: Self::Memory, builder: &Builder, index: Val<'_, u32>, exists: Option<ExprId>) -> Self::Memory;
    /// A part of the memory, which stands for all of it.
    #[doc(hidden)]
    fn first(memory: Self::Memory) -> Memory;
    /// Whether an access to the memory of a number checks an index below `count` by itself.
    #[doc(hidden)]
    fn checks_itself(_memory: Self::Memory, _builder: &Builder, _count: usize) -> bool {
        false
    }
    /// The element that begins at `memory`: numbers are loaded, arrays stay where they are.
    #[doc(hidden)]
    fn read<'b>(builder: &'b Builder, memory: Self::Memory, site: Site) -> Self::Built<'b>;
    #[doc(hidden)]
    fn write<'b>(builder: &'b Builder, memory: Self::Memory, value: Self::Built<'b>, site: Site);
    /// The fields of a place.
    #[doc(hidden)]
    fn fields<F: Places>(of: F::Ref<Self>) -> Self::Fields<F>;
}

/// What stands for elements somewhere: values, variables, places in memory.
#[doc(hidden)]
pub trait Family {
    /// What stands for an element of this type.
    type Ref<T: Element>;
}

/// Places in memory, which have parts.
///
/// # Safety
/// `part` gives what stands for the part of `T` that has its first number at `number` and `offset`.
#[doc(hidden)]
pub unsafe trait Places: Family {
    /// The part of a place.
    ///
    /// # Safety
    /// A `T` has a `U` at `offset` bytes, whose first number has this number in `T`.
    unsafe fn part<T: Element, U: Element>(of: &Self::Ref<T>, number: usize, offset: usize) -> Self::Ref<U>;
}

/// The values of a kernel that is being built.
#[doc(hidden)]
pub struct Values<'b>(std::marker::PhantomData<&'b Builder>);

impl<'b> Family for Values<'b> {
    type Ref<T: Element> = T::Built<'b>;
}

/// The variables of a kernel that is being built.
#[doc(hidden)]
pub struct Variables<'b>(std::marker::PhantomData<&'b Builder>);

impl<'b> Family for Variables<'b> {
    type Ref<T: Element> = <T::Built<'b> as super::IrValue<'b>>::Var;
}

/// A value that is an element: the reverse of [`Element`].
#[diagnostic::on_unimplemented(message = "a kernel has no arrays of `{Self}`")]
pub trait OfElement<'b> {
    /// The element that it stands for.
    type Element: Element;
    #[doc(hidden)]
    fn element_ids(self) -> <Self::Element as Element>::Ids;
    /// The value itself, as what stands for the element.
    #[doc(hidden)]
    fn built(self) -> <Self::Element as KernelType>::Built<'b>;
    /// The reverse of [`built`](OfElement::built).
    #[doc(hidden)]
    fn of_built(value: <Self::Element as KernelType>::Built<'b>) -> Self;
}

impl<'b, T: Scalar> OfElement<'b> for Val<'b, T> {
    type Element = T;
    fn element_ids(self) -> ExprId {
        self.id
    }
    fn built(self) -> Self {
        self
    }
    fn of_built(value: Self) -> Self {
        value
    }
}

impl<'b, P: Element, const N: usize> OfElement<'b> for Array<'b, P, N> {
    type Element = [P; N];
    fn element_ids(self) -> [P::Ids; N] {
        self.ids()
    }
    fn built(self) -> Self {
        self
    }
    fn of_built(value: Self) -> Self {
        value
    }
}

/// A variable that holds an element, read and written as what stands for the element: the two types are equal, which
/// the compiler does not see of the variable's type.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ElementVariable<V>(V);

impl<V> ElementVariable<V> {
    /// Wraps a variable, whose value then counts as its element's.
    pub fn new(variable: V) -> Self {
        ElementVariable(variable)
    }
}

impl<'b, V: Variable<'b, Value: OfElement<'b>>> Variable<'b> for ElementVariable<V> {
    type Value = <<V::Value as OfElement<'b>>::Element as KernelType>::Built<'b>;
    fn get(&self) -> Self::Value {
        self.0.get().built()
    }
    #[track_caller]
    fn snapshot(&self) -> Self::Value {
        self.0.snapshot().built()
    }
    #[track_caller]
    fn set(&self, value: Self::Value) {
        self.0.set(OfElement::of_built(value));
    }
}

/// Copies a value into slots of its own, so that later assignments to what it was read from do not change it.
pub(crate) fn hold<T: Element>(builder: &Builder, ids: T::Ids, name: Option<&'static str>) -> T::Ids {
    let mut all = Vec::new();
    T::visit(ids, &mut |id| all.push(id));
    let mut all = all.into_iter();
    T::make(&mut |ty| all.next().map_or_else(|| builder.zero_of(ty), |id| builder.hold_of(ty, id, name)))
}

/// The value of a constant.
pub(crate) fn constant_ids<T: Element>(builder: &Builder, constant: &T) -> T::Ids {
    let mut raw = Vec::new();
    constant.raw(&mut raw);
    let mut raw = raw.into_iter();
    T::make(&mut |ty| builder.intern(Expr::Const(Const { ty, raw: raw.next().unwrap_or(0) })))
}

// SAFETY: it is a number, or a truth value, whose bytes are 0 and 1.
#[diagnostic::do_not_recommend]
unsafe impl<T: Scalar> Element for T {
    const LAYOUT: &'static ElementLayout = &ElementLayout::number(T::TYPE);
    type Ids = ExprId;
    type Memory = Memory;
    type Fields<F: Family> = ();
    fn ids(value: Val<'_, T>) -> ExprId {
        value.id
    }
    fn of_ids<'b>(builder: &'b Builder, id: ExprId) -> Val<'b, T> {
        Val::new(builder, id)
    }
    fn visit(id: ExprId, visit: &mut dyn FnMut(ExprId)) {
        visit(id);
    }
    fn make(make: &mut dyn FnMut(Type) -> ExprId) -> ExprId {
        make(T::TYPE)
    }
    fn raw(&self, to: &mut Vec<u64>) {
        to.push(self.to_raw());
    }
    fn declare(builder: &Builder, count: usize) -> Memory {
        Memory::whole(builder, builder.declare_local(T::TYPE.stored(), count))
    }
    fn declare_constants(builder: &Builder, constants: &[T]) -> Memory {
        let raw = constants.iter().map(|constant| constant.to_raw()).collect();
        Memory::whole(builder, builder.declare_constants(T::TYPE.stored(), raw))
    }
    fn declare_ids(builder: &Builder, elements: &[ExprId], site: Site) -> Memory {
        let constants: Option<Vec<_>> =
            elements.iter().map(|id| builder.constant(*id).map(|constant| constant.raw)).collect();
        if let Some(raw) = constants {
            return Memory::whole(builder, builder.declare_constants(T::TYPE.stored(), raw));
        }
        let memory = Self::declare(builder, elements.len());
        for (index, id) in elements.iter().enumerate() {
            let at = memory.behind(builder, builder.lit(index as u32).id, None);
            Self::write(builder, at, Val::new(builder, *id), site);
        }
        memory
    }
    fn behind(memory: Memory, builder: &Builder, index: Val<'_, u32>, exists: Option<ExprId>) -> Memory {
        memory.behind(builder, index.id, exists)
    }
    fn first(memory: Memory) -> Memory {
        memory
    }
    fn checks_itself(memory: Memory, builder: &Builder, count: usize) -> bool {
        let whole = builder.state.borrow().kernel.locals[memory.local.index()].len as usize == count;
        whole && memory.exists.is_none()
    }
    fn read<'b>(builder: &'b Builder, memory: Memory, site: Site) -> Val<'b, T> {
        if let Some(raw) = memory.constant(builder) {
            return builder.lit(T::from_raw(raw));
        }
        let value = builder.loaded(T::TYPE, |dst| {
            let load = Stmt::Load { dst, place: Place::Local(memory.local), index: vec![memory.first], site };
            match memory.exists {
                None => load,
                Some(condition) => {
                    let nothing = Stmt::Assign { slot: dst, value: builder.zero_of(T::TYPE.stored()) };
                    Stmt::If { condition, then: vec![load], otherwise: vec![nothing] }
                }
            }
        });
        Val::new(builder, value)
    }
    fn write<'b>(builder: &'b Builder, memory: Memory, value: Val<'b, T>, site: Site) {
        let place = Place::Local(memory.local);
        let value = builder.stored(T::TYPE, value.id);
        let store = Stmt::Store { place, index: vec![memory.first], value, site };
        match memory.exists {
            None => builder.push(store),
            Some(condition) => builder.push(Stmt::If { condition, then: vec![store], otherwise: Vec::new() }),
        }
    }
    fn fields<F: Places>(_: F::Ref<T>) {}
}

// SAFETY: its elements stand one behind the other.
unsafe impl<P: Element, const N: usize> Element for [P; N] {
    const LAYOUT: &'static ElementLayout = &ElementLayout::array(P::LAYOUT, N);
    type Ids = [P::Ids; N];
    type Memory = P::Memory;
    type Fields<F: Family> = ();
    fn ids(value: Array<'_, P, N>) -> Self::Ids {
        value.ids()
    }
    fn of_ids<'b>(builder: &'b Builder, ids: Self::Ids) -> Array<'b, P, N> {
        Array::of_ids(builder, ids)
    }
    fn visit(ids: Self::Ids, visit: &mut dyn FnMut(ExprId)) {
        ids.into_iter().for_each(|ids| P::visit(ids, visit));
    }
    fn make(make: &mut dyn FnMut(Type) -> ExprId) -> Self::Ids {
        std::array::from_fn(|_| P::make(make))
    }
    fn raw(&self, to: &mut Vec<u64>) {
        self.iter().for_each(|part| part.raw(to));
    }
    fn constant(self, builder: &Builder) -> Array<'_, P, N> {
        Array::of_constants(builder, self)
    }
    fn declare(builder: &Builder, count: usize) -> P::Memory {
        P::declare(builder, count * N)
    }
    fn declare_constants(builder: &Builder, constants: &[Self]) -> P::Memory {
        P::declare_constants(builder, constants.as_flattened())
    }
    fn declare_ids(builder: &Builder, elements: &[Self::Ids], site: Site) -> P::Memory {
        P::declare_ids(builder, elements.as_flattened(), site)
    }
    fn behind(memory: P::Memory, builder: &Builder, index: Val<'_, u32>, exists: Option<ExprId>) -> P::Memory {
        let index = Val::<u32>::new(builder, index.id);
        P::behind(memory, builder, builder.mul(index, builder.lit(N as u32)), exists)
    }
    fn first(memory: P::Memory) -> Memory {
        P::first(memory)
    }
    fn read<'b>(builder: &'b Builder, memory: P::Memory, _: Site) -> Array<'b, P, N> {
        Array::of_memory(builder, memory)
    }
    #[track_caller]
    fn write<'b>(builder: &'b Builder, memory: P::Memory, value: Array<'b, P, N>, _: Site) {
        // All are read before one is written: the value may be a row of the same array.
        Array::<P, N>::store(builder, memory, Array::of_ids(builder, hold::<Self>(builder, value.ids(), None)));
    }
    fn fields<F: Places>(_: F::Ref<Self>) {}
}

/// The numbers of a local array, or of a part of one, in memory.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Memory {
    local: LocalId,
    /// The number of its first number in the local array.
    first: ExprId,
    /// Whether it exists, where an index that is not constant has been on the way to it.
    exists: Option<ExprId>,
}

impl Memory {
    pub(super) fn whole(builder: &Builder, local: LocalId) -> Memory {
        Memory { local, first: builder.lit(0u32).id, exists: None }
    }

    pub(super) fn is_constant(self, builder: &Builder) -> bool {
        builder.state.borrow().kernel.locals[self.local.index()].constants.is_some()
    }

    /// The bits of the number here, where it is constant.
    fn constant(self, builder: &Builder) -> Option<u64> {
        let Expr::Const(Const { raw, .. }) = builder.expr(self.first) else { return None };
        let exists = self.exists.is_none();
        let state = builder.state.borrow();
        let constants = state.kernel.locals[self.local.index()].constants.as_ref()?;
        constants.get(raw as usize).copied().filter(|_| exists)
    }

    /// What is `count` numbers behind, and exists only where the condition holds.
    fn behind(self, builder: &Builder, count: ExprId, exists: Option<ExprId>) -> Memory {
        let first = builder.add(Val::<u32>::new(builder, self.first), Val::new(builder, count));
        let Some(inside) = exists else { return Memory { first: first.id, ..self } };
        let inside = Val::<bool>::new(builder, inside);
        let exists = self.exists.map_or(inside, |exists| builder.bit_and(Val::new(builder, exists), inside));
        let (first, exists) = (builder.hold(first, None), builder.hold(exists, None));
        Memory { local: self.local, first: first.id, exists: Some(exists.id) }
    }
}

/// The memory of the element at an index that may be anything, of an array of `count` elements. An index beyond is a
/// fault.
pub(super) fn part<'b, P: Element>(
    memory: P::Memory,
    builder: &'b Builder,
    index: Val<'b, u32>,
    count: usize,
    site: Site,
) -> P::Memory {
    let constant = builder.constant(index.id).map(|constant| constant.raw as usize);
    if constant.is_some_and(|index| index < count) || P::checks_itself(memory, builder, count) {
        return P::behind(memory, builder, index, None);
    }
    let (index, inside) = checked(builder, index, count, site);
    P::behind(memory, builder, index, Some(inside.id))
}

/// Whether an index is below `count`; a fault where it is not.
pub(super) fn checked<'b>(
    builder: &'b Builder,
    index: Val<'b, u32>,
    count: usize,
    site: Site,
) -> (Val<'b, u32>, Val<'b, bool>) {
    let index = builder.hold(index, None);
    let inside = builder.hold(builder.lt(index, builder.lit(count as u32)), None);
    // The fault is that of an array of as many elements.
    let rows = Place::Local(builder.declare_constants(Type::U32, vec![0; count]));
    let fails = Stmt::Load { dst: builder.temporary::<u32>(), place: rows, index: vec![index.id], site };
    builder.push(Stmt::If { condition: builder.not(inside).id, then: vec![fails], otherwise: Vec::new() });
    (index, inside)
}
