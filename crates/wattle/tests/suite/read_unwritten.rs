//! The host reads memory that nobody has written: whatever stands there, a scenario must do the same.

use wattle::checker::Verdict;
use wattle::prelude::*;

#[kernel]
fn writes_the_first(_acc: &Acc, x: Shared<u32>) {
    x[0] = 1;
}

fn launched(device: &Device) -> Result<Vec<u32>> {
    let (queue, x) = (device.queue()?, device.alloc::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, 1), writes_the_first(&x))?;
    x.read(&queue)
}

fn takes_the_rest_for_zero(device: &Device) -> Result<()> {
    assert_eq!(launched(device)?, [1, 0]);
    Ok(())
}

fn takes_the_rest_for_anything_else(device: &Device) -> Result<()> {
    assert_ne!(launched(device)?[1], 0);
    Ok(())
}

fn looks_at_what_was_written(device: &Device) -> Result<()> {
    assert_eq!(launched(device)?[0], 1);
    Ok(())
}

fn copies_what_nobody_wrote(device: &Device) -> Result<()> {
    let (queue, x, mut y) = (device.queue()?, device.alloc::<u64>(1)?, device.alloc_zeroed::<u64>(1)?);
    queue.copy(&mut y, &x)?;
    assert_eq!(y.read(&queue)?, [0]);
    Ok(())
}

fn reads_truth_values(device: &Device) -> Result<()> {
    let (queue, x) = (device.queue()?, device.alloc::<bool>(1)?);
    assert!(!x.read(&queue)?[0]);
    Ok(())
}

#[test]
fn depends_on_nothing_that_nobody_wrote() {
    for model in [Model::Portable, Model::Vulkan] {
        let verdict = |scenario: fn(&Device) -> Result<()>| {
            let report = Checker::new(model).check(scenario).unwrap();
            (report.verdict, report.to_string())
        };
        let wrong: [fn(&Device) -> Result<()>; 4] =
            [takes_the_rest_for_zero, takes_the_rest_for_anything_else, copies_what_nobody_wrote, reads_truth_values];
        for scenario in wrong {
            let (verdict, report) = verdict(scenario);
            assert_eq!(verdict, Verdict::Violated, "{report}");
        }
        let (_, report) = verdict(takes_the_rest_for_zero);
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains("the host reads element 1 of a buffer of 2, which nobody has written"), "{report}");
        assert_eq!(verdict(looks_at_what_was_written).0, Verdict::Holds);
    }
    let simulated = Device::simulated(0);
    for scenario in [takes_the_rest_for_zero, copies_what_nobody_wrote, reads_truth_values] {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scenario(&simulated)));
        assert!(ended.is_err(), "a run takes what nobody wrote for zero");
    }
    looks_at_what_was_written(&simulated).unwrap();
}
