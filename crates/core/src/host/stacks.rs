//! The stacks of fibers: one pool for the process.
//!
//! Workers borrow from it when they join a launch, and give back when they leave, so that launches one after another
//! make no stacks, however many queues have workers of their own. Each stack ends at a guard page, which is a part of
//! the address space that operating systems count: Linux gives a process 65,530 such parts, and a stack with its page
//! takes two. So the pool has a limit, beyond which workers do without, and leave the blocks to the others.
//!
//! **Size.** A kernel calls no function of unknown size: device functions are inlined, there is no recursion, and what
//! its statements call is this library's. So its representation bounds the frame. Without optimization rustc gives each
//! temporary a place of its own, an array several times; the factors here are some times what was measured, and memory
//! that is never touched costs nothing. What is needed beyond ends at the guard page, where the process is ended: rustc
//! writes probes into functions whose frames are larger than a page, so that none steps over it.

use std::io;
use std::sync::Mutex;

use corosensei::stack::DefaultStack;

use crate::sync::lock;

/// The most stacks of the pool: with their guard pages half of what Linux permits.
pub(super) const MOST_STACKS: u32 = 1 << 14;

/// What a stack has beyond the kernel's own frame: for this library's functions, and a panic with its backtrace.
const MARGIN: usize = 128 << 10;
/// How often an array of a kernel may be on the stack without optimization: in each function that it passes through.
const COPIES_OF_ARRAY: usize = 8;
/// What a slot, an expression or a statement may take without optimization, in bytes.
const PER_NODE: usize = 512;

/// The size of a stack for a thread of a kernel, in bytes.
pub(crate) fn stack_bytes(kernel: &wattle_ir::Kernel) -> usize {
    let arrays: usize = kernel.locals.iter().map(|array| array.len as usize * array.element.size()).sum();
    let mut nodes = kernel.exprs.len() + kernel.slots.len() + kernel.params.len();
    let mut blocks = vec![&kernel.body];
    while let Some(block) = blocks.pop() {
        nodes += block.len();
        blocks.extend(block.iter().flat_map(|statement| statement.parts().blocks.into_iter().flatten()));
    }
    (MARGIN + COPIES_OF_ARRAY * arrays + PER_NODE * nodes).next_power_of_two()
}

/// The largest frames for which a thread's own stack is enough: Rust gives threads 2 MiB.
const ORDINARY: usize = 1 << 20;

/// Whether frames of this size need a stack of their own.
pub(super) fn is_large(bytes: usize) -> bool {
    bytes > ORDINARY
}

/// The stack for what builds a kernel: its functions call one another up to 64 deep, and without optimization each call
/// has its arrays on the stack several times. Memory that is never touched costs nothing.
const BUILDING: usize = 64 << 20;

/// Runs what builds a kernel, on a stack that is large enough where the operating system gives one.
pub(crate) fn building<R>(build: impl FnOnce() -> R) -> R {
    match DefaultStack::new(BUILDING) {
        Ok(stack) => corosensei::on_stack(stack, build),
        Err(_) => build(),
    }
}

static POOL: Mutex<Pool> = Mutex::new(Pool { bytes: 0, made: 0, free: Vec::new() });

struct Pool {
    /// The size of each stack here. Smaller ones are freed when a kernel needs larger ones.
    bytes: usize,
    /// The number of stacks that exist, in the pool and lent.
    made: usize,
    free: Vec<DefaultStack>,
}

/// Stacks that a worker has borrowed.
pub(super) struct Stacks {
    bytes: usize,
    /// The number of stacks that the pool counts as lent to this worker, also where not all could be made.
    lent: usize,
    stacks: Vec<DefaultStack>,
}

impl Stacks {
    /// An empty set of stacks, for blocks of one thread whose frames are not large.
    pub(super) const NONE: Stacks = Stacks { bytes: 0, lent: 0, stacks: Vec::new() };

