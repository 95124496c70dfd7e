//! What the functions that the kernel macro writes call: the arithmetic rules by name, and access to arrays.

use wattle_ir::builder::{Part, STEP_OF_ZERO};
use wattle_ir::{
    Dim, Element, Float, Idx, Int, KernelValue, LOCAL_ARRAY, Rank, Scalar, Signed, Word, compositions, operations,
};

use crate::indices::{Indices, Items, Range};
use crate::thread::{BadIndex, Thread};
use crate::together::{ItemsTogether, Places, Views};
use crate::view::Read;

/// What has elements in a kernel: views and arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length in a kernel",
    note = "the views `Read`, `PerItem`, `Shared` and `Atomic` have one"
)]
pub trait Extents {
    /// A `u32`, or an array of them in several dimensions.
    type Extent;
    /// The extent, in elements.
    fn extent(&self) -> Self::Extent;
    /// The number of elements.
    fn count(&self) -> u32;
}

/// What a kernel reads by index: `Read`, `Shared` and arrays.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot read `{Self}` by index",
    note = "it reads `Read` and `Shared` views and arrays of numbers so: `x[i]`"
)]
pub trait Get {
    /// `u32`, or an array of them in several dimensions.
    type Index;
    /// The type of an element.
    type Value;
    /// `self[index]`; 0 and a fault where that is out of bounds.
    #[track_caller]
    fn get(&self, index: Self::Index, thread: &Thread<'_>) -> Self::Value;
}

/// What a kernel writes by index: a `Shared` view, and an array that is `mut`.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot write to `{Self}` by index",
    note = "it writes to `Shared` views and to arrays of numbers so: `x[i] = value`"
)]
pub trait Set {
    /// `u32`, or an array of them in several dimensions.
    type Index;
    /// The type of an element.
    type Value;
    /// `self[index] = value`; a fault and nothing written where that is out of bounds.
    #[track_caller]
    fn set(self, index: Self::Index, value: Self::Value, thread: &Thread<'_>);
}

/// A value that faults name after the variable that holds it.
pub trait Named {
    /// The same value, named `name`.
    #[must_use]
    fn named(self, name: &'static str) -> Self;
}

/// The extent of a view.
#[inline(always)]
pub fn extent<V: Extents>(view: &V) -> V::Extent {
    view.extent()
}

/// The number of elements.
#[inline(always)]
pub fn len<V: Extents>(view: &V) -> u32 {
    view.count()
}

/// Whether there is no element.
#[inline(always)]
pub fn is_empty<V: Extents>(view: &V) -> bool {
    view.count() == 0
}

/// Reads `of[index]`.
#[inline(always)]
#[track_caller]
pub fn get<V: Get>(of: &V, index: V::Index, thread: &Thread<'_>) -> V::Value {
    of.get(index, thread)
}

/// Writes `to[index] = value`.
#[inline(always)]
#[track_caller]
pub fn set<V: Set>(to: V, index: V::Index, value: V::Value, thread: &Thread<'_>) {
    to.set(index, value, thread);
}

/// A step of a range: one number, or one for each dimension.
pub trait Step: Copy {
    /// Whether the step is 0 in some dimension.
    fn has_zero(self) -> bool;
}

impl Step for u32 {
    #[inline(always)]
    fn has_zero(self) -> bool {
        self == 0
    }
}

impl<const D: usize> Step for [u32; D] {
    #[inline(always)]
    fn has_zero(self) -> bool {
        self.contains(&0)
    }
}

/// `range.step_by(step)`; a step of 0 is a fault, and taken for 1.
#[inline(always)]
#[track_caller]
pub fn step_by<I: Step>(range: Range<I>, step: I, thread: &Thread<'_>) -> Range<I> {
    thread.assert(!step.has_zero(), STEP_OF_ZERO);
    range.step_by(step)
}

/// How many iterations of loops that wait for no other thread pass between two looks at the time limit: enough that the
/// inner ones, which have no check in them, stay as fast as if there were none.
pub const STEPS_PER_LOOK: u32 = 1 << 16;

/// `begin..end` in pieces of at most [`STEPS_PER_LOOK`].
pub struct Pieces<I> {
    at: I,
    end: I,
}

/// `begin..end`, for a loop that looks at the time limit between pieces.
#[inline(always)]
pub fn pieces<I: Int>(begin: I, end: I) -> Pieces<I> {
    Pieces { at: begin, end }
}

/// The next piece, and how many numbers it has.
#[inline(always)]
pub fn next_piece<I: Int>(pieces: &mut Pieces<I>) -> Option<(std::ops::Range<I>, u32)> {
    let Pieces { at, end } = *pieces;
    if at >= end {
        return None;
    }
    // The distance of two numbers in order is right as an unsigned number of 64 bits, also of signed ones.
    let left = u64::cast_from(end).wrapping_sub(u64::cast_from(at));
    let steps = left.min(STEPS_PER_LOOK as u64) as u32;
    let next = if left <= STEPS_PER_LOOK as u64 { end } else { at.add(I::cast_from(steps)) };
    pieces.at = next;
    Some((at..next, steps))
}

/// The end of the piece that begins at `first`, of `count` numbers in all.
#[inline(always)]
pub fn piece_end(first: usize, count: usize) -> usize {
    if count - first <= STEPS_PER_LOOK as usize { count } else { first + STEPS_PER_LOOK as usize }
}

/// What gives out consecutive indices: a map whose run a loop goes through by itself.
pub trait Run {
    /// The type of an index.
    type Index;
    /// The indices as one run `begin..end`; `None` where they are not one run.
    fn bounds(&self) -> Option<(u32, u32)>;
    /// Makes indices of numbers.
    fn indexer(&self) -> fn(u32) -> Self::Index;
}

impl Run for Indices<Dim<1>> {
    type Index = u32;
    #[inline(always)]
    fn bounds(&self) -> Option<(u32, u32)> {
        self.run()
    }
    #[inline(always)]
    fn indexer(&self) -> fn(u32) -> u32 {
        |number| number
    }
}

impl<T: Element, const E: usize> Run for Items<'_, T, E>
where
    Dim<E>: Rank,
{
    type Index = Idx<E>;
    #[inline(always)]
    fn bounds(&self) -> Option<(u32, u32)> {
        self.run()
    }
    #[inline(always)]
    fn indexer(&self) -> fn(u32) -> Idx<E> {
        |number| Dim::<E>::gather([number, 0, 0, 0])
    }
}

/// The indices of a map as one run `begin..end`; `None` where they are not one run.
#[inline(always)]
pub fn bounds<M: Run>(map: &M) -> Option<(u32, u32)> {
    map.bounds()
}

/// The function that makes a map's indices of numbers.
#[inline(always)]
pub fn indexer<M: Run>(map: &M) -> fn(u32) -> M::Index {
    map.indexer()
}

/// The elements of a map that is one run.
#[inline(always)]
pub fn elements<'m, T: Element, const E: usize>(map: &'m mut Items<'_, T, E>) -> &'m mut [T]
where
    Dim<E>: Rank,
{
    map.slice()
}

impl<V: Views<E>, const E: usize> Run for ItemsTogether<V, E>
where
    Dim<E>: Rank,
{
    type Index = Idx<E>;
    #[inline(always)]
    fn bounds(&self) -> Option<(u32, u32)> {
        self.run()
    }
    #[inline(always)]
    fn indexer(&self) -> fn(u32) -> Idx<E> {
        |number| Dim::<E>::gather([number, 0, 0, 0])
    }
}

/// The elements of a map of several views that is one run.
#[inline(always)]
pub fn elements_together<V: Views<E>, const E: usize>(map: &mut ItemsTogether<V, E>) -> <V::Places as Places>::Slices
where
    Dim<E>: Rank,
{
    map.slices()
}

/// The elements `begin..end` of a view as a slice, or `None` where they are not all in bounds: what a loop over
/// consecutive indices checks once.
#[inline(always)]
pub fn window<T: Element>(view: &Read<T>, (begin, end): (u32, u32)) -> Option<&[T]> {
    view.window(begin, end)
}

/// `let name = …`, of an array in shared memory.
#[inline(always)]
pub fn named<V: Named>(view: V, name: &'static str) -> V {
    view.named(name)
}

impl<P: Part, const N: usize> Extents for [P; N] {
    type Extent = u32;
    #[inline(always)]
    fn extent(&self) -> u32 {
        N as u32
    }
    #[inline(always)]
    fn count(&self) -> u32 {
        N as u32
    }
}

impl<P: Part, const N: usize> Get for [P; N] {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn get(&self, index: u32, thread: &Thread<'_>) -> P {
        match self.as_slice().get(index as usize) {
            Some(element) => *element,
            None => {
                thread.out_of_bounds(bad_index::<N>(index));
                P::zero()
            }
        }
    }
}

impl<P: Part, const N: usize> Set for &mut [P; N] {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn set(self, index: u32, value: P, thread: &Thread<'_>) {
        if let Some(element) = self.row(index, thread) {
            *element = value;
        }
    }
}

/// A row that may not exist: then nothing is written.
impl<P: Part, const N: usize> Set for Option<&mut [P; N]> {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn set(self, index: u32, value: P, thread: &Thread<'_>) {
        if let Some(row) = self {
            row.set(index, value, thread);
        }
    }
}

/// What a kernel writes to by the index of a row: an array of arrays.
pub trait Rows {
    /// A row, exclusively.
    type Row;
    /// The row at `index`; `None` and a fault where that is out of bounds.
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<Self::Row>;
}

impl<'r, P, const N: usize> Rows for &'r mut [P; N] {
    type Row = &'r mut P;
    #[inline(always)]
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<&'r mut P> {
        let row = self.get_mut(index as usize);
        if row.is_none() {
            thread.out_of_bounds(bad_index::<N>(index));
        }
        row
    }
}

impl<R: Rows> Rows for Option<R> {
    type Row = R::Row;
    #[inline(always)]
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<R::Row> {
        self?.row(index, thread)
    }
}

/// The row `of[index]`, to be written to.
#[inline(always)]
#[track_caller]
pub fn row<R: Rows>(of: R, index: u32, thread: &Thread<'_>) -> Option<R::Row> {
    of.row(index, thread)
}

#[inline(always)]
#[track_caller]
fn bad_index<const N: usize>(index: u32) -> BadIndex {
    let at = std::panic::Location::caller();
    BadIndex { view: LOCAL_ARRAY, index: [index, 0, 0, 0], extent: [N as u32, 1, 1, 1], rank: 1, at }
}

macro_rules! functions {
    ($($bound:ident: $($name:ident($($arg:ident),*)),+;)+) => {$($(
        #[doc = concat!("`", stringify!($name), "`, by the rules of `wattle_ir`.")]
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, $($arg: T),*) -> T {
            T::$name(x, $($arg),*)
        }
    )+)+};
}
functions! {
    Element: add(y), sub(y), mul(y);
    Signed: neg();
}

