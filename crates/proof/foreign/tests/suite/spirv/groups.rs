//! Reductions, scans, ballots and votes of a subgroup of four threads, in Vulkan's instructions and in OpenCL's.

use wattle_foreign::spirv::Answer;

use super::{ask, head, module};

/// Constants that the other modules have no need of.
const MORE: &str = "%8 = OpConstant %uint 8\n%v4uint = OpTypeVector %uint 4\n\
                    %f0_5 = OpConstant %float 0.5\n%f3 = OpConstant %float 3.0\n\
                    %long = OpTypeInt 64 0\n%l32 = OpConstant %long 32\n%masks = OpTypePointer Input %v4uint\n";

/// A module whose function has these instructions.
fn with_more(head: &str, body: &str) -> String {
    module(head, "Vulkan", body).replace("%main = OpFunction", &format!("{MORE}%main = OpFunction"))
}

/// The claim that the four threads have left these results.
fn claim([a, b, c, d]: [u32; 4]) -> String {
    format!("; @Output: forall (%out[0][0] == {a} and %out[0][1] == {b} and %out[0][2] == {c} and %out[0][3] == {d})")
}

/// The answer where each thread stores a result of its own, and the four are claimed.
fn answer(body: &str, results: [u32; 4]) -> Answer {
    let claim = claim(results);
    let stores = "%mine = OpAccessChain %word %out %0 %thread\nOpStore %mine %result NonPrivatePointer\nOpReturn";
    ask(&with_more(&format!("{}\n{claim}", head("4, 1, 1")), &format!("{body}\n{stores}")), "assertion")
}

/// The threads have the values 0, 1, 2, 3.
#[test]
fn each_lane_gets_what_it_should() {
    for (body, results) in [
        ("%result = OpGroupNonUniformIAdd %uint %3 InclusiveScan %thread", [0, 1, 3, 6]),
        ("%result = OpGroupNonUniformIAdd %uint %3 ExclusiveScan %thread", [0, 0, 1, 3]),
        ("%result = OpGroupNonUniformIAdd %uint %3 ClusteredReduce %thread %2", [1, 1, 5, 5]),
        ("%more = OpIAdd %uint %thread %1\n%result = OpGroupNonUniformIMul %uint %3 Reduce %more", [24; 4]),
        ("%more = OpIAdd %uint %thread %1\n%result = OpGroupNonUniformIMul %uint %3 ExclusiveScan %more", [1, 1, 2, 6]),
        (
            "%less = OpISub %uint %1 %thread\n%result = OpGroupNonUniformSMin %uint %3 InclusiveScan %less",
            [1, 0, u32::MAX, u32::MAX - 1],
        ),
        (
            "%less = OpISub %uint %1 %thread\n%result = OpGroupNonUniformUMax %uint %3 ExclusiveScan %less",
            [0, 1, 1, u32::MAX],
        ),
        ("%result = OpGroupNonUniformBitwiseXor %uint %3 InclusiveScan %thread", [0, 1, 3, 0]),
        // OpenCL's subgroup functions.
        ("%result = OpGroupIAdd %uint %3 Reduce %thread", [6; 4]),
        ("%result = OpGroupUMax %uint %3 InclusiveScan %thread", [0, 1, 2, 3]),
        ("%result = OpGroupBroadcast %uint %3 %thread %2", [2; 4]),
        (
            "%odd = OpIEqual %bool %thread %3\n%any = OpGroupAny %bool %3 %odd\n%result = OpSelect %uint %any %7 %5",
            [7; 4],
        ),
        // Narrow and wide numbers.
        (
            "%wide = OpUConvert %long %thread\n%up = OpShiftLeftLogical %long %wide %l32\n\
             %sum = OpGroupNonUniformIAdd %long %3 InclusiveScan %up\n%down = OpShiftRightLogical %long %sum %l32\n\
             %result = OpUConvert %uint %down",
            [0, 1, 3, 6],
        ),
        (
            "%wide = OpUConvert %long %thread\n%up = OpShiftLeftLogical %long %wide %l32\n\
             %last = OpGroupNonUniformBroadcast %long %3 %up %3\n%down = OpShiftRightLogical %long %last %l32\n\
             %result = OpUConvert %uint %down",
            [3; 4],
        ),
        (
            "%wide = OpUConvert %long %thread\n%up = OpShiftLeftLogical %long %wide %l32\n\
             %down = OpShiftRightLogical %long %up %l32\n%result = OpUConvert %uint %down",
            [0, 1, 2, 3],
        ),
        // Quads.
        ("%result = OpGroupNonUniformQuadSwap %uint %3 %thread %0", [1, 0, 3, 2]),
        ("%result = OpGroupNonUniformQuadSwap %uint %3 %thread %1", [2, 3, 0, 1]),
        ("%result = OpGroupNonUniformQuadSwap %uint %3 %thread %2", [3, 2, 1, 0]),
        ("%result = OpGroupNonUniformQuadBroadcast %uint %3 %thread %2", [2; 4]),
        // Floats whose sums are exact.
        (
            "%float0 = OpConvertUToF %float %thread\n%half = OpFMul %float %float0 %f0_5\n\
             %sum = OpGroupNonUniformFAdd %float %3 Reduce %half\n%is = OpFOrdEqual %bool %sum %f3\n\
             %result = OpSelect %uint %is %7 %5",
            [7; 4],
        ),
        // Ballots.
        (
            "%odd = OpUGreaterThan %bool %thread %1\n%votes = OpGroupNonUniformBallot %v4uint %3 %odd\n\
             %result = OpCompositeExtract %uint %votes 0",
            [12; 4],
        ),
        (
            "%odd = OpUGreaterThan %bool %thread %0\n%votes = OpGroupNonUniformBallot %v4uint %3 %odd\n\
             %result = OpGroupNonUniformBallotBitCount %uint %3 ExclusiveScan %votes",
            [0, 0, 1, 2],
        ),
        (
            "%odd = OpUGreaterThan %bool %thread %0\n%votes = OpGroupNonUniformBallot %v4uint %3 %odd\n\
             %lowest = OpGroupNonUniformBallotFindLSB %uint %3 %votes\n\
             %highest = OpGroupNonUniformBallotFindMSB %uint %3 %votes\n%result = OpIAdd %uint %lowest %highest",
            [4; 4],
        ),
        (
            "%odd = OpUGreaterThan %bool %thread %1\n%votes = OpGroupNonUniformBallot %v4uint %3 %odd\n\
             %own = OpGroupNonUniformInverseBallot %bool %3 %votes\n\
             %second = OpGroupNonUniformBallotBitExtract %bool %3 %votes %1\n%both = OpLogicalOr %bool %own %second\n\
             %result = OpSelect %uint %both %7 %5",
            [5, 5, 7, 7],
        ),
        // Who is first, and whether all are equal.
        ("%first = OpGroupNonUniformElect %bool %3\n%result = OpSelect %uint %first %7 %5", [7, 5, 5, 5]),
        ("%result = OpGroupNonUniformBroadcastFirst %uint %3 %thread", [0; 4]),
        ("%same = OpGroupNonUniformAllEqual %bool %3 %thread\n%result = OpSelect %uint %same %7 %5", [5; 4]),
        ("%same = OpGroupNonUniformAllEqual %bool %3 %4\n%result = OpSelect %uint %same %7 %5", [7; 4]),
    ] {
        assert_eq!(answer(body, results), Answer::Yes, "{body}");
        let mut wrong = results;
        wrong[3] ^= 1;
        assert!(matches!(answer(body, wrong), Answer::No(_)), "{body}");
    }
}

