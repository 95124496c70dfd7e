//! What instructions compute: one thread leaves results in `%out`.

use wattle_foreign::spirv::Answer;

use super::{ask, head, module};

/// Judges that the first words of `%out` are these.
fn gives(body: &str, words: &[i64]) {
    let claims = words.iter().enumerate().map(|(at, word)| format!("%out[0][{at}] == {word}"));
    let claim = claims.collect::<Vec<_>>().join(" and ");
    let text = module(&format!("{}\n; @Output: forall ({claim})", head("1, 1, 1")), "Vulkan", body);
    assert_eq!(ask(&text, "assertion"), Answer::Yes, "{text}");
    // It would be seen if they were others.
    let wrong = text.replacen(&format!("[0][0] == {}", words[0]), &format!("[0][0] == {}", words[0] + 1), 1);
    assert!(matches!(ask(&wrong, "assertion"), Answer::No(_)), "{wrong}");
}

#[test]
fn numbers() {
    for (computed, value) in [
        ("%r = OpIAdd %uint %7 %5", 12),
        ("%r = OpISub %uint %5 %7", -2),
        ("%r = OpIMul %uint %7 %5", 35),
        ("%r = OpUDiv %uint %7 %2", 3),
        ("%r = OpSDiv %int %m7 %i2", -3),
        ("%r = OpSRem %int %7 %i2", 1),
        ("%r = OpSMod %int %7 %i2", 1),
        ("%r = OpShiftLeftLogical %uint %7 %3", 56),
        ("%r = OpShiftRightArithmetic %int %m7 %1", -4),
        ("%r = OpShiftRightLogical %uint %7 %1", 3),
        ("%r = OpNot %uint %0", -1),
        ("%c = OpSLessThan %bool %m7 %i2\n%r = OpSelect %uint %c %5 %7", 5),
        ("%c = OpULessThan %bool %m7 %i2\n%r = OpSelect %uint %c %5 %7", 7),
        ("%f = OpConvertSToF %float %m7\n%h = OpFMul %float %f %f\n%r = OpConvertFToU %uint %h", 49),
        ("%r = OpBitCount %uint %7", 3),
        ("%r = OpBitFieldUExtract %uint %66 %1 %5", 1),
        (
            "%p = OpCompositeConstruct %v2uint %5 %7\n%q = OpVectorShuffle %v2uint %p %p 1 2\n%r = OpCompositeExtract %uint %q 0",
            7,
        ),
        (
            "%p = OpCompositeConstruct %v2uint %5 %7\n%q = OpCompositeInsert %v2uint %3 %p 1\n%r = OpCompositeExtract %uint %q 1",
            3,
        ),
        ("%p = OpCompositeConstruct %v2uint %5 %7\n%r = OpVectorExtractDynamic %uint %p %thread", 5),
        ("%r = OpArrayLength %uint %data 0", 4),
    ] {
        gives(&format!("{computed}\nOpStore %out0 %r\nOpReturn"), &[value]);
    }
}

#[test]
fn phis_are_moved_at_once() {
    // Two values change places three times.
    gives(
        "OpBranch %loop\n%loop = OpLabel\n%a = OpPhi %uint %5 %entry %b %again\n%b = OpPhi %uint %7 %entry %a %again\n\
         %n = OpPhi %uint %0 %entry %m %again\nOpLoopMerge %end %again None\nOpBranch %again\n%again = OpLabel\n\
         %m = OpIAdd %uint %n %1\n%go = OpULessThan %bool %m %4\nOpBranchConditional %go %loop %end\n%end = OpLabel\n\
         OpStore %out0 %a\n%out1 = OpAccessChain %word %out %0 %1\nOpStore %out1 %b\nOpReturn",
        &[7, 5],
    );
}

/// Slang writes debug information behind the end of a block.
#[test]
fn debug_information_behind_a_block() {
    let set = "%debug = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\nOpMemoryModel";
    let text =
        module(&head("1, 1, 1"), "Vulkan", "OpStore %out0 %5\nOpReturn\n%scope = OpExtInst %void %debug DebugNoScope");
    let text = text.replace("OpMemoryModel", set).replace("; @Input", "; @Output: forall (%out[0][0] == 5)\n; @Input");
    assert_eq!(ask(&text, "assertion"), Answer::Yes);
}

