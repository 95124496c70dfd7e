//! Copies between the host and memory that it cannot reach: in pieces, through a buffer that both reach.

use std::ptr::NonNull;
use std::time::Duration;

use ash::{Device, vk};
use wattle_core::{Result, lock, system};

use crate::block::Block;
use crate::context::Context;
use crate::memory_types::Purpose;

/// The size of a piece in bytes.
pub(crate) const PIECE: usize = 4 << 20;

/// The maximum number of runs that one submission copies: each takes room in the commands.
pub(crate) const MOST_RUNS: usize = 1 << 14;

/// Consecutive bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// A copy for each run from or to a packed buffer, in which the runs follow one another; `copy` is given both offsets.
fn packed(runs: &[Run], copy: impl Fn(u64, u64) -> vk::BufferCopy) -> Vec<vk::BufferCopy> {
    let mut at = 0;
    let one = |run: &Run| {
        let size = run.len as u64;
        let copy = vk::BufferCopy { size, ..copy(run.offset as u64, at) };
        at += size;
        copy
    };
    runs.iter().map(one).collect()
}

/// The duration of one wait between two checks of the device's progress.
const SLICE: Duration = Duration::from_millis(20);

/// The staging buffer and the commands of copies. One thread at a time uses them.
pub(crate) struct Staging {
    block: Block,
    start: NonNull<u8>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    /// The number of the last submission if, after an error, it is not known to be done.
    pending: Option<u64>,
}

// SAFETY: the pointer is into the block, which is `Send`.
unsafe impl Send for Staging {}

impl Context {
    fn new_staging(&self) -> Result<Staging> {
        let block = self.new_block(Purpose::Staging, PIECE as u64)?;
        let made = self.new_commands(1);
        match (made, block.mapped) {
            (Ok((pool, commands)), Some(start)) => {
                Ok(Staging { block, start, pool, commands: commands[0], pending: None })
            }
            (made, _) => {
                // SAFETY: nothing has used them yet.
                unsafe { self.free_block(block) };
                made.and_then(|(pool, _)| {
                    // SAFETY: as above.
                    unsafe { self.device().destroy_command_pool(pool, None) };
                    Err(system("making a staging buffer", "the driver does not map it"))
                })
            }
        }
    }

    /// Frees the staging buffer and its commands.
    ///
    /// # Safety
    /// The device no longer uses them.
    pub(crate) unsafe fn free_staging(&self, staging: Staging) {
        // SAFETY: the caller upholds the contract.
        unsafe {
            self.device().destroy_command_pool(staging.pool, None);
            self.free_block(staging.block);
        }
    }