/// The masks of the lanes before and behind each lane: GLSL's `gl_SubgroupLtMask` and those like it.
#[test]
fn masks_of_lanes() {
    for (mask, results) in [
        ("SubgroupEqMask", [1, 2, 4, 8]),
        ("SubgroupGeMask", [15, 14, 12, 8]),
        ("SubgroupGtMask", [14, 12, 8, 0]),
        ("SubgroupLeMask", [1, 3, 7, 15]),
        ("SubgroupLtMask", [0, 1, 3, 7]),
    ] {
        let stores = "%all = OpLoad %v4uint %mask\n%low = OpCompositeExtract %uint %all 0\n\
                      %high = OpCompositeExtract %uint %all 3\n%result = OpIAdd %uint %low %high\n\
                      %mine = OpAccessChain %word %out %0 %thread\nOpStore %mine %result NonPrivatePointer\nOpReturn";
        let claim = claim(results);
        let text = with_more(&format!("{}\n{claim}", head("4, 1, 1")), stores);
        let variable = format!("OpDecorate %mask BuiltIn {mask}\n%mask = OpVariable %masks Input\n%main = OpFunction");
        assert_eq!(ask(&text.replace("%main = OpFunction", &variable), "assertion"), Answer::Yes, "{mask}");
    }
}

/// A sum of floats in another order may be another one, and so may what is the first lane of none.
#[test]
fn what_is_left_to_devices_is_not_known() {
    for body in [
        "%float0 = OpConvertUToF %float %thread\n%third = OpFDiv %float %float0 %f3\n\
         %sum = OpGroupNonUniformFAdd %float %3 Reduce %third\n%is = OpFOrdGreaterThan %bool %sum %f0_5\n\
         %result = OpSelect %uint %is %7 %5",
        "%none = OpCompositeConstruct %v4uint %0 %0 %0 %0\n%result = OpGroupNonUniformBallotFindLSB %uint %3 %none",
    ] {
        assert!(!matches!(answer(body, [7; 4]), Answer::Yes), "{body}");
        assert!(!matches!(answer(body, [0; 4]), Answer::Yes), "{body}");
    }
}

/// What a lane brings without a value that anything fixes, the others have as such.
#[test]
fn values_that_nothing_fixes_go_round() {
    let body = "%any = OpUndef %uint\n%is_first = OpIEqual %bool %thread %0\n%own = OpSelect %uint %is_first %any %1\n\
                %result = OpGroupNonUniformIAdd %uint %3 InclusiveScan %own";
    assert!(!matches!(answer(body, [0, 1, 2, 3]), Answer::Yes));
    let unharmed = format!("{body}\n%result = OpSelect %uint %true %7 %result0");
    assert_eq!(answer(&unharmed.replace("%result = OpGroup", "%result0 = OpGroup"), [7; 4]), Answer::Yes);
}

#[test]
fn what_is_refused_says_what_to_write() {
    for (body, why) in [
        ("%result = OpGroupIAdd %uint %2 Reduce %thread", "for a workgroup write to shared memory"),
        ("%result = OpGroupNonUniformIAdd %uint %3 ClusteredReduce %thread %8", "has no clusters of 8"),
    ] {
        let text = with_more(&head("4, 1, 1"), &format!("{body}\nOpReturn"));
        let read = wattle_foreign::spirv::read("own.spvasm", text.as_bytes()).expect("it is a module");
        let header = wattle_foreign::spirv::Header::read(&text).expect("the comments are right");
        let refused = wattle_foreign::spirv::launch("own.spvasm", &read, None, &header.setting());
        let refused = refused.expect_err(body).to_string();
        assert!(refused.contains(why) && refused.contains("own.spvasm:"), "{refused}");
    }
}