    /// Borrows `count` stacks of at least `bytes` bytes each. `must` borrows beyond the limit too.
    ///
    /// # Errors
    /// The limit is reached, or the operating system has no memory for them.
    pub(super) fn borrow(count: usize, bytes: usize, must: bool) -> io::Result<Stacks> {
        let mut pool = lock(&POOL);
        if pool.bytes < bytes {
            pool.bytes = bytes;
            pool.made -= pool.free.len();
            pool.free.clear();
        }
        let (kept, bytes) = (pool.free.len().saturating_sub(count), pool.bytes);
        let lacking = count.saturating_sub(pool.free.len());
        if !must && pool.made + lacking > MOST_STACKS as usize {
            return Err(io::Error::other("too many stacks"));
        }
        pool.made += lacking;
        let mut borrowed = Stacks { bytes, lent: count, stacks: pool.free.split_off(kept) };
        drop(pool);
        for _ in 0..lacking {
            borrowed.stacks.push(DefaultStack::new(bytes)?);
        }
        Ok(borrowed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, DefaultStack> {
        self.stacks.iter_mut()
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        if self.lent == 0 {
            return;
        }
        let mut pool = lock(&POOL);
        pool.made -= self.lent;
        if self.bytes == pool.bytes {
            pool.made += self.stacks.len();
            pool.free.append(&mut self.stacks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses of the stacks.
    fn places(stacks: &Stacks) -> Vec<usize> {
        use corosensei::stack::Stack;
        stacks.stacks.iter().map(|stack| stack.base().get()).collect()
    }

    #[test]
    fn stacks_are_made_once_and_no_more_than_the_limit() {
        // Larger than any other test's, so that they are this test's alone.
        let bytes = 4 << 20;
        let first = Stacks::borrow(8, bytes, false).unwrap();
        let known = places(&first);
        drop(first);
        // A later launch gets them again, also if it needs fewer, or less of each.
        for (count, bytes) in [(8, bytes), (3, bytes), (5, bytes / 2)] {
            let again = Stacks::borrow(count, bytes, false).unwrap();
            assert!(places(&again).iter().all(|place| known.contains(place)) && again.stacks.len() == count);
        }
        let most = MOST_STACKS as usize;
        assert!(Stacks::borrow(most + 1, bytes, false).is_err(), "who can do without does");
        let made = lock(&POOL).made;
        let beyond = Stacks::borrow(9, bytes, true).unwrap();
        assert_eq!((places(&beyond).len(), lock(&POOL).made), (9, made + 1));
        drop(beyond);
        // Smaller ones are not kept beside larger ones.
        drop(Stacks::borrow(2, 2 * bytes, false).unwrap());
        let pool = lock(&POOL);
        assert_eq!((pool.bytes, pool.made, pool.free.len()), (2 * bytes, 2, 2));
    }

    /// Goes on until it has used `bytes` of the stack.
    #[inline(never)]
    fn deeper(bytes: usize) -> u8 {
        let mut frame = [1u8; 1024];
        std::hint::black_box(&mut frame);
        let below = if bytes > frame.len() { deeper(bytes - frame.len()) } else { 0 };
        std::hint::black_box(frame[bytes % 1024]) + below
    }

    /// Run by the test below, in a process of its own, since it ends it.
    #[test]
    #[ignore = "it overflows a stack"]
    fn overflows() {
        let stack = DefaultStack::new(64 << 10).unwrap();
        let mut routine = corosensei::Coroutine::<(), (), u8>::with_stack(stack, |_, ()| deeper(1 << 20));
        routine.resume(());
        println!("it went on");
    }

    #[cfg(unix)]
    #[test]
    fn a_stack_that_overflows_ends_the_process() {
        use std::os::unix::process::ExitStatusExt;
        let name = "host::stacks::tests::overflows";
        let test = std::env::current_exe().unwrap();
        let run =
            std::process::Command::new(test).args(["--exact", name, "--ignored", "--nocapture"]).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.signal().is_some() && !said.contains("it went on"), "{:?} {said}", run.status);
        assert!(said.contains("running 1 test"), "{said}");
    }
}
