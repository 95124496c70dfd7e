//! What stands for the values and views of kernels while they are built. Only these types have the traits that kernels'
//! code calls: what `#[derive(Element)]` declares in a user's crate could have them otherwise, and would bring that
//! crate's code into the building of kernels.
//!
//! All of them are named here, also those whose files use the trait: the list is what is to be checked.

use super::items::Items;
use super::iterate::{Inclusive, Indices, Range, Reversed, Stepped};
use super::{Array, Atomic, ElementRef, Mask, PerItem, Read, Shared, Val};
use crate::{Axes, Element};

pub trait Sealed {}

impl<T> Sealed for Val<'_, T> {}
impl<P: Element, const N: usize> Sealed for Array<'_, P, N> {}
impl Sealed for Mask<'_> {}
impl<T: Element> Sealed for ElementRef<'_, T> {}
impl<T: Element, const D: usize> Sealed for Read<'_, T, D> {}
impl<T: Element, const D: usize> Sealed for PerItem<'_, T, D> {}
impl<T: Element, const D: usize> Sealed for Shared<'_, T, D> {}
impl<T: Element, const D: usize> Sealed for Atomic<'_, T, D> {}
impl<V> Sealed for Range<V> {}
impl<V> Sealed for Inclusive<V> {}
impl<V> Sealed for Reversed<V> {}
impl<V> Sealed for Stepped<V> {}
impl<R: Axes> Sealed for Indices<'_, R> {}
impl<V, R: Axes> Sealed for Items<'_, V, R> {}
