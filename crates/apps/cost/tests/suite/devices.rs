//! Everything is measured on every device that there is, in small; never how long it takes.

use wattle::{Device, DeviceKind, ErrorKind, ModuleLanguage};
use wattle_cost::{Effort, Question, Report, Row, Watch, fences, interference};

fn devices() -> Vec<Device> {
    let is_measured =
        |device: &Device| !matches!(device.properties().kind, DeviceKind::Simulated | DeviceKind::Checker);
    let devices: Vec<_> = Device::all().into_iter().filter(is_measured).collect();
    for kind in ["cuda", "vulkan"] {
        if devices.iter().all(|device| !device.name().starts_with(kind)) {
            test_skips::skipped(format!("there is no {kind} device here"));
        }
    }
    devices
}

/// What every report owes.
fn is_whole(report: &Report, device: &Device) {
    let json = serde_json::to_string(report).unwrap();
    // Numbers may differ in their last digit once they have been text.
    let back: Report = serde_json::from_str(&json).unwrap();
    assert_eq!((back.question, &back.machine, back.rows.len()), (report.question, &report.machine, report.rows.len()));
    for (row, back) in report.rows.iter().zip(&back.rows) {
        let median = |row: &Row| row.cost.nanoseconds.map_or(0.0, |figure| figure.median);
        assert!(row.is_like(back) && (median(row) - median(back)).abs() <= 1e-9 * median(row), "{row:?}, {back:?}");
    }
    let text = report.to_string();
    for row in &report.rows {
        assert!(text.contains(&row.operation), "{}: no `{}` in\n{text}", device.name(), row.operation);
        let cost = &row.cost;
        // On a loaded machine two launches may never run at the same time, which the report then says.
        let is_taken = cost.samples > 0 || row.beside.is_some() && text.contains("never ran at the same time");
        assert!(cost.resolution >= 0.0 && is_taken, "{row:?}");
        let rounds = if cost.samples == 0 { 0 } else { 2 };
        let of_rounds = cost.rounds.len();
        assert!(of_rounds == rounds || row.beside.is_some(), "a round on which nothing is said: {row:?}");
        if let Some(figure) = cost.nanoseconds {
            assert!(figure.median > cost.resolution, "a figure below the resolution: {row:?}");
            assert!(figure.lower <= figure.median && figure.median <= figure.upper, "{row:?}");
        }
    }
    let is_software = device.properties().kind == DeviceKind::Software;
    assert_eq!(text.contains("This driver computes on the host's processor"), is_software, "{text}");
    let svg = report.svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains(device.name()) && svg.contains("per operation"), "the machine and the unit: {svg}");
    assert!(!report.is_partial);
}

#[test]
fn fences_on_every_device() {
    for device in devices() {
        let report = fences(&device, &Effort::Small, &Watch::default()).unwrap();
        assert_eq!(report.question, Question::Fences);
        for kind in ["fence", "load", "store", "exchange", "compare_exchange", "fetch_add", "sync_block", "warp.sync"] {
            let is_of_kind = |operation: &str| operation.split(' ').next() == Some(kind);
            let of_kind: Vec<_> = report.rows.iter().filter(|row| is_of_kind(&row.operation)).collect();
            assert!(of_kind.iter().any(|row| row.memory.is_none()), "{}: no {kind} alone", device.name());
            assert!(of_kind.iter().any(|row| row.writes == 4), "{}: no {kind} behind writes", device.name());
        }
        let runs_ptx = device.properties().modules.contains(&ModuleLanguage::Ptx);
        let cuda = report.rows.iter().filter(|row| row.operation == "__threadfence()").count();
        assert_eq!(cuda, usize::from(runs_ptx), "{}: CUDA's own fence beside ours", device.name());
        is_whole(&report, &device);
    }
}

#[test]
fn interference_on_every_device() {
    for device in devices() {
        let report = interference(&device, &Effort::Small, &Watch::default()).unwrap();
        assert_eq!(report.question, Question::Interference);
        let beside: Vec<_> = report.rows.iter().filter_map(|row| row.beside.as_ref()).collect();
        let has_domains = device.properties().sync_domains > 1;
        let notes = report.notes.join("\n");
        if device.properties().concurrent_queues < 2 || device.properties().workers < 2 {
            assert!(beside.is_empty() && notes.contains("nothing to be beside"), "{}: {notes}", device.name());
        } else {
            assert_eq!(beside.iter().any(|beside| beside.is_remote), has_domains, "{}", device.name());
            assert_eq!(notes.contains("one memory synchronization domain"), !has_domains, "{notes}");
        }
        is_whole(&report, &device);
    }
}

#[test]
fn what_has_no_time_is_refused() {
    let refused = fences(&Device::select("simulated").unwrap(), &Effort::Small, &Watch::default()).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Capability { .. }), "{refused}");
    assert!(refused.to_string().contains("it has no time"), "{refused}");
}

#[test]
fn what_is_stopped_says_so_and_keeps_its_rows() {
    // Three rows before the end of the first of its two rounds, and two behind it.
    for (is_second, left) in [(false, 3), (true, 2)] {
        let (done, most) = (std::cell::Cell::new(0), std::cell::Cell::new(usize::MAX));
        let step = |now, all| {
            done.set(now);
            most.set(if is_second { all / 2 + left } else { all / 2 - left });
        };
        let watch = Watch { stop: Box::new(|| done.get() >= most.get()), step: Box::new(step) };
        let report = fences(&Device::host(), &Effort::Small, &watch).unwrap();
        let of_rounds = |rounds: usize| report.rows.iter().filter(|row| row.cost.rounds.len() == rounds).count();
        assert!(report.is_partial && of_rounds(1) > 0 && of_rounds(0) == 0, "{report:?}");
        assert!(is_second || of_rounds(2) == 0, "{report:?}");
        assert!(report.to_string().contains("Stopped before its end"), "{report}");
    }
}
