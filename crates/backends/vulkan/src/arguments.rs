//! The arguments of a launch, as words and as ranges of buffers.

use std::sync::Arc;

use ash::vk;
use wattle_core::{Error, Kernel, Result};
use wattle_gpu::cannot;
use wattle_ir::{LaunchShape, ParamId, raw};
use wattle_spirv::ArgumentWord;

use crate::block::PADDING;
use crate::context::Context;
use crate::memory::VulkanMemory;
use crate::pipeline::Compiled;

/// A range of a buffer, as a descriptor has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    /// A number that no two allocations share, though the handles of their buffers may be reused.
    pub(crate) allocation: u64,
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) range: u64,
}

/// The arguments of a launch. The value is reused for the next launch, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Arguments {
    /// The argument words, in the order of the layout.
    pub(crate) words: Vec<u32>,
    /// The buffer ranges, in the order of the layout's views.
    pub(crate) bindings: Vec<Binding>,
}

impl Arguments {
    /// Stores the arguments of a launch in this value.
    pub(crate) fn take(
        &mut self,
        context: &Arc<Context>,
        compiled: &Compiled,
        kernel: &dyn Kernel,
        shape: &LaunchShape,
        number: u32,
    ) -> Result<()> {
        self.bindings.clear();
        for view in &compiled.layout.views {
            self.bindings.push(bind(context, kernel, view.param)?.0);
        }
        self.words.clear();
        for word in &compiled.layout.arguments {
            self.words.push(match *word {
                ArgumentWord::Blocks => shape.blocks() as u32,
                ArgumentWord::Zero => 0,
                ArgumentWord::Number => number,
                ArgumentWord::Offset(param) => bind(context, kernel, param)?.1,
                ArgumentWord::Low(param) => word_of(kernel.scalar(param)?, 0),
                ArgumentWord::High(param) => word_of(kernel.scalar(param)?, 1),
                ArgumentWord::Launch(value) => value.get(shape, 0, |param| {
                    let view = kernel.view(param)?;
                    Ok::<_, Error>([view.extent(), view.strides()])
                })? as u32,
            });
        }
        Ok(())
    }
}

/// A 32-bit word of a value's bytes.
fn word_of(bytes: &[u8], number: usize) -> u32 {
    bytes.chunks(4).nth(number).map_or(0, |bytes| raw::from_bytes(bytes) as u32)
}

/// The range of a buffer through which a kernel reaches a view, and where the view starts in it, in elements.
fn bind(context: &Arc<Context>, kernel: &dyn Kernel, param: ParamId) -> Result<(Binding, u32)> {
    let view = kernel.view(param)?;
    let memory = view.place(|memory: &VulkanMemory| Arc::ptr_eq(&memory.context, context).then_some(memory))?;
    let part = Part { start: view.offset() as u64, elements: view.span(), size: view.element_bytes() as u64 };
    let limits = &context.physical.limits;
    let most = u64::from(limits.max_storage_buffer_range);
    // Parts of one buffer have one descriptor, which has to reach them all.
    let is_alone = |[view, first]: &[ParamId; 2]| *view != param && *first != param;
    if memory.block.bytes > most && !kernel.views_of_one_buffer().iter().all(is_alone) {
        let (name, bytes) = (kernel.info().name, memory.block.bytes);
        let what = format!(
            "let kernel `{name}` reach a buffer of {bytes} bytes by two of its parameters: {most} at the most (maxStorageBufferRange)"
        );
        return Err(cannot(context.name(), what, "give it the buffer once, or a smaller one"));
    }
    let Some((offset, range)) = part.range(memory.block.bytes, most, limits.min_storage_buffer_offset_alignment) else {
        let (name, bytes) = (kernel.info().name, part.elements * part.size);
        let parameter = kernel.argument(param.index()).map_or("", |argument| argument.name);
        let what = format!(
            "let kernel `{name}` reach all {bytes} bytes of `{parameter}`: {most} at the most (maxStorageBufferRange)"
        );
        return Err(cannot(context.name(), what, "give it a part, or several smaller buffers"));
    };
    let binding = Binding { allocation: memory.id, buffer: memory.block.buffer, offset, range };
    Ok((binding, (part.start - offset / part.size) as u32))
}

/// A part of a buffer, in elements of `size` bytes.
struct Part {
    start: u64,
    elements: u64,
    size: u64,
}

impl Part {
    /// Offset and range of a descriptor that covers the part, in a buffer of `bytes` bytes; `None` if it is too long.
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
    fn words_of_values_are_in_order() {
        let words = |bytes: &[u8]| [0, 1].map(|number| word_of(bytes, number));
        assert_eq!(words(&0x0123_4567_89ab_cdef_u64.to_ne_bytes()), [0x89ab_cdef, 0x0123_4567]);
        assert_eq!((words(&0x89ab_cdef_u32.to_ne_bytes()), words(&[7])), ([0x89ab_cdef, 0], [7, 0]));
    }

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