#[test]
fn switches_and_calls() {
    gives(
        "%x = OpFunctionCall %uint %twice %3\nOpSelectionMerge %end None\nOpSwitch %x %end 5 %five 6 %six\n\
         %five = OpLabel\nOpBranch %end\n%six = OpLabel\n%y = OpFunctionCall %uint %twice %x\nOpStore %out0 %y\n\
         OpBranch %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n\
         %of = OpTypeFunction %uint %uint\n%twice = OpFunction %uint None %of\n%a = OpFunctionParameter %uint\n\
         %begin = OpLabel\n%var = OpVariable %local Function %1\n%got = OpLoad %uint %var\n%s = OpIAdd %uint %a %a\n\
         %t = OpIMul %uint %s %got\nOpReturnValue %t",
        &[12],
    );
}

#[test]
fn atomic_operations() {
    for (operation, left, given) in [
        ("OpAtomicIAdd %uint %data0 %5 %0 %7", 7, 0),
        ("OpAtomicISub %uint %data0 %5 %0 %1", -1, 0),
        ("OpAtomicIIncrement %uint %data0 %5 %0", 1, 0),
        ("OpAtomicIDecrement %uint %data0 %5 %0", -1, 0),
        ("OpAtomicUMax %uint %data0 %5 %0 %7", 7, 0),
        ("OpAtomicExchange %uint %data0 %5 %0 %7", 7, 0),
        ("OpAtomicCompareExchange %uint %data0 %5 %0 %0 %7 %0", 7, 0),
        ("OpAtomicCompareExchange %uint %data0 %5 %0 %0 %7 %1", 0, 0),
    ] {
        let body = format!(
            "%old = {operation}\n%new = OpLoad %uint %data0\nOpStore %out0 %new\n%out1 = OpAccessChain %word %out %0 %1\n\
             OpStore %out1 %old\nOpReturn"
        );
        gives(&body, &[left, given]);
    }
}

#[test]
fn undefined_values_are_any() {
    let claim = |claim: &str, body: &str| {
        ask(&module(&format!("{}\n; @Output: {claim}", head("1, 1, 1")), "Vulkan", body), "assertion")
    };
    let stored = "%u = OpUndef %uint\n%v = OpBitwiseAnd %uint %u %1\nOpStore %out0 %v\nOpReturn";
    assert!(matches!(claim("forall (%out[0][0] == 0)", stored), Answer::No(_)));
    assert_eq!(claim("exists (%out[0][0] == 1)", stored), Answer::Yes);
    let decides = "%u = OpUndef %uint\n%c = OpIEqual %bool %u %72\nOpSelectionMerge %b None\n\
                   OpBranchConditional %c %a %b\n%a = OpLabel\nOpStore %out0 %1\nOpBranch %b\n%b = OpLabel\nOpReturn";
    assert!(matches!(claim("forall (%out[0][0] == 0)", decides), Answer::Unknown(_)));
    // A thread's own variable has no value before its first store, and has one behind it.
    let local = "%var = OpVariable %local Function\n{}%x = OpLoad %uint %var\nOpStore %out0 %x\nOpReturn";
    assert_eq!(claim("forall (%out[0][0] == 5)", &local.replace("{}", "OpStore %var %5\n")), Answer::Yes);
    assert!(matches!(claim("forall (%out[0][0] == 0)", &local.replace("{}", "")), Answer::No(_)));
}

/// What a thread leaves open in a cell it has not read before, unless another thread leaves something open there too: a shader
/// that decides by what it then overwrites with a sine is judged.
#[test]
fn what_is_left_open_is_read_later() {
    let claim = |config: &str, body: &str| {
        ask(&module(&format!("{}\n; @Output: forall (%out[0][0] == 1)", head(config)), "Vulkan", body), "assertion")
    };
    let decides = |when: &str| {
        format!(
            "{when}%x = OpLoad %uint %data0\n%c = OpIEqual %bool %x %0\nOpSelectionMerge %b None\n\
             OpBranchConditional %c %a %b\n%a = OpLabel\nOpStore %out0 %1\nOpBranch %b\n%b = OpLabel\n"
        )
    };
    let undefined = "%u = OpUndef %uint\n%v = OpIAdd %uint %u %1\n";
    let store = "OpStore %data0 %v\n";
    assert_eq!(claim("1, 1, 1", &format!("{undefined}{}{store}OpReturn", decides(""))), Answer::Yes);
    assert_ne!(claim("1, 1, 1", &format!("{undefined}{}OpReturn", decides(store))), Answer::Yes);
    // Two threads, each of which may read what the other one leaves.
    assert_ne!(claim("1, 2, 1", &format!("{undefined}{}{store}OpReturn", decides(""))), Answer::Yes);
    // Thread 1 alone leaves something open, and thread 0 may read it.
    let by_one = "%t = OpIEqual %bool %thread %1\nOpSelectionMerge %e None\nOpBranchConditional %t %d %e\n%d = OpLabel\n\
                  OpStore %data0 %v\nOpBranch %e\n%e = OpLabel\n";
    let both = format!("{undefined}{}{by_one}OpReturn", decides(""));
    assert_ne!(claim("1, 2, 1", &both), Answer::Yes);
}

