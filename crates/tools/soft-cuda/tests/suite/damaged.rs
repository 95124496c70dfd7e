//! Kernels with damage of which the checker says that they hold: run here, in any order of their turns, they end without a fault,
//! and leave something that the checker knows of. `WATTLE_MUTATIONS` says how many of each text.

use std::ffi::c_char;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use soft_cuda::api::{launches, memory, soft_cuda_last_failure};
use soft_cuda::status::Status;
use wattle_foreign::{Buffer, Condition, Given, Launch, Options, Verdict, Violation, World, judge};

use crate::tools::{Session, ok};
use damage::{Texts, damaged, launch_of, source_of};

#[path = "../../../../proof/foreign/tests/suite/damage/mod.rs"]
mod damage;

const ODD: [&str; 8] = ["0", "-1", "1", "%r1", "%r2", "@%p1", "4", "8"];

/// What a launch leaves in its buffers, as words, or the fault that ends it; `None` where the damage is in another kernel, with which
/// the driver does not take the module.
fn run(text: &str, launch: &Launch) -> Option<Result<Vec<Vec<u32>>, String>> {
    let session = Session::new();
    // The compiler is newer than the driver, and nothing here needs that.
    let text = &text.replacen(".version 9.5", ".version 8.8", 1);
    session.load(text).ok()?;
    let function = session.function(text, "right");
    let params: Vec<(u64, bool)> = launch
        .arguments
        .iter()
        .map(|argument| match &argument.value {
            Given::Buffer(Buffer { contents: Some(items), .. }) => {
                let words: Vec<u64> = items.chunks(2).map(|pair| pair[0] | pair[1] << 32).collect();
                (session.device(&words), true)
            }
            Given::Buffer(Buffer { contents: None, .. }) | Given::Typed(..) | Given::Untyped(_) | Given::Struct(_) => {
                (4, false)
            }
        })
        .collect();
    let pointers: Vec<*const u8> = params.iter().map(|(param, _)| std::ptr::from_ref(param).cast()).collect();
    let [block, ..] = launch.block;
    // SAFETY: there is a pointer for each parameter.
    let begun = unsafe {
        launches::cuLaunchKernel(
            function,
            1,
            1,
            1,
            block,
            1,
            1,
            launch.dynamic_shared as u32,
            0,
            pointers.as_ptr(),
            null_mut(),
        )
    };
    if begun != Status::SUCCESS || session.wait() != Status::SUCCESS {
        let mut text = vec![0u8; 4096];
        // SAFETY: the bytes may be written.
        unsafe { soft_cuda_last_failure(text.as_mut_ptr().cast::<c_char>(), text.len()) };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        return Some(Err(String::from_utf8_lossy(text).into_owned()));
    }
    let buffers = params.iter().filter(|(_, is_buffer)| *is_buffer);
    let left = buffers.map(|&(at, _)| {
        let words = session.host(at, 2);
        // SAFETY: nothing uses the memory any more.
        ok(unsafe { memory::cuMemFree_v2(at) });
        words.into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]).collect()
    });
    Some(Ok(left.collect()))
}

/// Whether a fault is of what only this driver minds: registers that are copied before they are written, and masks with lanes that
/// the block lacks.
fn is_ours(fault: &str) -> bool {
    let mask = fault.split("member mask 0x").nth(1).and_then(|rest| rest.split(' ').next());
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
    fault.contains("is read before it is written") || mask.is_some_and(|mask| mask > 3)
}

/// The verdict on a text, with something claimed of its end; `None` where it is refused.
fn verdict(text: &str, launch: &Launch, claimed: Option<&str>) -> Option<Verdict> {
    let mut world = World::new(source_of(text), Some("right"), launch.clone()).ok()?;
    let claimed = claimed.map(|text| Condition::parse(text, world.ranges()).expect("a condition"));
    let mut options = Options::default();
    options.limits.deadline = Some(Instant::now() + Duration::from_secs(2));
    judge(&mut world, claimed.as_slice(), &options).ok().map(|report| report.verdict)
}

#[test]
fn what_holds_runs() {
    let count = std::env::var("WATTLE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(25u64);
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proof/foreign");
    let (mut held, mut compared, mut wrong) = (0u32, 0u32, Vec::new());
    // Its launch is a cooperative one to the checker.
    for (name, text) in Texts::of(root).into_iter().filter(|(name, _)| !name.ends_with("grid_sync.ptx")) {
        let launch = launch_of(&text);
        for seed in 0..count {
            let changed = damaged(&text, &mut { seed.wrapping_add(1 << 32) }, &ODD);
            if verdict(&changed, &launch, None) != Some(Verdict::Holds) {
                continue;
            }
            held += 1;
            match run(&changed, &launch) {
                None => {}
                Some(Err(fault)) if is_ours(&fault) => {}
                Some(Err(fault)) => wrong.push(format!("{name} {seed}: {fault}\n{changed}")),
                Some(Ok(left)) => {
                    let others: Vec<String> = ["a", "b", "c", "d"]
                        .iter()
                        .zip(&left)
                        .flat_map(|(name, words)| {
                            words.iter().enumerate().map(move |(at, &word)| format!("{name}[{at}] != {}", word as i32))
                        })
                        .collect();
                    if others.is_empty() {
                        continue;
                    }
                    compared += 1;
                    // That it is never left is refuted.
                    match verdict(&changed, &launch, Some(&others.join(" || "))) {
                        Some(Verdict::Violated(Violation::Assertion { .. }, _) | Verdict::Unknown(_)) => {}
                        found => wrong.push(format!("{name} {seed}: {left:?} is left, {found:?}\n{changed}")),
                    }
                }
            }
        }
    }
    println!("{held} hold, {compared} compared");
    let heads: Vec<&str> = wrong.iter().filter_map(|wrong| wrong.lines().next()).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}\nthe first: {}", wrong.len(), heads.join("\n"), wrong[0]);
    assert!(held > 0 && compared > 0, "{held} hold, {compared} compared");
}
