//! What a fence costs: where the time goes, and what was measured.
//!
//! A fence has no price of its own. It waits for what must be visible before it, or drops what must not be used after
//! it, and how long that takes depends on what is in flight. `wattle cost fences --device D` measures it on the machine
//! at hand, and `wattle cost interference --device D` beside another launch. Each figure is a difference: a loop with
//! the operation, less the same loop without it, in turns, as a median; what is below the resolution is "not
//! measurable" (`-`), never a number. The samples of a row are taken in three rounds, with all other rows between them
//! and memory of its own for each, and the figure is the median of the rounds' medians: `~` stands before one from
//! which a round differs by more than 15 %. On a device that runs PTX the same loops in CUDA C++, around
//! `__threadfence()`, `cuda::atomic_thread_fence` and `cuda::atomic_ref` with each order, are rows of their own.
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
//! Below sm_90 there are no fences that only acquire or only release: `fence.acq_rel` stands for both. `wattle emit
//! NAME --target ptx` and `--target spirv` print what a scenario's own fences become.
//!
//! # The thread's own writes
//!
//! A release, and a sequentially consistent fence, waits until the writes before it are visible to the fence's scope.
//! On a GPU that is a way to the second-level cache and back for device scope, and over the bus for system scope if
//! writes went there. On x86-64 stores leave in order, so that a release has nothing to do; only `SeqCst`, and each
//! atomic update, waits until the store buffer is empty, which takes longer the more stores stand before it, and longer
//! still if they miss the cache. A core that executes out of order does what follows meanwhile, unless that needs a
//! result: of a fence in a loop with other work little or nothing is left, and an exchange, whose result the next turn
//! needs, shows the waiting.
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
//! What a launch has written is visible to all that is ordered after it. So its end is a fence of system scope that
//! nobody wrote: it waits for the launch's own writes, and, within a domain, for those of others. `wattle cost
//! interference` measures it as the time of a whole launch that writes and never fences.
//!
//! # Synchronization domains
//!
//! Devices from compute capability 9.0 on have memory synchronization domains: a fence of device scope, and the end of
//! a launch, wait for the writes of their own domain alone. In return only
//! [`Scope::System`](crate::memory::Scope::System) orders between two of them.
//! [`LaunchOptions::sync_domain`](crate::LaunchOptions::sync_domain) puts one launch into a domain,
//! [`Queue::with_sync_domain`](crate::Queue::with_sync_domain) all launches of a queue, and launches in two domains
//! that share memory at less than system scope are refused when the second is enqueued.
//!
//! # Relaxed and volatile accesses
//!
//! An access that others may see at any time cannot be served from a cache that they do not see: on NVIDIA GPUs
//! `ld.relaxed.gpu` and `volatile` read the second-level cache, where a plain load may hit the first. So a relaxed load
//! costs what the way to the second-level cache costs, with no fence at all. On x86-64 all cores see one coherent
//! cache, and a relaxed access is a plain one. `volatile` orders nothing on either.
//!
//! # What was measured: two cores of a Xeon
//!
//! Two cores of an Intel Xeon (family 6, model 207, stepping 2) in a virtual machine with Linux 6.18: nanoseconds,
//! medians of three runs of `wattle cost fences --device host`, of 27 s each where nothing else ran. The written lines
//! of shared memory stay in the first-level cache, those of device memory miss the second. Fences of block scope, and
//! those that are not sequentially consistent, are no instruction.
//!
//! | operation | alone | 1 write, shared | 16 | 64 | 1 write, device | 16 | 64 | alone, both cores | 64, device, both cores |
//! |---|---|---|---|---|---|---|---|---|---|
//! | fence Acquire, Release, AcqRel device | - | - | - | - | - | - | - | - | - |
//! | fence SeqCst device | 7.6 | - | 0.2 | - | 0.1 | - | - | 7.3 | - |
//! | load SeqCst device | 7.2 | 0.1 | 0.1 | 1.8 | 0.1 | - | - | 7.1 | - |
//! | store Relaxed device | 1.0 | - | - | 2.4 | - | - | - | 0.9 | - |
//! | store SeqCst device | 7.0 | - | 0.2 | 2.3 | 0.1 | - | - | 7.1 | - |
//! | exchange Relaxed device | 6.8 | 12.4 | 17.4 | 16.1 | 12.7 | 19.1 | 27.1 | 6.8 | 36.2 |
//! | compare_exchange Relaxed device | 7.6 | 13.4 | 18.5 | 16.7 | 13.4 | 21.5 | 30.3 | 7.5 | 35.7 |
//! | fetch_add Relaxed device | 7.2 | 12.7 | 17.8 | 16.4 | 13.1 | 19.8 | 26.7 | 7.1 | 36.2 |
//!
//! What follows an atomic update here waits for it, and so for the store buffer; nothing waits for a fence, ahead of
//! which the core runs: behind writes, with other work around, it costs nothing that can be measured.
//!
//! # What was measured: NVIDIA H100
//!
//! An H100 80GB HBM3 (compute capability 9.0, 132 multiprocessors at 1,980 MHz) in a virtual machine, driver 580.159
//! with CUDA 13.0, on 2026-11-27. `wattle cost fences --device cuda:0`, all of which took 95 s: cycles per operation,
//! medians, by the thread's own writes before it, which go to device memory where nothing else is said. One warp of one
//! block, and one of each multiprocessor at once. Exchanges cost what `fetch_add` does.
//!
//! | operation | alone | 1 write | 16 writes | 64 writes | 16, host-mapped | alone, 132 blocks | 16 writes, 132 blocks |
//! |---|---|---|---|---|---|---|---|
//! | fence Acquire block | - | 6.0 | 6.0 | 5.9 | 6.0 | - | 6.0 |
//! | fence Acquire device | 3.9 | 6.0 | 6.0 | 6.0 | 6.0 | 4.0 | 6.0 |
//! | fence Acquire system | 4.0 | 6.0 | 6.0 | 6.0 | 6.0 | 4.0 | 6.0 |
//! | fence Release block | 9.9 | 44 | 74 | 170 | 74 | 10.0 | 74 |
//! | fence Release device | 678 | 676 | 676 | 676 | 676 | 656 | 656 |
//! | fence Release system | 1,384 | 1,327 | 1,327 | 1,330 | 1,327 | 1,472 | 1,462 |
//! | fence AcqRel block | 9.1 | 14 | 14 | 14 | 14 | 9.0 | 14 |
//! | fence AcqRel device | 682 | 677 | 677 | 678 | 677 | 660 | 657 |
//! | fence AcqRel system | 1,336 | 1,327 | 1,327 | 1,330 | 1,329 | 1,477 | 1,463 |
//! | fence SeqCst block | 8.2 | 13 | 13 | 13 | 13 | 8.0 | 13 |
//! | fence SeqCst device | 682 | 677 | 677 | 678 | 677 | 659 | 657 |
//! | fence SeqCst system | 1,335 | 1,327 | 1,328 | 1,330 | 1,334 | 1,476 | 1,463 |
//! | load Relaxed block | 95 | 53 | 53 | 53 | 53 | 98 | 53 |
//! | load Relaxed device | 327 | 46 | 46 | 46 | 46 | 329 | 46 |
//! | load Relaxed system | 327 | 46 | 46 | 46 | 46 | 329 | 46 |
//! | load Acquire block | 154 | 154 | 292 | 359 | 301 | 154 | 300 |
//! | load Acquire device | 401 | 410 | 413 | 413 | 417 | 403 | 412 |
//! | load Acquire system | 401 | 407 | 413 | 413 | 417 | 403 | 412 |
//! | load SeqCst block | 166 | 166 | 302 | 363 | 312 | 166 | 310 |
//! | load SeqCst device | 1,082 | 1,082 | 1,083 | 1,083 | 1,085 | 1,063 | 1,062 |
//! | load SeqCst system | 1,810 | 1,730 | 1,736 | 1,735 | 1,753 | 1,879 | 1,871 |
//! | store Relaxed block | 52 | 53 | 53 | 53 | 53 | 73 | 53 |
//! | store Relaxed device | 54 | 53 | 53 | 53 | 53 | 54 | 53 |
//! | store Relaxed system | 54 | 53 | 53 | 53 | 53 | 54 | 53 |
//! | store Release block | 62 | 99 | 129 | 225 | 129 | 77 | 129 |
//! | store Release device | 732 | 731 | 732 | 732 | 731 | 711 | 713 |
//! | store Release system | 1,385 | 1,381 | 1,381 | 1,384 | 1,389 | 1,524 | 1,520 |
//! | store SeqCst block | 62 | 99 | 129 | 226 | 129 | 76 | 129 |
//! | store SeqCst device | 738 | 735 | 736 | 736 | 735 | 717 | 717 |
//! | store SeqCst system | 1,427 | 1,384 | 1,385 | 1,388 | 1,386 | 1,531 | 1,521 |
//! | compare_exchange Relaxed block | 671 | 704 | 726 | 804 | 726 | 573 | 625 |
//! | compare_exchange Relaxed device | 643 | 698 | 726 | 805 | 725 | 565 | 629 |
//! | compare_exchange Relaxed system | 644 | 698 | 725 | 805 | 724 | 565 | 629 |
//! | compare_exchange Acquire block | 686 | 687 | 680 | 662 | 679 | 589 | 579 |
//! | compare_exchange Acquire device | 659 | 681 | 678 | 662 | 678 | 581 | 582 |
//! | compare_exchange Acquire system | 660 | 682 | 679 | 662 | 678 | 581 | 582 |
//! | compare_exchange Release block | 679 | 679 | 672 | 654 | 671 | 581 | 570 |
//! | compare_exchange Release device | 1,317 | 1,371 | 1,398 | 1,478 | 1,397 | 1,217 | 1,283 |
//! | compare_exchange Release system | 2,031 | 2,037 | 2,053 | 2,132 | 2,053 | 2,029 | 2,084 |
//! | compare_exchange AcqRel block | 695 | 695 | 670 | 670 | 687 | 597 | 587 |
//! | compare_exchange AcqRel device | 1,333 | 1,353 | 1,350 | 1,335 | 1,350 | 1,233 | 1,236 |
//! | compare_exchange AcqRel system | 1,986 | 2,006 | 2,005 | 1,989 | 2,004 | 2,044 | 2,039 |
//! | compare_exchange SeqCst block | 693 | 693 | 685 | 668 | 685 | 595 | 585 |
//! | compare_exchange SeqCst device | 1,335 | 1,355 | 1,356 | 1,342 | 1,353 | 1,235 | 1,238 |
//! | compare_exchange SeqCst system | 2,000 | 2,022 | 2,004 | 1,995 | 2,007 | 2,048 | 2,042 |
//! | fetch_add Relaxed block | 537 | 106 | 98 | 79 | 97 | 468 | 99 |
//! | fetch_add Relaxed device | 533 | 99 | 92 | 74 | 91 | 437 | 101 |
//! | fetch_add Relaxed system | 533 | 99 | 92 | 74 | 91 | 437 | 101 |
//! | fetch_add Acquire block | 685 | 685 | 678 | 661 | 677 | 587 | 577 |
//! | fetch_add Acquire device | 681 | 678 | 672 | 655 | 671 | 579 | 575 |
//! | fetch_add Acquire system | 681 | 677 | 670 | 656 | 671 | 579 | 575 |
//! | fetch_add Release block | 545 | 114 | 106 | 87 | 105 | 475 | 105 |
//! | fetch_add Release device | 1,206 | 772 | 765 | 748 | 764 | 1,090 | 755 |
//! | fetch_add Release system | 1,860 | 1,423 | 1,415 | 1,402 | 1,424 | 1,897 | 1,561 |
//! | fetch_add AcqRel block | 693 | 694 | 685 | 669 | 685 | 595 | 585 |
//! | fetch_add AcqRel device | 1,354 | 1,351 | 1,343 | 1,328 | 1,343 | 1,231 | 1,229 |
//! | fetch_add AcqRel system | 2,008 | 2,003 | 1,994 | 1,982 | 2,009 | 2,042 | 2,030 |
//! | fetch_add SeqCst block | 691 | 691 | 683 | 666 | 683 | 593 | 570 |
//! | fetch_add SeqCst device | 1,357 | 1,355 | 1,346 | 1,336 | 1,349 | 1,233 | 1,232 |
//! | fetch_add SeqCst system | 2,070 | 2,006 | 2,001 | 1,989 | 2,013 | 2,047 | 2,040 |
//! | sync_block | 12 | 15 | 11 | - | 10 | 13 | 9.3 |
//! | warp.sync | 54 | 116 | 112 | 102 | 112 | 57 | 112 |
//!
//! - An acquire fence is nearly free. The same fence of libcu++
//!   (`cuda::atomic_thread_fence(cuda::memory_order_acquire)`), which becomes `fence.acq_rel`, took 673 cycles of
//!   device scope beside it, and 1,330 of system scope.
//! - A release of device scope takes 676 cycles, the way to the second-level cache and back, however many writes there
//!   are, and from one multiprocessor as from 132. With system scope it takes twice that; behind 64 writes of each of
//!   132 warps to host-mapped memory it takes 11,900.
//! - A relaxed load from the second-level cache takes 327 cycles when it is waited for, and 46 when others' latency
//!   hides it.
//! - `fence.release.cta` takes longer than `fence.acq_rel.cta` behind writes, though both are `MEMBAR.ALL.CTA`; why is
//!   not known.
//!
//! **Beside another launch** (`wattle cost interference`): a fence of device scope takes 677 cycles alone, from 694 to
//! 777 beside a warp on each multiprocessor that writes to device memory, and, where these write to host-mapped memory,
//! 700 with one write in flight of each thread, 2,400 with 4, 9,300 with 16 and 47,000 with 64. **Two memory
//! synchronization domains made no difference** in any of these, nor in a program in CUDA C++ that used
//! `cudaLaunchAttributeMemSyncDomain` without Wattle. There, writes of one at a time for each thread that nobody waited
//! for cost others' fences nothing (668 cycles), device fences behind them up to 950, and system fences up to 2,500:
//! what fences wait for are each other.
//!
//! **A look at host memory costs others.** While other multiprocessors read one word of host-mapped memory, fences of
//! device scope took 4,000 to 8,000 cycles instead of 656, and each such read 0.9 µs, one after another. A loop without
//! a bound used to look there for the request to stop; it has a copy in device memory now, and one thread looks at the
//! host's word every 100 µs.
//!
//! Under Vulkan on the same card (`--device vulkan:0`, in ticks of its clock, which are nanoseconds): an acquire fence
//! of device scope takes 336, a release 330, sequentially consistent 1,376; so that an acquire is no cheaper than a
//! release there.