/// A read before a barrier reads what another thread writes behind it, unless the barrier is about the class of that memory.
#[test]
fn a_barrier_orders_the_classes_that_it_names() {
    let answer = |semantics: &str| {
        let claim = "; @Output: exists (%out[0][0] == 1)";
        let body = format!(
            "%r = OpAtomicLoad %uint %data0 %5 %0\nOpControlBarrier %2 %2 {semantics}\n%one = OpIEqual %bool %thread %1\n\
             OpSelectionMerge %b None\nOpBranchConditional %one %a %b\n%a = OpLabel\nOpAtomicStore %data0 %5 %0 %1\n\
             OpBranch %b\n%b = OpLabel\n%mine = OpAccessChain %word %out %0 %thread\nOpStore %mine %r NonPrivatePointer\n\
             OpReturn"
        );
        ask(&module(&format!("{}\n{claim}", head("1, 2, 1")), "Vulkan", &body), "assertion")
    };
    assert_eq!(answer("%264"), Answer::Yes, "of a workgroup's memory");
    assert!(matches!(answer("%72"), Answer::No(_)), "of buffers");
}

#[test]
fn beyond_a_variable() {
    let claim = |body: &str| {
        ask(&module(&format!("{}\n; @Output: forall (%out[0][0] == 0)", head("1, 1, 1")), "Vulkan", body), "assertion")
    };
    let there = "%p = OpAccessChain %word %data %0 %66\n";
    // What is read there is any value; what is written there may change anything.
    assert_eq!(claim(&format!("{there}%x = OpLoad %uint %p\nOpStore %data0 %x\nOpReturn")), Answer::Yes);
    assert!(matches!(claim(&format!("{there}%x = OpLoad %uint %p\nOpStore %out0 %x\nOpReturn")), Answer::No(_)));
    assert!(matches!(claim(&format!("{there}OpStore %p %1\nOpReturn")), Answer::Unknown(_)));
    let by_zero = "%x = OpLoad %uint %data0\n%y = OpUDiv %uint %7 %x\nOpReturn";
    assert!(matches!(claim(by_zero), Answer::Unknown(_)));
}

