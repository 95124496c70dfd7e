//! Tables, pictures and comparisons of reports whose figures are known.

use serde_json::json;
use wattle_cost::{ClockUnit, Comparison, Report};

fn row(operation: &str, writes: u32, median: Option<f64>) -> serde_json::Value {
    let figure = median.map(|median| json!({ "median": median, "lower": 0.9 * median, "upper": 1.25 * median }));
    json!({
        "operation": operation, "memory": if writes == 0 { None } else { Some("device") }, "writes": writes, "blocks": 1,
        "threads": 1,
        "cost": {
            "nanoseconds": figure, "cycles": null, "resolution": 0.25, "resolution_cycles": null, "samples": 11,
            "outliers": 1,
        },
    })
}

fn report(question: &str, machine: &str, rows: Vec<serde_json::Value>) -> Report {
    let document = json!({
        "command": "cost", "exit_code": 0,
        "question": question,
        "machine": {
            "device": "host", "description": "cores", "processor": machine, "processors": 2, "system": "Linux",
            "is_host": true, "is_software": false,
        },
        "rows": rows, "notes": ["One note."], "is_partial": false,
    });
    serde_json::from_value(document).unwrap()
}

fn example() -> Report {
    let rows = vec![
        row("fence Acquire device", 0, None),
        row("fence Acquire device", 4, None),
        row("fence SeqCst device", 0, Some(8.04)),
        row("fence SeqCst device", 4, Some(123.4)),
    ];
    report("fences", "A Processor", rows)
}

#[test]
fn a_table_has_medians_and_no_number_below_the_resolution() {
    let lines = example().lines();
    assert!(lines[0].contains("A Processor"), "{lines:#?}");
    let line = |start: &str| lines.iter().find(|line| line.trim_start().starts_with(start)).unwrap();
    assert_eq!(line("fence SeqCst device").split_whitespace().skip(3).collect::<Vec<_>>(), ["8.0", "123"]);
    assert_eq!(line("fence Acquire device").split_whitespace().skip(3).collect::<Vec<_>>(), ["-", "-"]);
    assert!(lines.contains(&"One note.".to_owned()), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("not measurable")), "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 120), "{lines:#?}");
}

#[test]
fn a_picture_names_what_was_not_measurable() {
    let svg = example().svg();
    for text in ["A Processor", "ns per operation", "fence Acquire device: not measurable", "writes to device memory"] {
        assert!(svg.contains(text), "no `{text}` in {svg}");
    }
    // A ground of its own, so that it is read on a dark page.
    assert!(svg.contains("fill=\"#FFFFFF\""), "{svg}");
}

#[test]
fn two_reports_side_by_side() {
    let second = report("fences", "B Processor", vec![row("fence SeqCst device", 4, Some(246.8)), row("x", 0, None)]);
    let first = example();
    let comparison = Comparison::of(&first, &second).unwrap();
    assert_eq!(comparison.rows.len(), 1);
    assert_eq!(comparison.rows[0].ratio, Some(2.0));
    assert_eq!(comparison.unmatched, 4);
    let text = comparison.lines().join("\n");
    for part in ["A Processor", "B Processor", "123", "247", "2.00", "4 rows are in one of the reports alone"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = serde_json::to_value(&comparison).unwrap();
    assert_eq!(json["rows"][0]["ratio"], 2.0);
    assert_eq!(json["rows"][0]["second"]["nanoseconds"]["median"], 246.8);
}

#[test]
fn ticks_of_a_drivers_clock_are_no_cycles() {
    let with_clock = |device: &str, median: f64| {
        let mut report = report("fences", "A Processor", vec![row("fence SeqCst device", 4, Some(median))]);
        report.machine.device = device.into();
        let cost = &mut report.rows[0].cost;
        (cost.cycles, cost.resolution_cycles) = (cost.nanoseconds, Some(1.0));
        report
    };
    let (cuda, vulkan) = (with_clock("cuda:0", 677.0), with_clock("vulkan:0", 330.0));
    let mut alone = with_clock("cuda:0", 677.0);
    alone.rows[0].memory = None;
    alone.rows[0].cost.nanoseconds = with_clock("cuda:0", 342.0).rows[0].cost.nanoseconds;
    let line = alone.lines().into_iter().find(|line| line.contains("fence SeqCst device")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().skip(3).collect();
    assert_eq!(cells, ["677", "342"], "the nanoseconds stand beside the cycles");
    for (report, unit) in [(&cuda, "cycles per operation"), (&vulkan, "ticks per operation")] {
        assert!(report.lines().iter().any(|line| line.starts_with(unit)), "{:#?}", report.lines());
    }
    // The field says it where there is one, whatever the device is called.
    let mut renamed = with_clock("gpu", 330.0);
    renamed.machine.clock_unit = Some(ClockUnit::Ticks);
    assert!(renamed.lines().iter().any(|line| line.starts_with("ticks per operation")), "{:#?}", renamed.lines());
    // The two clocks have nothing in common; nanoseconds do.
    let units = [(&cuda, &cuda, "cycles"), (&cuda, &vulkan, "ns"), (&vulkan, &vulkan, "ns")];
    for (first, second, unit) in units {
        let lines = Comparison::of(first, second).unwrap().lines();
        assert!(lines.iter().any(|line| line.starts_with(&format!("{unit} per operation"))), "{unit}: {lines:#?}");
    }
}

#[test]
fn what_cannot_be_compared_says_why() {
    let other = report("interference", "A Processor", vec![row("fence SeqCst device", 4, Some(1.0))]);
    assert!(Comparison::of(&example(), &other).unwrap_err().contains("different questions"));
    let other = report("fences", "A Processor", vec![row("fence SeqCst device", 16, Some(1.0))]);
    assert!(Comparison::of(&example(), &other).unwrap_err().contains("no row in common"));
}

#[test]
fn what_is_not_measurable_has_no_ratio() {
    let first = example();
    let comparison = Comparison::of(&first, &first).unwrap();
    assert_eq!(comparison.rows.iter().map(|pair| pair.ratio).collect::<Vec<_>>(), [None, None, Some(1.0), Some(1.0)]);
}
