//! All small programs of two threads, up to what cannot matter, and whether targets keep the promise on them.
//!
//! A program of up to three statements a thread, each an access or a fence of any order and scope, in one block or two.
//! What is enumerated stands for all of them; the following explains why what is omitted cannot matter:
//!
//! - **Scopes.** Two threads are all there are. `System` reaches no further than `Device` among threads of one device,
//!   in any model, so `Device` stands for both (Vulkan has no `System` and refuses it). In one block `Block` reaches as
//!   far as `Device` too, but Vulkan emits other instructions for it, and the host none: a program is judged there once
//!   all of `Block` and once all of `Device` (a mixed one becomes all `Device` on Vulkan). In two blocks a `Block` fence does
//!   nothing in `portable`, in `ptx` and on the host, and on Vulkan at most takes outcomes away, so it is left out; and a
//!   `Block` access is no more than a plain one.
//! - **Races.** Any two statements that the threads stand before in some interleaving can be done one right after the other.
//!   If they conflict and are not both atomic within each other's scope, nothing orders them, and `portable`
//!   reports a race. So a program without guards is free of races only if all its conflicts are between
//!   atomics of wide enough scope: the family [`Family::Strong`]. Plain accesses are worth a look where guards (`if` on
//!   what was read) keep them apart: [`Family::Guarded`].
//! - **First and last.** A fence before the first access of a thread, or behind its last, orders nothing: nothing of
//!   its thread is on one side of it, and in an order of fences it can always stand first, or last. So fences stand
//!   in the middle, and a sequentially consistent first access is an acquire, release or acquire-release one. A first
//!   write releases nothing and a last read acquires nothing, but what the location's own coherence says of strong
//!   accesses anyhow.
//! - **Read-modify-writes.** With a value of its own for each write an outcome shows the source of each read. An
//!   exchange can do what a fetch_add or a successful compare-exchange can, which only depend on more; so where all
//!   executions of the former keep the promise, so do those of the latter. A compare-exchange that fails is a load, but
//!   where the target writes the old value back.
//! - **Places.** A place that a single thread touches, or that no thread writes, affects no outcome. The same goes for
//!   a load of a place that the other thread does not write. Guards of strong programs only cut threads short, and the
//!   shorter programs are here too.
//! - Threads and places are numbered in the least way.
//!
//! Programs of all statements, in any place, are drawn at random beside that (`tests/promise.rs`), so that no mistake
//! in these arguments can hide for long.

#![allow(dead_code, reason = "the test and the xtask each use their part")]

pub mod drive;
mod judge;
mod programs;
mod race;

pub use programs::{Family, Programs, SHAPES};
