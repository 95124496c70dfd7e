//! Modules with damage: an error with a place or a verdict, never a panic or a hang. `WATTLE_MUTATIONS` sets how many of
//! each file. That a verdict of `holds` is right, `soft-cuda` is asked in its own tests.

use std::time::{Duration, Instant};

use wattle_foreign::{Options, Unsupported, World, judge};

use crate::damage::{Texts, damaged, launch_of, source_of};

/// Words that may stand in a wrong place.
const ODD: [&str; 6] = ["0", "-1", "%r1", "@%p1", ";", "4294967295"];

#[test]
fn damage_is_an_error_or_a_verdict() {
    let count = std::env::var("WATTLE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(60u64);
    let (mut refused, mut judged, mut wrong) = (0u32, 0u32, Vec::new());
    for (name, text) in Texts::of(env!("CARGO_MANIFEST_DIR")) {
        for seed in 0..count {
            let changed = damaged(&text, &mut { seed }, &ODD);
            match World::new(source_of(&changed), Some("right"), launch_of(&text)) {
                Err(error) => {
                    refused += 1;
                    if !has_place(&error, changed.lines().count()) {
                        wrong.push(format!("{name} {seed}: {error}"));
                    }
                }
                Ok(mut world) => {
                    let begun = Instant::now();
                    let mut options = Options::default();
                    options.limits.deadline = Some(begun + Duration::from_millis(100));
                    let _ = judge(&mut world, &[], &options);
                    assert!(begun.elapsed() < Duration::from_secs(20), "{name} {seed}");
                    judged += 1;
                }
            }
        }
    }
    println!("{refused} refused, {judged} judged");
    assert!(wrong.is_empty(), "{} errors without a place:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 0 && judged > 0, "{refused} refused, {judged} judged");
}

/// Whether an error names a line of the text, or what does not fit it: a kernel that is not there, its arguments or shape.
fn has_place(error: &Unsupported, lines: usize) -> bool {
    let is_line = |line: u32| (1..=lines.max(1) as u32).contains(&line);
    let text = error.to_string();
    match error {
        Unsupported::Text(refused) => is_line(refused.line) && text.starts_with("damaged.ptx:"),
        Unsupported::Instruction { line, .. } => is_line(*line) && text.starts_with("damaged.ptx:"),
        Unsupported::Arguments { signature, .. } => signature.contains("right"),
        Unsupported::NoKernel { asked, .. } => asked == "right",
        Unsupported::SeveralKernels(_) => false,
        Unsupported::Shape(why) => !why.is_empty(),
    }
}
