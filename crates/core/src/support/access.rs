//! What kernels read and write by index.

use wattle_ir::builder::LaneCount;

use crate::thread::Thread;

/// What has elements in a kernel: views and arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length in a kernel",
    note = "the views `Read`, `PerItem`, `Shared` and `Atomic` have one, and arrays; a warp's mask has `mask.count()`"
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
///
/// # Safety
/// It is called on the stack of a fiber, which is thrown away when a launch ends early: while an implementation calls
/// its thread, nothing on the stack may need to be dropped.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot read `{Self}` by index",
    note = "it reads `Read` and `Shared` views and arrays of numbers so: `x[i]`, and `x[[row, column]]` where a view has two \
            dimensions",
    note = "of an index whose number of dimensions is a parameter of the kernel, `i.axis(0)` is a part"
)]
pub unsafe trait Get {
    /// `u32`, or an array of them in several dimensions.
    type Index;
    /// The type of an element.
    type Value;
    /// `self[index]`; 0 and a fault where that is out of bounds.
    #[track_caller]
    fn get(&self, index: Self::Index, thread: &Thread<'_>) -> Self::Value;
}

/// What a kernel writes by index: a `Shared` view, and an array that is `mut`.
///
/// # Safety
/// It is called on the stack of a fiber, which is thrown away when a launch ends early: while an implementation calls
/// its thread, nothing on the stack may need to be dropped.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot write to `{Self}` by index",
    note = "it writes to `Shared` views and to arrays of numbers so: `x[i] = value`"
)]
pub unsafe trait Set {
    /// `u32`, or an array of them in several dimensions.
    type Index;
    /// The type of an element.
    type Value;
    /// `self[index] = value`; a fault and nothing written where that is out of bounds.
    #[track_caller]
    fn set(self, index: Self::Index, value: Self::Value, thread: &Thread<'_>);
}

/// Views of which several consecutive elements are read at once: `Read` and `Shared`, in one dimension.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot read lanes of `{Self}`",
    note = "`x.lanes::<4>(i)` reads consecutive numbers of a `Read` or `Shared` view of one dimension; an array or a struct as \
            the element of a view is loaded at once by itself"
)]
pub trait Lanes<const N: usize> {
    /// An array of `N` elements.
    type Lanes;
    /// The `N` elements from `index` on; zeros and a fault where they are not all in bounds.
    #[track_caller]
    fn lanes(&self, index: u32) -> Self::Lanes;
}

/// The `N` elements of a view from `index` on. (The result has a name of its own: a view without lanes would be refused
/// once more for `V::Lanes`.)
#[inline(always)]
#[track_caller]
pub fn lanes<const N: usize, V: Lanes<N, Lanes = A>, A>(of: &V, index: u32, _: LaneCount<N>) -> A {
    of.lanes(index)
}

/// A value that faults name after the variable that holds it.
pub trait Named {
    /// The value, which faults call `name` from here on.
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

/// `let name = …`, of an array in shared memory.
#[inline(always)]
pub fn named<V: Named>(view: V, name: &'static str) -> V {
    view.named(name)
}
