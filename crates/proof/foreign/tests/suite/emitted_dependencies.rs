//! Kernels of which it depends on a loop, a fault or a barrier what their threads may do early, or do together: as they are emitted
//! and read back, they have the verdicts of the intermediate representation.

use wattle::prelude::*;
use wattle_check::checker::{Checker, Report, Verdict};
use wattle_memory::Target;

const TARGETS: [Target; 2] = [Target::Ptx { sm: 90 }, Target::Vulkan];

/// A kernel whose first thread does something between a load of `x` and a store to `y`, and whose second copies `y` to `x`.
macro_rules! between {
    ($name:ident, |$a:ident, $x:ident, $z:ident| { $($between:tt)* }) => {
        #[kernel]
        fn $name(acc: &Acc, $x: Atomic<u32>, y: Atomic<u32>, $z: Atomic<u32>) {
            if acc.thread_in_grid() == 0 {
                let $a = $x.load(0);
                $($between)*
                y.store(0, 1);
                $z.store(8, $a);
            } else {
                let b = y.load(0);
                $x.store(0, b);
                $z.store(9, b);
            }
        }
    };
}

between!(counts_up, |a, x, z| {
    for _ in 0..a {
        z.fetch_add(0, 1);
    }
});
between!(counts_down, |a, x, z| {
    let mut k = a;
    while k > 0 {
        z.fetch_add(0, 1);
        k -= 1;
    }
});
between!(looks_and_stores, |a, x, z| {
    for _ in 0..3 {
        if z.load(0) == a + 9 {
            z.store(1, 1);
        }
    }
});
between!(leaves_early, |a, x, z| {
    for i in 0..3 {
        if z.load(i) == a + 1 {
            break;
        }
    }
});
between!(asserts, |a, x, z| {
    assert!(a == 0);
});
between!(is_out_of_bounds, |a, x, z| {
    let mut l = [0u32; 1];
    l[a] = 1;
    z.store(0, l[0]);
});
between!(loads_out_of_bounds, |a, x, z| {
    z.store(0, z.load(16 * a));
});
between!(divides_by_zero, |a, x, z| {
    z.store(0, 4 / (1 - a));
});

/// The report on the emitted kernel for a target, which finds what that on the intermediate representation finds.
fn both(name: &str, target: Target, run: &dyn Fn(&Device) -> Result<Summary>) -> Report {
    let checker = Checker::for_target(target);
    let own = checker.check(run).expect("it can be judged");
    let emitted = checker.emitted().check(run).expect("it can be judged");
    assert_eq!(own.verdict, emitted.verdict, "{name} for {target}:\n{own}\n{emitted}");
    emitted
}

macro_rules! runs {
    ($($name:ident)+) => {
        [$((stringify!($name), &|device: &Device| {
            let queue = device.queue()?;
            let (x, y, z) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(10)?);
            queue.launch(ThreadSpec::new(2, 1), $name(&x, &y, &z))?;
            let seen = z.read(&queue)?;
            assert!(!(seen[8] == 1 && seen[9] == 1), "both");
            Ok(Summary::new("done"))
        })),+] as [(&str, &dyn Fn(&Device) -> Result<Summary>); _]
    };
}

/// None of these loops waits for anything, so that the store behind it depends on nothing.
#[test]
fn a_store_behind_a_loop_that_ends_is_early() {
    for (name, run) in runs!(counts_up counts_down looks_and_stores leaves_early) {
        for target in TARGETS {
            assert_eq!(both(name, target, run).verdict, Verdict::Violated, "{name} for {target}");
        }
    }
}

#[kernel]
fn counts_to_7(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, z: Atomic<u32>) {
    let a = x.load(0);
    for _ in 0..7 {
        let v = z.load(a & 1);
        if v == 77 {
            y.store(0, 1);
        }
    }
    z.store(8, 1);
}

/// How often it goes round does not depend on what it reads.
#[test]
fn a_loop_of_many_turns_that_reads_has_no_bound_to_come_to() {
    for (name, run) in runs!(counts_to_7) {
        for target in TARGETS {
            assert_eq!(both(name, target, run).verdict, Verdict::Holds, "{name} for {target}");
        }
    }
}

/// A fault ends nothing, so that the store behind it depends on nothing, and may be what brings it about.
#[test]
fn a_store_behind_a_fault_is_early() {
    for (name, run) in runs!(asserts is_out_of_bounds loads_out_of_bounds divides_by_zero) {
        for target in TARGETS {
            assert_eq!(both(name, target, run).verdict, Verdict::Violated, "{name} for {target}");
        }
    }
}

#[kernel]
fn continues(acc: &Acc, seen: Atomic<u32>) {
    let t = acc.thread_in_block();
    let mut i = 0;
    while i < 2 {
        i += 1;
        if i == 1 + t {
            continue;
        }
        acc.sync_block();
    }
    seen.store(t, 1);
}

#[kernel]
fn meets_in_each_turn(acc: &Acc, seen: Atomic<u32>) {
    let t = acc.thread_in_block();
    for i in 0..3 {
        for _ in 0..t {
            seen.fetch_add(i, 1);
        }
        acc.sync_block();
    }
}

/// Threads of a warp that come to one barrier in different iterations have found different conditions before it.
#[test]
fn a_barrier_in_another_iteration_is_another_one() {
    let continues = |device: &Device| {
        let (queue, seen) = (device.queue()?, device.alloc_zeroed::<u32>(3)?);
        queue.launch(ThreadSpec::new(1, 2), continues(&seen))?;
        Ok(Summary::new("done"))
    };
    let meets = |device: &Device| {
        let (queue, seen) = (device.queue()?, device.alloc_zeroed::<u32>(3)?);
        queue.launch(ThreadSpec::new(1, 2), meets_in_each_turn(&seen))?;
        Ok(Summary::new("done"))
    };
    for target in TARGETS {
        assert_eq!(both("continues", target, &continues).verdict, Verdict::Violated, "{target}");
        assert_eq!(both("meets_in_each_turn", target, &meets).verdict, Verdict::Holds, "{target}");
    }
}
