//! Everything is measured on every device that there is, in small; never how long it takes.

use wattle::{Device, DeviceKind, ErrorKind};
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
    let done = std::cell::Cell::new(0);
    let watch = Watch { stop: Box::new(|| done.get() >= 2), step: Box::new(|rows, _| done.set(rows)) };
    let report = fences(&Device::host(), &Effort::Small, &watch).unwrap();
    assert_eq!((report.rows.len(), report.is_partial), (2, true));
    assert!(report.to_string().contains("Not all rows were measured"), "{report}");
}