    /// Creates a pool with `count` command buffers for the device's queues.
    pub(crate) fn new_commands(&self, count: u32) -> Result<(vk::CommandPool, Vec<vk::CommandBuffer>)> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(self.physical.family.index);
        // SAFETY: the device is alive and has queues of this family.
        let pool = unsafe { self.device().create_command_pool(&info, None) };
        let pool = self.check("making commands", pool)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(count);
        // SAFETY: the pool was just made.
        let commands = unsafe { self.device().allocate_command_buffers(&info) };
        // SAFETY: as above; nothing uses it.
        let freed = commands.inspect_err(|_| unsafe { self.device().destroy_command_pool(pool, None) });
        Ok((pool, self.check("making commands", freed)?))
    }

    /// Records commands, submits them, and waits until they are done.
    fn run(&self, staging: &mut Staging, record: impl FnOnce(&Device, &Staging)) -> Result<()> {
        let lane = self.copy_lane();
        let finish = |number| -> Result<()> {
            while !self.wait(lane, number, SLICE)? {}
            Ok(())
        };
        if let Some(number) = staging.pending.take() {
            finish(number)?;
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let device = self.device();
        // SAFETY: the commands are not in use, since what was submitted last is done.
        let begun = unsafe { device.begin_command_buffer(staging.commands, &begin) };
        self.check("recording a copy", begun)?;
        record(&device, staging);
        use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
        let barrier = vk::MemoryBarrier::default().src_access_mask(Access::TRANSFER_WRITE).dst_access_mask(
            Access::TRANSFER_READ
                | Access::TRANSFER_WRITE
                | Access::SHADER_READ
                | Access::SHADER_WRITE
                | Access::HOST_READ
                | Access::HOST_WRITE,
        );
        let behind = Stage::TRANSFER | Stage::COMPUTE_SHADER | Stage::HOST;
        // SAFETY: the commands are being recorded.
        let ended = unsafe {
            let flags = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(staging.commands, Stage::TRANSFER, behind, flags, &[barrier], &[], &[]);
            device.end_command_buffer(staging.commands)
        };
        drop(device);
        self.check("recording a copy", ended)?;
        let number = self.submit(lane, staging.commands)?;
        staging.pending = Some(number);
        finish(number)?;
        staging.pending = None;
        Ok(())
    }

    /// Calls `work` with the staging buffer, which is created if necessary.
    fn staged(&self, work: impl FnOnce(&mut Staging) -> Result<()>) -> Result<()> {
        self.usable()?;
        let mut staging = lock(&self.staging);
        if staging.is_none() {
            *staging = Some(self.new_staging()?);
        }
        match staging.as_mut() {
            Some(staging) => work(staging),
            None => Ok(()),
        }
    }

    /// Copies from memory that the host cannot reach.
    pub(crate) fn read_staged(&self, from: &Block, offset: usize, into: &mut [u8]) -> Result<()> {
        into.chunks_mut(PIECE).zip((offset..).step_by(PIECE)).try_for_each(|(piece, offset)| {
            let run = Run { offset, len: piece.len() };
            self.gather(from, &[run], piece)
        })
    }

    /// Copies to memory that the host cannot reach.
    pub(crate) fn write_staged(&self, to: &Block, offset: usize, from: &[u8]) -> Result<()> {
        from.chunks(PIECE).zip((offset..).step_by(PIECE)).try_for_each(|(piece, offset)| {
            let run = Run { offset, len: piece.len() };
            self.scatter(to, &[run], piece)
        })
    }

    /// Copies runs, at most [`PIECE`] bytes together, from memory that the host cannot reach, packed one after another.
    pub(crate) fn gather(&self, from: &Block, runs: &[Run], into: &mut [u8]) -> Result<()> {
        let copies = packed(runs, |run, at| vk::BufferCopy { src_offset: run, dst_offset: at, ..Default::default() });
        self.staged(|staging| {
            self.run(staging, |device, staging| {
                // SAFETY: all ranges are within their buffers, and the commands are being recorded.
                unsafe { device.cmd_copy_buffer(staging.commands, from.buffer, staging.block.buffer, &copies) };
            })?;
            let len = into.len().min(PIECE);
            // SAFETY: the staging buffer has as many bytes, and the copy to it is done.
            unsafe { staging.start.copy_to_nonoverlapping(NonNull::from(into).cast(), len) };
            Ok(())
        })
    }

    /// Copies runs that are packed one after another, at most [`PIECE`] bytes together, to memory that the host cannot
    /// reach.
    pub(crate) fn scatter(&self, to: &Block, runs: &[Run], from: &[u8]) -> Result<()> {
        let copies = packed(runs, |run, at| vk::BufferCopy { src_offset: at, dst_offset: run, ..Default::default() });
        self.staged(|staging| {
            self.run(staging, |device, staging| {
                let len = from.len().min(PIECE);
                // SAFETY: the staging buffer has as many bytes, and nothing uses it: what came before is done.
                unsafe { staging.start.copy_from_nonoverlapping(NonNull::from(from).cast(), len) };
                // SAFETY: all ranges are within their buffers, and the commands are being recorded.
                unsafe { device.cmd_copy_buffer(staging.commands, staging.block.buffer, to.buffer, &copies) };
            })
        })
    }

    /// Copies within the device: at most [`MOST_RUNS`] runs, which do not overlap.
    pub(crate) fn copy_staged(&self, to: &Block, from: &Block, copies: &[vk::BufferCopy]) -> Result<()> {
        self.staged(|staging| {
            self.run(staging, |device, staging| {
                // SAFETY: the ranges are within the buffers and do not overlap; the commands are being recorded.
                unsafe { device.cmd_copy_buffer(staging.commands, from.buffer, to.buffer, copies) };
            })
        })
    }

    /// Sets 32-bit words of memory that the host cannot reach: at most [`MOST_RUNS`] runs, all multiples of 4.
    pub(crate) fn fill_staged(&self, to: &Block, runs: &[Run], word: u32) -> Result<()> {
        self.staged(|staging| {
            self.run(staging, |device, staging| {
                for run in runs {
                    let (offset, len) = (run.offset as u64, run.len as u64);
                    // SAFETY: the range is within the buffer, and the commands are being recorded.
                    unsafe { device.cmd_fill_buffer(staging.commands, to.buffer, offset, len, word) };
                }
            })
        })
    }

    /// Makes all bytes of a block zero.
    pub(crate) fn zero(&self, block: &Block) -> Result<()> {
        match block.mapped {
            // SAFETY: the block has as many bytes, and nothing else has it yet.
            Some(start) => unsafe { start.write_bytes(0, block.bytes as usize) },
            None => self.fill_staged(block, &[Run { offset: 0, len: block.bytes as usize }], 0)?,
        }
        Ok(())
    }
}
