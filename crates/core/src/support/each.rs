//! Loops over the elements of arrays.

use wattle_ir::Element;

/// What a `for` goes over besides ranges and index maps: an array.
#[diagnostic::on_unimplemented(
    message = "a `for` in a kernel does not go over `{Self}`",
    label = "no array and no range",
    note = "it goes over a range (`0..n`, with `.rev()` or `.step_by(k)`), `acc.indices(…)`, `acc.items(…)` or an array"
)]
pub trait EachOf: sealed::Sealed {
    /// The type of an element.
    type Element;
    /// Goes over the elements.
    type Each: Iterator<Item = Self::Element>;
    /// The elements, in order.
    fn each(self) -> Self::Each;
}

mod sealed {
    pub trait Sealed {}
    impl<P: super::Element, const N: usize> Sealed for [P; N] {}
}

impl<P: Element, const N: usize> EachOf for [P; N] {
    type Element = P;
    type Each = Each<P, N>;
    #[inline(always)]
    fn each(self) -> Each<P, N> {
        Each { of: self, at: 0 }
    }
}

/// The elements of an array. Unlike the standard library's it has nothing to be dropped, as all that stands on a
/// fiber's stack.
pub struct Each<P, const N: usize> {
    of: [P; N],
    at: usize,
}

impl<P: Copy, const N: usize> Iterator for Each<P, N> {
    type Item = P;
    #[inline(always)]
    fn next(&mut self) -> Option<P> {
        let element = *self.of.get(self.at)?;
        self.at += 1;
        Some(element)
    }
}

/// The elements of an array. (The result has a name of its own: what is no array would be refused once more for
/// `A::Each`.)
#[inline(always)]
pub fn each<A: EachOf<Each = I>, I>(of: A) -> I {
    of.each()
}
