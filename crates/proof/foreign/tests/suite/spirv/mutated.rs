//! Modules with damage: an error or an answer, never a panic or a hang, and no claim of what nothing shows.
//! `WATTLE_MUTATIONS` sets how many.

use std::time::{Duration, Instant};

use wattle_foreign::spirv::{self, Header, Question};
use wattle_foreign::{Options, Unsupported};

use super::{head, module};
use crate::damage::damaged;

/// Words that may stand in a wrong place.
const ODD: [&str; 9] = ["0", "-1", "%1", "4294967295", "\"", "{", "None", "64", "%uint"];

/// What a loop and a barrier are in.
const LOOP: &str = "%mine = OpAccessChain %word %data %0 %thread\n%v = OpVariable %local Function %3\n\
    %old = OpAtomicIAdd %uint %data1 %5 %72 %1\nOpControlBarrier %2 %2 %264\nOpBranch %loop\n\
    %loop = OpLabel\n%n = OpPhi %uint %0 %entry %m %loop\n%m = OpIAdd %uint %n %1\nOpStore %v %m\n\
    %go = OpULessThan %bool %m %4\nOpLoopMerge %end %loop None\nOpBranchConditional %go %loop %end\n\
    %end = OpLabel\n%x = OpLoad %uint %v\nOpStore %mine %x\nOpReturn";

/// What the threads of a subgroup do together.
const LANES: &str = "%v4 = OpTypeVector %uint 4\n---%sum = OpGroupNonUniformIAdd %uint %3 Reduce %thread\n\
    %up = OpGroupNonUniformIAdd %uint %3 InclusiveScan %thread\n\
    %pairs = OpGroupNonUniformIAdd %uint %3 ClusteredReduce %thread %2\n\
    %product = OpGroupNonUniformIMul %uint %3 ExclusiveScan %thread\n\
    %first = OpIEqual %bool %thread %0\n%ballot = OpGroupNonUniformBallot %v4 %3 %first\n\
    %count = OpGroupNonUniformBallotBitCount %uint %3 Reduce %ballot\n\
    %elected = OpGroupNonUniformElect %bool %3\n%one = OpSelect %uint %elected %1 %0\n\
    %all = OpGroupNonUniformAllEqual %bool %3 %thread\n%any = OpGroupNonUniformAny %bool %3 %first\n\
    %other = OpGroupNonUniformShuffleXor %uint %3 %thread %1\n%zero = OpGroupNonUniformBroadcast %uint %3 %thread %0\n\
    %next = OpGroupNonUniformShuffleDown %uint %3 %thread %1\n%least = OpGroupNonUniformUMin %uint %3 Reduce %sum\n\
    %old = OpAtomicIAdd %uint %data1 %5 %72 %one\n%add0 = OpIAdd %uint %sum %up\n%add1 = OpIAdd %uint %add0 %pairs\n\
    %add2 = OpIAdd %uint %add1 %count\n%add3 = OpIAdd %uint %add2 %other\n%add4 = OpIAdd %uint %add3 %zero\n\
    %both = OpLogicalAnd %bool %all %any\n%chosen = OpSelect %uint %both %product %least\n\
    %add5 = OpIAdd %uint %add4 %chosen\nOpControlBarrier %3 %3 %264\n\
    %mine = OpAccessChain %word %out %0 %thread\nOpStore %mine %add5\nOpReturn";

/// What became of damage.
#[derive(Default)]
struct Tally {
    refused: u32,
    answered: u32,
    without_place: Vec<String>,
}

impl Tally {
    fn judge(&mut self, bytes: &[u8], head: &str) {
        let placed = |error: &dyn std::fmt::Display| {
            let text = error.to_string();
            text.starts_with("damaged.spv:") || text.starts_with("line ")
        };
        let module = match spirv::read("damaged.spv", bytes) {
            Ok(module) => module,
            Err(error) => return self.refuse(placed(&error), &error),
        };
        let header = match Header::read(if module.text.contains('@') { &module.text } else { head }) {
            Ok(header) => header,
            Err(error) => return self.refuse(placed(&error), &error),
        };
        let mut world = match spirv::launch("damaged.spv", &module, None, &header.setting()) {
            Ok(world) => world,
            // The shape, or what is given to it, does not fit the module; else it names the place.
            Err(error @ Unsupported::Text(_)) => return self.refuse(placed(&error), &error),
            Err(error) => return self.refuse(true, &error),
        };
        let begun = Instant::now();
        let mut options = Options::default();
        options.limits.deadline = Some(begun + Duration::from_millis(100));
        let questions = [Some(Question::Race), header.claim.map(Question::Assertion)];
        for question in questions.into_iter().flatten() {
            let _ = spirv::answer(&mut world, &question, &options);
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it hangs");
        self.answered += 1;
    }

    fn refuse(&mut self, has_place: bool, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if !has_place {
            self.without_place.push(error.to_string());
        }
    }
}

#[test]
fn damage_is_an_error_or_an_answer() {
    let count = std::env::var("WATTLE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(150u64);
    for (config, body, claim) in [
        ("2, 1, 2", LOOP, "forall (%out[0][0] == 7 or %data[0][1] != 2)"),
        ("4, 1, 1", LANES, "forall (%data[0][1] == 1 and %out[0][0] < 40)"),
    ] {
        let head = format!("{}\n; @Output: {claim}", head(config));
        let (declared, body) = body.split_once("---").unwrap_or(("", body));
        let text =
            module(&head, "Vulkan", body).replace("%main = OpFunction", &format!("{declared}%main = OpFunction"));
        let mut tally = Tally::default();
        tally.judge(text.as_bytes(), &head);
        assert_eq!(tally.answered, 1, "{text}");
        for seed in 0..count {
            tally.judge(damaged(&text, &mut { seed }, &ODD).as_bytes(), &head);
        }
        let Tally { refused, answered, without_place } = tally;
        println!("{refused} refused, {answered} answered");
        assert!(
            without_place.is_empty(),
            "{} errors without a place:\n{}",
            without_place.len(),
            without_place.join("\n")
        );
        assert!(refused > 0 && answered > 1, "{refused} refused, {answered} answered");
    }
}
