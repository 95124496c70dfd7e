//! How devices deal indices out where a kernel does not say it: a scenario holds if it does whatever they choose.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle_memory::Target;

/// Numbers each thread's own items.
#[kernel]
fn number(acc: &Acc, x: PerItem<u32>) {
    let mut own = 0;
    for (_, x) in acc.items(&mut x) {
        *x = own;
        own += 1;
    }
}

/// Each thread reads what it wrote itself, if every other index is its own.
#[kernel]
fn read_own(acc: &Acc, x: Shared<u32>, o: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        x[i] = i + 1;
    }
    let t = acc.thread_in_grid();
    o[t] = x[t] + x[t + acc.threads_in_grid()];
}

/// The same, and the kernel says how.
#[kernel]
fn read_own_strided(acc: &Acc, x: Shared<u32>, o: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()).strided() {
        x[i] = i + 1;
    }
    let t = acc.thread_in_grid();
    o[t] = x[t] + x[t + acc.threads_in_grid()];
}

fn numbered(expected: [u32; 4]) -> impl Fn(&Device) -> Result<()> {
    move |device| {
        let (queue, mut x) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
        queue.launch(ThreadSpec::new(2, 1), number(&mut x))?;
        assert_eq!(x.read(&queue)?, expected);
        Ok(())
    }
}

fn checked(target: Target, scenario: impl Fn(&Device) -> Result<()>) -> Report {
    Checker::for_target(target).check(scenario).unwrap()
}

const TARGETS: [Target; 4] = [Target::Portable, Target::Ptx { sm: 90 }, Target::Vulkan, Target::Host];

#[test]
fn each_target_is_judged_as_its_devices_do_it() {
    let verdicts = |expected| TARGETS.map(|target| checked(target, numbered(expected)).verdict);
    use Verdict::{Holds, Violated};
    // What is promised everywhere holds in neither case.
    assert_eq!(verdicts([0, 0, 1, 1]), [Violated, Holds, Holds, Violated]);
    assert_eq!(verdicts([0, 1, 0, 1]), [Violated, Violated, Violated, Holds]);
    let report = checked(Target::Portable, numbered([0, 0, 1, 1]));
    assert_eq!(report.violated_in, ["2 blocks × 1 thread, runs of indices"]);
    let host = Device::host_serial();
    numbered([0, 1, 0, 1])(&host).unwrap();
    numbered([0, 0, 1, 1])(&Device::simulated(0)).unwrap();
}

#[test]
fn what_another_thread_wrote_there_is_a_race() {
    let with = |strided: bool| {
        move |device: &Device| -> Result<()> {
            let (queue, x, o) = (device.queue()?, device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<u32>(2)?);
            match strided {
                true => queue.launch(ThreadSpec::new(2, 1), read_own_strided(&x, &o)),
                false => queue.launch(ThreadSpec::new(2, 1), read_own(&x, &o)),
            }
        }
    };
    let report = checked(Target::Portable, with(false));
    assert_eq!(report.verdict, Verdict::Violated, "{report}");
    assert_eq!(report.violations[0].kind(), "data race", "{report}");
    assert_eq!(checked(Target::Vulkan, with(false)).verdict, Verdict::Holds);
    let report = checked(Target::Portable, with(true));
    assert_eq!((report.verdict, report.shapes.len()), (Verdict::Holds, 1), "{report}");
}

/// Publishes, on devices of capability 90 or more without order.
#[kernel]
fn publish_unless_new(acc: &Acc, x: Shared<u32>, flag: Atomic<u32>, new_is_wrong: bool) {
    if acc.block_in_grid() == 0 {
        x[0] = 1;
        if (acc.device().compute_capability() >= 90) == new_is_wrong {
            flag.store(0, 1);
        } else {
            flag.store_with(0, 1, Scope::Device, Order::Release);
        }
    } else if flag.load_with(0, Scope::Device, Order::Acquire) == 1 {
        assert!(x[0] == 1);
    }
}

/// Gives one result where there is `f64`, and another where there is none.
#[kernel]
fn depends_on_f64(acc: &Acc, x: Shared<u32>) {
    x[acc.thread_in_grid()] = if acc.device().has_f64() { 1 } else { 2 };
}

#[test]
fn what_a_kernel_asks_is_answered_as_the_target_s_devices_do() {
    use Verdict::{Holds, Violated};
    let verdicts = |new_is_wrong: bool| {
        let scenario = move |device: &Device| {
            let (x, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            device.queue()?.launch(ThreadSpec::new(2, 1), publish_unless_new(&x, &flag, new_is_wrong))
        };
        [Target::Portable, Target::Ptx { sm: 70 }, Target::Ptx { sm: 90 }, Target::Vulkan]
            .map(|target| checked(target, scenario).verdict)
    };
    assert_eq!(verdicts(true), [Violated, Holds, Violated, Holds]);
    assert_eq!(verdicts(false), [Violated, Violated, Holds, Violated]);
    let expects = |expected: u32| {
        let scenario = move |device: &Device| -> Result<()> {
            let (queue, x) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(ThreadSpec::new(1, 1), depends_on_f64(&x))?;
            assert_eq!(x.read(&queue)?, [expected]);
            Ok(())
        };
        TARGETS.map(|target| checked(target, scenario).verdict)
    };
    assert_eq!(expects(1), [Violated, Holds, Violated, Holds]);
    assert_eq!(expects(2), [Violated, Violated, Violated, Violated]);
}

/// Publishes what a loop wrote, without order.
#[kernel]
fn publish_a_sum(acc: &Acc, x: Shared<u32>, flag: Atomic<u32>) {
    for i in acc.indices(THREADS_IN_BLOCK, 0..2) {
        if acc.block_in_grid() == 0 {
            x[i] = 1;
        }
    }
    acc.sync_block();
    if acc.block_in_grid() == 0 && acc.thread_in_block() == 0 {
        flag.store(0, 1);
    } else if acc.block_in_grid() == 1 && flag.load_with(0, Scope::Device, Order::Acquire) == 1 {
        assert!(x[0] == 1);
    }
}

/// A change of a line is one of the kernel in either layout, in which its instructions have other numbers.
#[test]
fn advice_is_tried_in_all_layouts() {
    let scenario = |device: &Device| -> Result<()> {
        let (x, flag) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
        let spec = ThreadSpec::new(2, 2);
        device.queue()?.launch(spec, publish_a_sum(&x, &flag))
    };
    let checker = Checker::for_target(Target::Portable);
    let report = checker.check(scenario).unwrap();
    assert_eq!(report.verdict, Verdict::Violated, "{report}");
    let advice = checker.advise(scenario, &report, std::time::Duration::from_secs(20));
    let texts: Vec<&str> = advice.fixes.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(texts, ["store_with(…, Scope::Device, Order::Release) for `flag`"], "{advice:?}");
}
