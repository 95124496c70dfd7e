//! What a fence costs: where the time goes, and what was measured.
//!
//! A fence has no price of its own. It waits for what must be visible before it, or drops what must not be used after it,
//! and how long that takes depends on what is in flight. `wattle cost fences --device D` measures it on the machine at hand,
//! and `wattle cost interference --device D` beside another launch. Each figure is a difference: a loop with the operation,
//! less the same loop without it, in turns, as a median; what is below the resolution is "not measurable" (`-`), never
//! a number.
//!
//! # What each fence is
//!
//! | fence | PTX, from sm_90 | its machine code on sm_90, by ptxas 12.9 | Vulkan | x86-64 |
//! |---|---|---|---|---|
//! | `Acquire`, block | `fence.acquire.cta` | nothing | `OpMemoryBarrier` Acquire, Workgroup | nothing |
//! | `Acquire`, device | `fence.acquire.gpu` | `CCTL.IVALL` | the same, Device | nothing |
//! | `Release`, block | `fence.release.cta` | `MEMBAR.ALL.CTA` | `OpMemoryBarrier` Release, Workgroup | nothing |
//! | `Release`, device | `fence.release.gpu` | `MEMBAR.ALL.GPU` | the same, Device | nothing |
//! | `Release`, system | `fence.release.sys` | `MEMBAR.ALL.SYS` | none: refused | nothing |
//! | `AcqRel`, device | `fence.acq_rel.gpu` | `MEMBAR.ALL.GPU`, `CCTL.IVALL` | `OpMemoryBarrier` AcquireRelease, Device | nothing |
//! | `SeqCst`, block | `fence.sc.cta` | `MEMBAR.SC.CTA` | none exists: an atomic between two barriers | nothing: a block is one thread |
//! | `SeqCst`, device | `fence.sc.gpu` | `MEMBAR.SC.GPU`, `CCTL.IVALL` | the same | `mfence`, or a locked instruction |
//!
//! Below sm_90 there are no fences that only acquire or only release: `fence.acq_rel` stands for both. `wattle emit NAME
//! --target ptx` and `--target spirv` print what a scenario's own fences become.
//!
//! # The thread's own writes
//!
//! A release, and a sequentially consistent fence, waits until the writes before it are visible to the fence's scope. On a
//! GPU that is a way to the second-level cache and back for device scope, and over the bus for system scope if writes
//! went there. On x86-64 stores leave in order, so that a release has nothing to do; only `SeqCst` waits until the store
//! buffer is empty. So its cost grows with the stores before it, and more so if they miss the cache.
//!
//! An acquire waits for no write. On a GPU it invalidates the first-level cache of the multiprocessor, so the price is
//! paid later, by loads that would have hit. On x86-64 loads stay in order by themselves.
//!
//! # Others' writes, and cumulativity
//!
//! A fence of device scope is cumulative: what the thread has *seen* of others must be visible too before what follows
//! (PTX ISA 8.9.5 "Causality Order"). The hardware does not know which writes those are, so it waits for more than the
//! model asks for: for the writes of other threads of the multiprocessor, and for those of other launches. The CUDA C++
//! Programming Guide calls it memory fence interference. The scenarios `cumulativity`, `cumulativity-peer` and
//! `interference` show what must hold, and `wattle check` proves them. The other launch writes to device memory, to
//! host-mapped memory, and to another device's where the device reaches one
//! ([`Device::peers`](crate::Device::peers)).
//!
//! # The flush at the end of a launch
//!
//! What a launch has written is visible to all that is ordered after it. So its end is a fence of system scope that nobody
//! wrote: it waits for the launch's own writes, and, within a domain, for those of others. `wattle cost interference`
//! measures it as the time of a whole launch that writes and never fences.
//!
//! # Synchronization domains
//!
//! Devices from compute capability 9.0 on have memory synchronization domains: a fence of device scope, and the end of a
//! launch, wait for the writes of their own domain alone. In return only [`Scope::System`](crate::memory::Scope::System)
//! orders between two of them. [`LaunchOptions::sync_domain`](crate::LaunchOptions::sync_domain) puts one launch into a
//! domain, [`Queue::with_sync_domain`](crate::Queue::with_sync_domain) all launches of a queue, and launches in two domains
//! that share memory at less than system scope are refused when the second is enqueued.
//!
//! # Relaxed and volatile accesses
//!
//! An access that others may see at any time cannot be served from a cache that they do not see: on NVIDIA GPUs
//! `ld.relaxed.gpu` and `volatile` read the second-level cache, where a plain load may hit the first. So a relaxed load
//! costs what the way to the second-level cache costs, with no fence at all. On x86-64 all cores see one coherent cache,
//! and a relaxed access is a plain one. `volatile` orders nothing on either.
//!
//! # What was measured
//!
//! Nothing yet that is worth keeping: the machines that were had were shared with other work.
//! ## NVIDIA GPUs
//!
//! None was to be had when this page was written. `cargo xtask pack` makes a folder whose script `gpu.sh` measures all of
//! it on a machine with one, first of all.
