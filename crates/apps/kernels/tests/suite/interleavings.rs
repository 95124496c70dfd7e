//! Whether a story calls an execution an interleaving.

use wattle::prelude::*;
use wattle_check::checker::Checker;
use wattle_check::story;
use wattle_memory::Target;

#[kernel]
fn two_writers(acc: &Acc, x: Shared<u32>, seen: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block < 2 {
        x[0] = block + 1;
    } else {
        let (first, second) = (x[0], x[0]);
        seen.store(block - 2, 10 * first + second);
    }
}

#[kernel]
fn add_one(_acc: &Acc, count: Atomic<u32>) {
    count.fetch_add_with(0, 1, Scope::Block, Order::Relaxed);
}

/// What no interleaving gives is not said to be one.
#[test]
fn an_interleaving_is_said_of_interleavings_alone() {
    let opposite = |device: &Device| {
        let (queue, x, seen) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(4, 1), two_writers(&x, &seen))?;
        let seen = seen.read(&queue)?;
        assert!(seen != [12, 21], "two readers see two writes in opposite orders");
        Ok(())
    };
    let lost = |device: &Device| {
        let (queue, count) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(2, 1), add_one(&count))?;
        assert_eq!(count.read(&queue)?, [2]);
        Ok(())
    };
    let early = |device: &Device| {
        let (queue, x, seen) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(3, 1), two_writers(&x, &seen))?;
        assert!(seen.read(&queue)? != [0, 0], "a reader comes last");
        Ok(())
    };
    type Launches<'l> = &'l dyn Fn(&Device) -> Result<()>;
    let none = "No interleaving of the steps gives this";
    for (launches, said) in [(&opposite as Launches<'_>, none), (&lost, none), (&early, "an ordinary interleaving")] {
        let report = Checker::for_target(Target::Ptx { sm: 90 }).check(launches).expect("it can be checked");
        let violation = report.violations.first().expect("it is refuted");
        let text = story::tell(violation, &report).to_string();
        assert!(text.contains(said), "{text}");
    }
}

/// Atomics that race need a wider scope, not to be atomic.
#[test]
fn what_atomics_of_two_blocks_need_is_a_wider_scope() {
    let device = Device::select("simulated").expect("it is always there");
    let launched = || {
        let (queue, count) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(2, 1), add_one(&count))?;
        queue.wait()
    };
    let error = launched().unwrap_err().to_string();
    assert!(error.contains("give both atomics a scope that includes both threads"), "{error}");
}
