//! Modules with damage: an error with a place or a verdict, never a panic or a hang. `WATTLE_MUTATIONS` sets how many of
//! each file.

use std::time::{Duration, Instant};

use wattle_foreign::{Launch, Options, Source, World, judge};

/// Words that may stand in a wrong place.
const ODD: [&str; 6] = ["0", "-1", "%r1", "@%p1", ";", "4294967295"];

#[test]
fn damage_is_an_error_or_a_verdict() {
    let count = std::env::var("WATTLE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(60u64);
    let (mut refused, mut judged) = (0u32, 0u32);
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cuda")).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        for seed in 0..count {
            let mut state = seed;
            let source = Source { file: "damaged.ptx".into(), text: crate::damage::damaged(&text, &mut state, &ODD) };
            let arguments = ["a=i32[4]:1", "b=i32[4]:0", "c=i32[4]:0", "d=i32[4]:0"];
            let parameters = text.split(".visible .entry right(").nth(1).and_then(|rest| rest.split(')').next());
            let count = parameters.map_or(0, |list| list.matches(".param").count());
            let wide = |number: usize| {
                parameters.is_some_and(|list| list.split(',').nth(number).is_some_and(|p| p.contains(".u64")))
            };
            let arguments = (0..count).map(|number| if wide(number) { arguments[number] } else { "n=4" });
            let launch = Launch {
                grid: [1; 3],
                block: [2, 1, 1],
                arguments: arguments.map(|text| text.parse().expect("an argument")).collect(),
                dynamic_shared: 64,
            };
            match World::new(source, Some("right"), launch) {
                Err(_) => refused += 1,
                Ok(mut world) => {
                    let begun = Instant::now();
                    let mut options = Options::default();
                    options.limits.deadline = Some(begun + Duration::from_millis(100));
                    let _ = judge(&mut world, &[], &options);
                    assert!(begun.elapsed() < Duration::from_secs(20), "{} {seed}", path.display());
                    judged += 1;
                }
            }
        }
    }
    assert!(refused > 0 && judged > 0, "{refused} refused, {judged} judged");
    println!("{refused} refused, {judged} judged");
}
