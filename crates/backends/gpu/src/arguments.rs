//! The arguments of a launch, as a driver takes them.

use std::any::Any;

use wattle_core::{Argument, Kernel, Memory, Result, system};
use wattle_ir::{MAX_RANK, ParamId};

/// The argument for a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a, M> {
    /// The bits of a scalar ([`wattle_ir::Scalar::to_raw`]).
    Scalar(u64),
    /// A part of a buffer.
    View(ViewValue<'a, M>),
}

/// A part of a buffer in memory of one kind of device. Offset and strides are in elements.
#[derive(Clone, Copy, Debug)]
pub struct ViewValue<'a, M> {
    /// The buffer's memory.
    pub memory: &'a M,
    /// The offset of the part's first element.
    pub offset: u64,
    /// The extent; 1 in the dimensions beyond the rank.
    pub extent: [u32; MAX_RANK],
    /// The distance of neighbouring elements in each dimension.
    pub strides: [u32; MAX_RANK],
}

impl<M> ViewValue<'_, M> {
    /// How many elements there are from the first to the last, both included.
    pub fn span(&self) -> u64 {
        let last = |d: usize| u64::from(self.extent[d].saturating_sub(1)) * u64::from(self.strides[d]);
        1 + (0..MAX_RANK).map(last).sum::<u64>()
    }
}

/// Calls `take` with the name and the value of each parameter, in order.
///
/// # Errors
/// The first error of `take`, or a buffer is not of type `M`, or not of the device that `is_ours` asks for.
pub fn values<M: Any>(
    kernel: &dyn Kernel,
    is_ours: impl Fn(&M) -> bool,
    mut take: impl FnMut(&'static str, Value<'_, M>) -> Result<()>,
) -> Result<()> {
    let mut names = kernel.info().parameters.iter();
    kernel.arguments(&mut |argument| {
        let name = names.next().copied().unwrap_or_default();
        match argument {
            Argument::Scalar(value) => take(name, Value::Scalar(value.raw)),
            Argument::View(view) => {
                let memory: &dyn Memory = view.buffer.memory();
                let memory = memory.as_any().downcast_ref::<M>().filter(|memory| is_ours(memory));
                let memory = memory.ok_or_else(|| system("launching a kernel", "a buffer is of another device"))?;
                let (extent, strides) = (view.extent(), view.strides());
                take(name, Value::View(ViewValue { memory, offset: view.offset() as u64, extent, strides }))
            }
        }
    })
}

/// The arguments of a kernel, by parameter number; `P` is the place of a view in memory. The value is used again for
/// the next launch, so that nothing is allocated.
#[derive(Debug)]
pub struct Given<P>(Vec<One<P>>);

#[derive(Debug)]
enum One<P> {
    Scalar(u64),
    View { place: P, extent: [u32; MAX_RANK], strides: [u32; MAX_RANK] },
}

impl<P> Default for Given<P> {
    fn default() -> Self {
        Given(Vec::new())
    }
}

impl<P> Given<P> {
    /// Takes the arguments of a launch; `place` returns where a view is, given the parameter's name.
    ///
    /// # Errors
    /// As for [`values`], and the errors of `place`.
    pub fn take<M: Any>(
        &mut self,
        kernel: &dyn Kernel,
        is_ours: impl Fn(&M) -> bool,
        place: impl Fn(&'static str, &ViewValue<'_, M>) -> Result<P>,
    ) -> Result<()> {
        self.clear();
        values(kernel, is_ours, |name, value| {
            match value {
                Value::Scalar(raw) => self.push_scalar(raw),
                Value::View(view) => self.push_view(place(name, &view)?, view.extent, view.strides),
            }
            Ok(())
        })
    }

    /// Forgets all arguments.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the bits of a scalar, for the next parameter.
    pub fn push_scalar(&mut self, raw: u64) {
        self.0.push(One::Scalar(raw));
    }

    /// Adds a view for the next parameter; extent and strides are in elements.
    pub fn push_view(&mut self, place: P, extent: [u32; MAX_RANK], strides: [u32; MAX_RANK]) {
        self.0.push(One::View { place, extent, strides });
    }

    // The kernel and its arguments are of one type, so that the defaults below cannot occur.

    /// The bits of a scalar parameter.
    pub fn scalar(&self, param: ParamId) -> u64 {
        if let Some(One::Scalar(raw)) = self.0.get(param.index()) { *raw } else { 0 }
    }

    /// The place of a view parameter.
    pub fn place(&self, param: ParamId) -> Option<&P> {
        if let Some(One::View { place, .. }) = self.0.get(param.index()) { Some(place) } else { None }
    }

    /// The extent of a view parameter in a dimension.
    pub fn extent(&self, param: ParamId, d: u8) -> u32 {
        if let Some(One::View { extent, .. }) = self.0.get(param.index()) { extent[usize::from(d)] } else { 0 }
    }

    /// The distance of neighbouring elements of a view parameter in a dimension.
    pub fn stride(&self, param: ParamId, d: u8) -> u32 {
        if let Some(One::View { strides, .. }) = self.0.get(param.index()) { strides[usize::from(d)] } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reaches_to_the_last_element() {
        let span = |extent, strides| ViewValue { memory: &(), offset: 3, extent, strides }.span();
        assert_eq!(span([1, 1, 1, 1], [9, 9, 9, 9]), 1);
        assert_eq!(span([7, 1, 1, 1], [1, 1, 1, 1]), 7);
        assert_eq!(span([3, 4, 1, 1], [10, 1, 1, 1]), 24);
        assert_eq!(span([u32::MAX; 4], [u32::MAX, 1, 1, 1]), 1 + (u64::from(u32::MAX) - 1) * (u64::from(u32::MAX) + 3));
    }
}
