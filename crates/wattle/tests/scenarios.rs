//! Scenarios that register themselves, as a user's crate has them.

#![forbid(unsafe_code)]

use wattle::checker::Verdict;
use wattle::prelude::*;
use wattle::{Expectation, Work};

mod counting {
    use wattle::prelude::*;

    /// Counts its threads.
    #[kernel]
    pub fn count(acc: &Acc, counter: Atomic<u32>) {
        let _ = acc;
        counter.fetch_add(0, 1);
    }

    /// Each block counts once,
    /// and none is lost.
    ///
    /// However they are scheduled.
    #[scenario(sizes = Sizes { full: 100, small: 10, proof: 2 })]
    pub fn each_block_counts(device: &Device, blocks: usize) -> Result<Summary> {
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(blocks, 1), count(&counter))?;
        let counted = counter.read(&queue)?[0];
        let mut summary = Summary::new(format!("{blocks} blocks"));
        summary.check(counted as usize == blocks, "each counts once", || format!("{counted} did"))?;
        Ok(summary)
    }
}

/// Writes one word from every block, which nothing orders.
#[kernel]
fn race(acc: &Acc, word: Shared<u32>) {
    word[0] = acc.block_in_grid();
}

/// Two blocks write one word.
#[scenario(name = "racy", expect = refuted, documentation = "A page.")]
fn both_write(device: &Device) -> Result<()> {
    let word = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(2, 1), race(&word))
}

/// The first in the file, and the last by name.
#[scenario]
fn zero(_: &Device) -> Result<()> {
    Ok(())
}

#[test]
fn they_are_known_with_what_stands_beside_them() {
    let all = Scenario::all().unwrap();
    let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names, ["racy", "zero", "each-block-counts"], "module by module, and as they stand in it");
    assert_eq!((all[0].expectation, all[0].documentation), (Expectation::Refuted, "A page."));
    assert_eq!((all[1].summary, all[1].documentation), ("The first in the file, and the last by name", ""));
    assert_eq!(all[2].summary, "Each block counts once, and none is lost");
    assert_eq!((all[2].expectation, all[2].documentation), (Expectation::Holds, "However they are scheduled."));
    assert!(matches!(all[0].work, Work::Fixed(_)));
    assert!(matches!(all[2].work, Work::Sized(_, Sizes { full: 100, small: 10, proof: 2 })));
}

#[test]
fn they_run_on_devices_and_under_the_checker() -> Result<()> {
    for scenario in Scenario::all()?.iter().filter(|scenario| scenario.expectation == Expectation::Holds) {
        for device in [Device::host(), Device::host_serial(), Device::select("simulated")?] {
            scenario.run(&device, None)?;
        }
    }
    let checker = Checker::new(Model::Portable);
    let report = checker.assert_holds(|device| counting::each_block_counts(device, 2));
    assert_eq!((report.verdict, report.checks.len()), (Verdict::Holds, 1));
    let report = checker.assert_refuted(both_write);
    assert!(report.to_string().contains("data race"), "{report}");
    Ok(())
}

/// What a test prints that asserts the wrong thing.
#[test]
fn an_assertion_that_fails_prints_the_report() {
    let said = |work: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let checker = Checker::new(Model::Portable);
    let wrong = said(&|| drop(checker.assert_holds(both_write)));
    for words in [
        "should hold, and does not:\nviolated under portable, for 2 blocks × 1 thread\n",
        " execution",
        "data race: line",
    ] {
        assert!(wrong.contains(words), "{words}:\n{wrong}");
    }
    let wrong = said(&|| drop(checker.assert_refuted(zero)));
    assert!(wrong.contains("should be refuted, and is not:\nholds under portable"), "{wrong}");
    let too_many = |device: &Device| {
        let word = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(1, 1025), race(&word))
    };
    let wrong = said(&|| drop(Checker::new(Model::Rust).assert_holds(too_many)));
    assert!(
        wrong.contains("cannot be checked under host: device `checker for host` cannot run blocks of 1025 threads"),
        "{wrong}"
    );
}
