//! Modules with damage: an error or an answer, never a panic or a hang, and no claim of what nothing shows.
//! `WATTLE_MUTATIONS` sets how many.

use std::time::{Duration, Instant};

use wattle_foreign::Options;
use wattle_foreign::spirv::{self, Header, Question};

use super::{head, module};
use crate::damage::damaged;

/// Words that may stand in a wrong place.
const ODD: [&str; 9] = ["0", "-1", "%1", "4294967295", "\"", "{", "None", "64", "%uint"];

fn judged(bytes: &[u8], head: &str) -> bool {
    let Ok(module) = spirv::read("damaged.spv", bytes) else { return false };
    let Ok(header) = Header::read(if module.text.contains('@') { &module.text } else { head }) else { return false };
    let Ok(mut world) = spirv::launch("damaged.spv", &module, None, &header.setting()) else { return false };
    let begun = Instant::now();
    let mut options = Options::default();
    options.limits.deadline = Some(begun + Duration::from_millis(100));
    let questions = [Some(Question::Race), header.claim.map(Question::Assertion)];
    for question in questions.into_iter().flatten() {
        let _ = spirv::answer(&mut world, &question, &options);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "it hangs");
    true
}

#[test]
fn damage_is_an_error_or_an_answer() {
    let count = std::env::var("WATTLE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(150u64);
    let head = format!("{}\n; @Output: forall (%out[0][0] == 7 or %data[0][1] != 2)", head("2, 1, 2"));
    let body = "%mine = OpAccessChain %word %data %0 %thread\n%v = OpVariable %local Function %3\n\
                %old = OpAtomicIAdd %uint %data1 %5 %72 %1\nOpControlBarrier %2 %2 %264\nOpBranch %loop\n\
                %loop = OpLabel\n%n = OpPhi %uint %0 %entry %m %loop\n%m = OpIAdd %uint %n %1\nOpStore %v %m\n\
                %go = OpULessThan %bool %m %4\nOpLoopMerge %end %loop None\nOpBranchConditional %go %loop %end\n\
                %end = OpLabel\n%x = OpLoad %uint %v\nOpStore %mine %x\nOpReturn";
    let text = module(&head, "Vulkan", body);
    let (mut refused, mut answered) = (0u32, 0u32);
    for seed in 0..count {
        let mut state = seed;
        match judged(damaged(&text, &mut state, &ODD).as_bytes(), &head) {
            true => answered += 1,
            false => refused += 1,
        }
    }
    assert!(refused > 0 && answered > 0, "{refused} refused, {answered} answered");
    println!("{refused} refused, {answered} answered");
}
