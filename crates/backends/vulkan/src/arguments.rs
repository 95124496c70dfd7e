//! The arguments of a launch, as words and as ranges of buffers.

use std::sync::Arc;

use ash::vk;
use wattle_core::{Grid, Kernel, Result};
use wattle_gpu::{Value, cannot, values};
use wattle_ir::{MAX_RANK, ParamId};
use wattle_spirv::ArgumentWord;

use crate::block::PADDING;
use crate::context::Context;
use crate::memory::VulkanMemory;
use crate::pipeline::Compiled;

/// A range of a buffer, as a descriptor has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    /// Tells allocations apart. Their buffers' handles may be used again, these are not.
    pub(crate) allocation: u64,
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) range: u64,
}

/// What a parameter was given.
enum Given {
    Scalar(u64),
    View { binding: Binding, offset: u32, extent: [u32; MAX_RANK], strides: [u32; MAX_RANK] },
}

/// The arguments of a launch. It is used again for the next one, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Arguments {
    given: Vec<Given>,
    /// In the order of the layout.
    pub(crate) words: Vec<u32>,
    /// In the order of the layout's views.
    pub(crate) bindings: Vec<Binding>,
}

impl Arguments {
    /// Takes a launch's arguments.
    pub(crate) fn take(
        &mut self,
        context: &Arc<Context>,
        compiled: &Compiled,
        kernel: &dyn Kernel,
        grid: &Grid,
        number: u32,
    ) -> Result<()> {
        self.given.clear();
        let is_ours = |memory: &VulkanMemory| Arc::ptr_eq(&memory.context, context);
        values(kernel, is_ours, |parameter, value| {
            self.given.push(match value {
                Value::Scalar(raw) => Given::Scalar(raw),
                Value::View(view) => {
                    let memory = view.memory;
                    let part = Part { start: view.offset, elements: view.span(), size: memory.element as u64 };
                    let limits = &context.physical.limits;
                    let most = u64::from(limits.max_storage_buffer_range);
                    let alignment = limits.min_storage_buffer_offset_alignment;
                    let Some((offset, range)) = part.range(memory.block.bytes, most, alignment) else {
                        let (name, bytes) = (kernel.info().name, part.elements * part.size);
                        let what = format!(
                            "let kernel `{name}` reach all {bytes} bytes of `{parameter}`: {most} at the most \
                             (maxStorageBufferRange)"
                        );
                        return Err(cannot(context.name(), what, "give it a part, or several smaller buffers"));
                    };
                    let binding = Binding { allocation: memory.id, buffer: memory.block.buffer, offset, range };
                    let offset = (part.start - offset / part.size) as u32;
                    Given::View { binding, offset, extent: view.extent, strides: view.strides }
                }
            });
            Ok(())
        })?;
        self.lay_out(compiled, grid, number);
        Ok(())
    }

    fn lay_out(&mut self, compiled: &Compiled, grid: &Grid, number: u32) {
        let of = |param: ParamId| self.given.get(param.index());
        let view = |param: ParamId, word: fn(u32, &[u32; MAX_RANK], &[u32; MAX_RANK], usize) -> u32, d: u8| {
            match of(param) {
                Some(Given::View { offset, extent, strides, .. }) => word(*offset, extent, strides, d.into()),
                // The kernel and its arguments are of one type, so that cannot be.
                _ => 0,
            }
        };
        let scalar = |param: ParamId| match of(param) {
            Some(Given::Scalar(raw)) => *raw,
            _ => 0,
        };
        self.words.clear();
        self.words.extend(compiled.layout.arguments.iter().map(|word| match *word {
            ArgumentWord::Blocks => grid.block_count(),
            ArgumentWord::Zero => 0,
            ArgumentWord::Number => number,
            ArgumentWord::Offset(param) => view(param, |offset, _, _, _| offset, 0),
            ArgumentWord::Extent(param, d) => view(param, |_, extent, _, d| extent[d], d),
            ArgumentWord::Stride(param, d) => view(param, |_, _, strides, d| strides[d], d),
            ArgumentWord::Low(param) => scalar(param) as u32,
            ArgumentWord::High(param) => (scalar(param) >> 32) as u32,
            ArgumentWord::GridExtent(d) => grid.blocks[usize::from(d)],
            ArgumentWord::FrameCount(d) => grid.frames[usize::from(d)],
            ArgumentWord::FrameExtent(d) => grid.frame_extent[usize::from(d)],
        }));
        self.bindings.clear();
        self.bindings.extend(compiled.layout.views.iter().filter_map(|view| match of(view.param) {
            Some(Given::View { binding, .. }) => Some(*binding),
            _ => None,
        }));
    }
}

/// A part of a buffer, in elements of `size` bytes.
struct Part {
    start: u64,
    elements: u64,
    size: u64,
}

impl Part {
    /// Offset and range of a descriptor that covers it, in a buffer of so many bytes; none if it is too long.
    ///
    /// All of the buffer where that can be, so that its parts share descriptors.
    fn range(&self, bytes: u64, most: u64, alignment: u64) -> Option<(u64, u64)> {
        if bytes <= most {
            return Some((0, bytes));
        }
        let (start, end) = (self.start * self.size, (self.start + self.elements) * self.size);
        let start = start / alignment.max(PADDING) * alignment.max(PADDING);
        let range = end.next_multiple_of(PADDING).min(bytes) - start;
        (range <= most).then_some((start, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_their_parts() {
        let part = |start, elements, size| Part { start, elements, size };
        assert_eq!(part(7, 3, 4).range(128, 128, 256), Some((0, 128)));
        assert_eq!(part(200, 3, 4).range(1024, 512, 256), Some((768, 48)));
        assert_eq!(part(200, 56, 4).range(1024, 512, 256), Some((768, 256)));
        assert_eq!(part(63, 1, 4).range(1024, 512, 256), Some((0, 256)));
        assert_eq!(part(0, 129, 4).range(1024, 512, 256), None);
        assert_eq!(part(63, 80, 4).range(1024, 512, 256), None, "it would start too early");
        assert_eq!(part(1001, 7, 1).range(1008, 512, 1), Some((992, 16)));
    }
}
