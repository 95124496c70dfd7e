//! The loop in which a thread computes without an end: it looks at no memory, so that no search bounds it, and a limit
//! of time ends the search while the thread is in it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use wattle_check::search::Action;

/// How often in a row threads have gone back in a loop without anything else that others see.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The statement that jumps back.
    jump: AtomicU32,
    count: AtomicU32,
    /// The loop in which a run was that a limit has ended.
    left: OnceLock<(u32, u32)>,
}

/// The least number of turns after which a loop is named: one that ends is seldom that long.
const MANY: u32 = 1 << 12;

impl Turns {
    /// Records what a thread has come to.
    pub fn note(&self, action: &Action) {
        let source = match *action {
            Action::BackEdge { source, .. } => source,
            // A search begins again with it.
            Action::LoopHead { .. } => return,
            Action::Read { .. }
            | Action::Write { .. }
            | Action::Update { .. }
            | Action::Fence { .. }
            | Action::Barrier { .. }
            | Action::Exchange { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => return self.count.store(0, Ordering::Relaxed),
        };
        if self.jump.swap(source, Ordering::Relaxed) == source {
            self.count.fetch_add(1, Ordering::Relaxed);
        } else {
            self.count.store(1, Ordering::Relaxed);
        }
    }

    /// The statement that jumps back, and how often it did, if a thread is in such a loop.
    pub fn many(&self) -> Option<(u32, u32)> {
        let count = self.count.load(Ordering::Relaxed);
        (count >= MANY).then(|| (self.jump.load(Ordering::Relaxed), count)).or(self.left.get().copied())
    }

    /// Keeps the loop in which a thread is where a run has ended: what comes next begins anew, and has no time to come
    /// there again.
    pub fn run_has_ended(&self) {
        self.many().into_iter().for_each(|known| _ = self.left.set(known));
    }
}
