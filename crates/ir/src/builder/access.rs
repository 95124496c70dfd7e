//! What several surfaces can do, as functions: the kernel macro names each operation by its path, so that no trait of
//! the user's can step in.

use super::Val;
use super::sealed::Sealed;

/// What has elements: views and arrays.
pub trait Extents<'b>: Sealed {
    /// The type of the extent: a `u32`, or an array of them in several dimensions.
    type Extent;
    /// The extent, in elements.
    #[track_caller]
    fn extent(&self) -> Self::Extent;
    /// The number of elements.
    #[track_caller]
    fn count(&self) -> Val<'b, u32>;
}

/// What is read by index: `Read`, `Shared` and arrays.
pub trait Get<'b>: Sealed {
    /// The type of an index: a `u32`, or an array of them in several dimensions.
    type Index;
    /// The type of an element.
    type Value;
    /// Reads `self[index]`.
    #[track_caller]
    fn get(&self, index: Self::Index) -> Self::Value;
}

/// What is written by index: `Shared` and arrays.
pub trait Set<'b>: Get<'b> {
    /// Writes `self[index] = value`.
    #[track_caller]
    fn set(&self, index: Self::Index, value: Self::Value);
}

/// The extent of a view.
#[track_caller]
pub fn extent<'b, V: Extents<'b>>(view: &V) -> V::Extent {
    view.extent()
}

/// The number of elements.
#[track_caller]
pub fn len<'b, V: Extents<'b>>(view: &V) -> Val<'b, u32> {
    view.count()
}

/// Whether there is no element.
#[track_caller]
pub fn is_empty<'b, V: Extents<'b>>(view: &V) -> Val<'b, bool> {
    let len = view.count();
    len.builder.eq(len, len.builder.lit(0))
}

/// Reads `of[index]`.
#[track_caller]
pub fn get<'b, V: Get<'b>>(of: &V, index: V::Index) -> V::Value {
    of.get(index)
}

/// Writes `to[index] = value`.
#[track_caller]
pub fn set<'b, V: Set<'b>>(to: &V, index: V::Index, value: V::Value) {
    to.set(index, value);
}
