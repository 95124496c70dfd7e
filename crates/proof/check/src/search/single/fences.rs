//! Fences around the barriers of blocks (Vulkan).
//!
//! A barrier orders the storage classes that its own semantics name. A fence that releases others before it, and one
//! that acquires them behind it, order those too (Vulkan Memory Model, "Synchronizes-With"): `memoryBarrierBuffer();
//! barrier(); memoryBarrierBuffer();`. The run counts such a barrier for a class where all threads of the block have
//! released what they did to it, from where a thread acquires on. Where only some do either, it gives up, or says of no
//! accesses that they race.

use wattle_memory::{Classes, Label, Level, ThreadId};

use super::{CLASSES, Runs};

/// What a thread has released and not acquired yet.
#[derive(Clone, Copy, Default)]
pub(super) struct Fenced {
    /// The classes of its accesses since it last released them.
    unreleased: u8,
    /// The classes that its fences have released since its last barrier.
    released: u8,
    /// For each class, the number of barriers before which all have released, and behind which it has not acquired.
    open: [u32; CLASSES],
}

/// What the threads of a block make of such barriers.
#[derive(Clone, Copy, Default)]
pub(super) struct Acquired {
    /// The classes that some thread has acquired, where others may not have.
    by_some: u8,
    /// The classes that some thread has accessed without acquiring, so that the barrier does not count.
    by_none: u8,
}

impl Runs<'_, '_> {
    /// Notes a fence of a thread.
    pub(super) fn fence(&mut self, thread: ThreadId, label: Label) {
        self.order.other |= label.sc;
        self.order.of_fences |= label.acquire || label.release;
        if !self.setup.model.has_classes() {
            return;
        }
        let is_whole = (!label.release || label.makes_available) && (!label.acquire || label.makes_visible);
        if label.level < Level::Block || !is_whole {
            self.order.other = true;
            return;
        }
        let (about, block) = (label.semantics.0, self.runners[thread].block);
        let runner = &mut self.runners[thread];
        if label.acquire {
            for class in classes(about) {
                let bit = 1 << class;
                match std::mem::take(&mut runner.fenced.open[class]) {
                    0 => self.order.other |= self.acquired[block].by_none & bit != 0,
                    passed => {
                        runner.phases[class] += passed;
                        self.acquired[block].by_some |= bit;
                    }
                }
            }
        }
        if label.release {
            runner.fenced.unreleased &= !about;
            runner.fenced.released |= about;
        }
    }

    /// Notes an access of a thread; `None` where others have acquired what it has not.
    pub(super) fn touch(&mut self, thread: ThreadId, class: usize) -> Option<()> {
        let (bit, block) = (1 << class, self.runners[thread].block);
        let fenced = &mut self.runners[thread].fenced;
        fenced.unreleased |= bit;
        if fenced.open[class] == 0 {
            return Some(());
        }
        let acquired = &mut self.acquired[block];
        if acquired.by_some & bit != 0 {
            return None;
        }
        acquired.by_none |= bit;
        for &other in &self.blocks[block] {
            self.runners[other].fenced.open[class] = 0;
        }
        Some(())
    }

    /// Lets the threads of a block pass its barrier, which is about these classes itself.
    pub(super) fn pass(&mut self, block: usize, about: Classes) {
        for class in 0..CLASSES {
            let bit = 1 << class;
            let any = |is_so: fn(&Fenced, u8) -> bool| {
                self.blocks[block].iter().any(|&thread| is_so(&self.runners[thread].fenced, bit))
            };
            let counts = about.includes(Classes(bit));
            let (released, left) =
                (any(|fenced, bit| fenced.released & bit != 0), any(|fenced, bit| fenced.unreleased & bit != 0));
            // What some have released, and others not, is ordered in part.
            self.order.other |= !counts && released && left;
            for &thread in &self.blocks[block] {
                let runner = &mut self.runners[thread];
                if counts {
                    runner.phases[class] += 1 + std::mem::take(&mut runner.fenced.open[class]);
                    runner.fenced.unreleased &= !bit;
                } else if released && !left {
                    runner.fenced.open[class] += 1;
                }
                runner.fenced.released &= !bit;
            }
            let is_open =
                |&thread: &ThreadId| self.runners[thread].fenced.open[class] > u32::from(!counts && released && !left);
            if !self.blocks[block].iter().any(is_open) {
                self.acquired[block].by_some &= !bit;
            }
        }
    }
}

/// The numbers of the classes in a set of them.
fn classes(of: u8) -> impl Iterator<Item = usize> {
    (0..CLASSES).filter(move |class| of & (1 << class) != 0)
}
