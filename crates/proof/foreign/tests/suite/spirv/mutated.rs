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

/// A kernel of the OpenCL environment: parameters of each kind, casts of pointers, and vectors of three.
const KERNEL: &str = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\n%std = OpExtInstImport \"OpenCL.std\"\n\
    OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\" %gid\nOpDecorate %gid BuiltIn GlobalInvocationId\n\
    %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%ulong = OpTypeInt 64 0\n%v3ulong = OpTypeVector %ulong 3\n\
    %v3uint = OpTypeVector %uint 3\n%pair = OpTypeStruct %v3uint %uint\n%in3 = OpTypePointer Input %v3ulong\n\
    %global = OpTypePointer CrossWorkgroup %uint\n%pairs = OpTypePointer CrossWorkgroup %pair\n\
    %local = OpTypePointer Workgroup %uint\n%generic = OpTypePointer Generic %uint\n%own = OpTypePointer Function %pair\n\
    %type = OpTypeFunction %void %global %pairs %local %uint %own\n%0 = OpConstant %uint 0\n%1 = OpConstant %uint 1\n\
    %2 = OpConstant %uint 2\n%272 = OpConstant %uint 272\n%16 = OpConstant %ulong 16\n%gid = OpVariable %in3 Input\n\
    %main = OpFunction %void None %type\n%out = OpFunctionParameter %global\n%data = OpFunctionParameter %pairs\n\
    %part = OpFunctionParameter %local\n%n = OpFunctionParameter %uint\n%mine = OpFunctionParameter %own\n\
    %entry = OpLabel\n%ids = OpLoad %v3ulong %gid\n%i = OpCompositeExtract %ulong %ids 0\n\
    %item = OpInBoundsPtrAccessChain %pairs %data %i\nOpCopyMemorySized %item %mine %16 Aligned 16\n\
    %second = OpInBoundsPtrAccessChain %global %data %i %1\n%v = OpLoad %uint %second Aligned 4\n\
    %there = OpInBoundsPtrAccessChain %local %part %i\n%any = OpPtrCastToGeneric %generic %there\n\
    OpStore %any %n Aligned 4\nOpControlBarrier %2 %2 %272\n%back = OpGenericCastToPtr %local %any\n\
    %w = OpLoad %uint %back Aligned 4\n%high = OpExtInst %uint %std u_mul_hi %v %w\n\
    %old = OpAtomicIAdd %uint %out %1 %0 %high\nOpReturn\nOpFunctionEnd\n";

/// What the kernel is given.
const KERNEL_HEAD: &str = "; @Config: 2, 1, 1\n; @Input: %out = {0}, %data = {{{1, 2, 3}, 4}, {{5, 6, 7}, 8}}, %part = {0, 0}, %n = 3\n\
    ; @Input: %mine = {{1, 2, 3}, 4}\n; @Output: forall (%out[0] == 0)\n";

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
    let ours = [
        ("2, 1, 2", LOOP, "forall (%out[0][0] == 7 or %data[0][1] != 2)"),
        ("4, 1, 1", LANES, "forall (%data[0][1] == 1 and %out[0][0] < 40)"),
    ];
    let ours = ours.map(|(config, body, claim)| {
        let head = format!("{}\n; @Output: {claim}", head(config));
        let (declared, body) = body.split_once("---").unwrap_or(("", body));
        let text =
            module(&head, "Vulkan", body).replace("%main = OpFunction", &format!("{declared}%main = OpFunction"));
        (head, text)
    });
    let kernel = (KERNEL_HEAD.to_owned(), format!("{KERNEL_HEAD}{KERNEL}"));
    for (head, text) in ours.into_iter().chain([kernel]) {
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