/// The type of an operand or result.
macro_rules! result {
    () => {
        T
    };
    (Self) => {
        T
    };
    ($of:ident) => {
        $of
    };
}

/// The function for a method of numbers; operators have functions above and below.
macro_rules! method {
    (op $($rest:tt)*) => {};
    ($how:ident $(#[$doc:meta])* $class:ident $method:ident($($y:ident $(: $of:ident)?),*) -> $out:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $method<T: $class>(x: T, $($y: result!($($of)?)),*) -> result!($out) {
            T::$method(x, $($y),*)
        }
    };
}

macro_rules! methods {
    ($($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {
        $($(method!($how $(#[$doc])* $class $method($($y $(: $of)?),*) -> $out);)+)+
    };
}
operations!(methods);
compositions!(methods);

/// The sine and the cosine, each as by itself.
#[inline(always)]
pub fn sin_cos<T: Float>(x: T) -> (T, T) {
    x.sin_cos()
}

/// The bits of a float as an integer.
#[inline(always)]
pub fn to_bits<T: Float>(x: T) -> T::Bits {
    x.to_bits()
}

/// Computes `x.max(low).min(high)`.
#[inline(always)]
pub fn clamp<T: Element>(x: T, low: T, high: T) -> T {
    x.max(low).min(high)
}

macro_rules! comparisons {
    ($($bound:ident: $($name:ident $op:tt),+;)+) => {$($(
        #[doc = concat!("`x ", stringify!($op), " y`.")]
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, y: T) -> bool {
            x $op y
        }
    )+)+};
}
comparisons! {
    Scalar: eq ==, ne !=;
    Element: lt <, le <=, gt >, ge >=;
}

/// The quotient; 0 and a fault for an integer divided by zero.
#[inline(always)]
#[track_caller]
pub fn div<T: Element>(x: T, y: T, thread: &Thread<'_>) -> T {
    match x.div(y) {
        Some(quotient) => quotient,
        None => {
            thread.division_by_zero();
            T::ZERO
        }
    }
}

/// The remainder; 0 and a fault for a divisor of zero.
#[inline(always)]
#[track_caller]
pub fn rem<T: Int>(x: T, y: T, thread: &Thread<'_>) -> T {
    match x.rem(y) {
        Some(rest) => rest,
        None => {
            thread.division_by_zero();
            T::ZERO
        }
    }
}

/// Shift left by a count of any integer type, taken modulo the width.
#[inline(always)]
pub fn shl<T: Int, C: Int>(x: T, count: C) -> T {
    x.shl(u32::cast_from(count))
}

/// Shift right by a count of any integer type, taken modulo the width.
#[inline(always)]
pub fn shr<T: Int, C: Int>(x: T, count: C) -> T {
    x.shr(u32::cast_from(count))
}

/// Conversion, as Rust's `as` does it.
#[inline(always)]
pub fn cast<T: Scalar, U: Element>(x: T) -> U {
    U::cast_from(x)
}

/// The float of these bits.
#[inline(always)]
pub fn from_bits<T: Float>(bits: T::Bits) -> T {
    T::from_bits(bits)
}

/// The most bytes that an array of a kernel can have: it lives on the worker's stack, or in a GPU's registers.
const MAX_ARRAY: usize = 16 << 10;

/// The array `[x; N]`.
#[inline(always)]
pub fn repeat<T: Part, const N: usize>(x: T) -> [T; N] {
    const { assert!(N * size_of::<T>() <= MAX_ARRAY, "an array in a kernel has at most 16 KiB; use a buffer for more") };
    [x; N]
}

/// The array itself: its bound refuses what kernels have no arrays of.
#[inline(always)]
pub fn array<T: Part, const N: usize>(of: [T; N]) -> [T; N] {
    of
}

/// The zero that a device function returns when its thread is stopped.
#[inline(always)]
pub fn zero<T: KernelValue>() -> T {
    T::zero()
}