/// What the specification leaves undefined fixes no result, and where it is the behaviour, nothing is said at all.
#[test]
fn what_is_undefined_fixes_nothing() {
    let claim = |computed: &str, value: i64| {
        let head = format!("{}\n; @Output: forall (%out[0][0] == {value})", head("1, 1, 1"));
        let width = "%32 = OpIMul %uint %4 %8\n";
        let body = format!("%8 = OpIAdd %uint %7 %1\n{width}{computed}\nOpStore %out0 %r\nOpReturn");
        ask(&module(&head, "Vulkan", &body), "assertion")
    };
    for (defined, undefined, value) in [
        ("%r = OpShiftLeftLogical %uint %4 %7", "%r = OpShiftLeftLogical %uint %4 %32", 512),
        ("%r = OpShiftRightLogical %uint %72 %3", "%r = OpShiftRightLogical %uint %72 %32", 9),
        ("%r = OpShiftRightArithmetic %int %m7 %1", "%r = OpShiftRightArithmetic %int %m7 %32", -4),
        ("%r = OpBitFieldUExtract %uint %66 %1 %5", "%r = OpBitFieldUExtract %uint %66 %1 %32", 1),
        ("%r = OpSRem %int %7 %i2", "%r = OpSRem %int %m7 %i2", 1),
        ("%r = OpSMod %int %7 %i2", "%r = OpSMod %int %i2 %m7", 1),
        ("%r = OpBitFieldInsert %uint %0 %1 %3 %5", "%r = OpBitFieldInsert %uint %0 %1 %32 %1", 8),
    ] {
        assert_eq!(claim(defined, value), Answer::Yes, "{defined}");
        for value in [value, 0, -1, 1] {
            assert!(matches!(claim(undefined, value), Answer::No(_)), "{undefined}");
        }
    }
    let least = "%31 = OpISub %uint %32 %1\n%n = OpShiftLeftLogical %int %1 %31\n%minus = OpBitwiseOr %int %m7 %7\n";
    let half = "%7f = OpConvertSToF %float %m7\n%14f = OpFAdd %float %7f %7f\n%h = OpFDiv %float %7f %14f\n";
    for (defined, undefined, value) in [
        ("%r = OpSDiv %int %n %i2", "%r = OpSDiv %int %n %minus", -(1 << 30)),
        ("%r = OpSRem %int %i2 %i2", "%r = OpSRem %int %n %minus", 0),
        ("%r = OpConvertFToU %uint %h", "%r = OpConvertFToU %uint %7f", 0),
        (
            "%r = OpConvertFToS %int %7f",
            "%x = OpFMul %float %7f %7f\n%y = OpFMul %float %x %x\n%z = OpFMul %float %y %y\n\
          %zz = OpFMul %float %z %z\n%r = OpConvertFToS %int %zz",
            -7,
        ),
        (
            "%p = OpCompositeConstruct %v2uint %5 %7\n%r = OpVectorExtractDynamic %uint %p %1",
            "%p = OpCompositeConstruct %v2uint %5 %7\n%r = OpVectorExtractDynamic %uint %p %2",
            7,
        ),
    ] {
        let before = format!("{least}{half}");
        assert_eq!(claim(&format!("{before}{defined}"), value), Answer::Yes, "{defined}");
        let answer = claim(&format!("{before}{undefined}"), value);
        assert_ne!(answer, Answer::Yes, "{undefined}");
    }
}

/// Constants are computed from others, in text as in words.
#[test]
fn operations_on_constants() {
    let text = |body: &str| {
        let head = format!("{}\n; @Output: forall (%out[0][0] == 35)", head("1, 1, 1"));
        module(&head, "Vulkan", body).replace(
            "%m7 = OpConstant",
            "%pair = OpSpecConstantComposite %v2uint %5 %7\n%first = OpSpecConstantOp %uint CompositeExtract %pair 0\n\
             %product = OpSpecConstantOp %uint IMul %first %7\n%m7 = OpConstant",
        )
    };
    assert_eq!(ask(&text("OpStore %out0 %product\nOpReturn"), "assertion"), Answer::Yes);
    assert!(matches!(ask(&text("OpStore %out0 %first\nOpReturn"), "assertion"), Answer::No(_)));
}

/// A function's variable is another one in each call.
#[test]
fn variables_of_calls_in_a_loop() {
    let claim = |claim: &str, variable: &str, load: &str| {
        let head = format!("{}\n; @Output: forall ({claim})", head("1, 1, 1"));
        let body = format!(
            "OpBranch %loop\n%loop = OpLabel\n%n = OpPhi %uint %0 %entry %m %again\nOpLoopMerge %end %again None\n\
             OpBranch %again\n%again = OpLabel\n%x = OpFunctionCall %uint %first %n\n\
             %to = OpAccessChain %word %out %0 %n\nOpStore %to %x\n%m = OpIAdd %uint %n %1\n\
             %go = OpULessThan %bool %m %2\nOpBranchConditional %go %loop %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n\
             %of = OpTypeFunction %uint %uint\n%first = OpFunction %uint None %of\n%a = OpFunctionParameter %uint\n\
             %begin = OpLabel\n{variable}\n%is = OpIEqual %bool %a %0\nOpSelectionMerge %done None\n\
             OpBranchConditional %is %yes %done\n%yes = OpLabel\nOpStore %var %5\nOpBranch %done\n%done = OpLabel\n\
             {load}\nOpReturnValue %got"
        );
        ask(&module(&head, "Vulkan", &body), "assertion")
    };
    let load = "%got = OpLoad %uint %var";
    for (variable, load) in [
        ("%var = OpVariable %local Function", load.to_owned()),
        // A variable by whose address an index reckons is memory.
        ("%var = OpVariable %local Function", format!("%same = OpAccessChain %local %var\n{load}")),
    ] {
        assert_eq!(claim("%out[0][0] == 5", variable, &load), Answer::Yes);
        assert!(matches!(claim("%out[0][1] == 5", variable, &load), Answer::No(_)));
        assert!(matches!(claim("%out[0][1] == 0", variable, &load), Answer::No(_)));
    }
}
