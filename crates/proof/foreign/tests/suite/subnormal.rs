//! Atomic additions of singles take subnormal numbers for zero in global memory, and keep them in shared memory.

use super::bad_input::{kernel, launch, verdict};
use wattle_foreign::{Condition, Options, Unsupported, Verdict, World, judge};

const BARRIER: &str = "bar.sync 0;\n";

/// An addition of single bits to the place of an address, by each thread.
fn add(operand: &str, space: &str, to: &str) -> String {
    format!(".reg .f32 %f, %g;\nmov.f32 %f, {operand};\natom.relaxed.cta.{space}add.f32 %g, [{to}], %f;\n")
}

#[test]
fn subnormal_operands_are_zero_in_global_memory() {
    // 1e-40 and 1.0; the other operand is normal.
    for (space, operand, left) in [
        ("global.", "0f000116C2", "p[0] == 1.5e-38"),
        ("", "0f000116C2", "p[0] == 1.5e-38"),
        ("global.", "0f3F800000", "p[0] >= 1.0"),
    ] {
        let found = verdict(kernel(&add(operand, space, "%a")), 1, &["p=f32[1]:1.5e-38"], &[left]);
        assert_eq!(found, Verdict::Holds, "{space} {operand}");
    }
}

#[test]
fn subnormal_sums_in_global_memory_are_refused() {
    for (operand, first, is_refused) in [
        ("0f3F800000", "1e-40", true),
        ("0f80A35CEC", "1.5e-38", true),
        ("0f3F800000", "0.0", false),
        ("0f3F800000", "-1.0", false),
    ] {
        let body = format!("{}{BARRIER}", add(operand, "global.", "%a"));
        let mut world = World::new(kernel(&body), None, launch(1, &[&format!("p=f32[1]:{first}")])).expect("a launch");
        let condition = Condition::parse("p[0] < 3.0", world.ranges()).expect("a condition");
        match judge(&mut world, &[condition], &Options::default()) {
            Ok(report) => assert!(!is_refused && report.verdict == Verdict::Holds, "{first}: {report:?}"),
            Err(Unsupported::Instruction { why, instruction, .. }) => {
                assert!(is_refused && why.contains("PTX ISA 9.7.13.5"), "{first}: {why}");
                assert!(instruction.starts_with("atom.relaxed.cta.global.add.f32"), "{instruction}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn shared_memory_keeps_them() {
    for space in ["shared.", ""] {
        let to_generic = if space.is_empty() { "cvta.shared.u64 %b, %b;\n" } else { "" };
        let store = if space.is_empty() { "st.f32 [%b], 0f000116C2;\n" } else { "st.shared.f32 [%b], 0f000116C2;\n" };
        let load = format!("ld.{space}f32 %f, [%b];\nst.global.f32 [%a], %f;\n");
        let added = add("0f000116C2", space, "%b");
        let body = format!(".shared .align 4 .b8 s[4];\nmov.u64 %b, s;\n{to_generic}{store}{added}{load}");
        let found = verdict(kernel(&body), 1, &["p=f32[1]:0.0"], &["p[0] > 1.9e-40 && p[0] < 2.1e-40"]);
        assert_eq!(found, Verdict::Holds, "{body}");
    }
}
