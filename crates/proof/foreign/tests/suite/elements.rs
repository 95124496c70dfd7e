//! Atomic operations on floats of 16 bits and on several numbers, each of which is one for others.

use wattle_foreign::{Source, Verdict, Violation, World};

use crate::bad_input::{HEAD, kernel, launch, refused, verdict};

/// What two threads leave that both execute these instructions.
fn both(body: &str, argument: &str, asserted: &[&str]) -> Verdict {
    verdict(kernel(&format!("{{ .reg .b16 %h, %g, %i, %j; .reg .f32 %f, %e; {body} }}")), 2, &[argument], asserted)
}

#[test]
fn sums_of_halves() {
    let one = "mov.b16 %h, 0x3c00; atom.add.noftz.f16 %g, [%a+2], %h;";
    assert_eq!(both(one, "p=f16[3]:0.5", &["p[0] == 0.5", "p[1] == 2.5", "p[2] == 0.5"]), Verdict::Holds);
    let brain = "mov.b16 %h, 0x3f80; red.relaxed.gpu.global.add.noftz.bf16 [%a+2], %h;";
    assert_eq!(both(brain, "p=bf16[2]:-3", &["p[0] == -3.0", "p[1] == -1.0"]), Verdict::Holds);
    // Each sum is rounded: 2048 and 1 are 2048 again.
    assert_eq!(both(one, "p=f16[2]:2048.0", &["p[1] == 2048.0"]), Verdict::Holds);
}

#[test]
fn two_numbers_in_a_word() {
    // 1 and -2, of which the first is in the low half; what was there is added up.
    let packed = "mov.u32 %x, 0xc0003c00; atom.add.noftz.f16x2 %y, [%a], %x; st.global.u32 [%a+4], %y;";
    let one = verdict(kernel(packed), 1, &["p=f16[4]:0.5"], &["p[0] == 1.5", "p[1] == -1.5", "p[2] == 0.5"]);
    assert_eq!(one, Verdict::Holds);
    let reduced =
        packed.replace("atom.add.noftz.f16x2 %y,", "red.global.add.noftz.f16x2").replace("[%a+4], %y", "[%a+4], 0");
    let found = both(&reduced, "p=f16[4]:0.5", &["p[0] == 2.5 && p[1] == -3.5"]);
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "the store: {found:?}");
    let unused = "mov.u32 %x, 0xc0003f80; atom.global.add.noftz.bf16x2 _, [%a], %x;";
    assert_eq!(both(unused, "p=bf16[2]:1", &["p[0] == 3.0 && p[1] == -3.0"]), Verdict::Holds);
    // The guard is for both halves.
    let guarded = "setp.eq.u32 %p, %t, 0; mov.u32 %x, 0x3c003c00; @%p red.add.noftz.f16x2 [%a], %x;";
    assert_eq!(both(guarded, "p=f16[2]:0", &["p[0] == 1.0 && p[1] == 1.0"]), Verdict::Holds);
}

#[test]
fn vectors() {
    let floats = "mov.f32 %f, 0f3F800000; mov.f32 %e, 0f40000000;\natom.global.v2.f32.add {%f, %e}, [%a+4], {%f, %e};";
    assert_eq!(both(floats, "p=f32[3]:1", &["p[0] == 1.0", "p[1] == 3.0", "p[2] == 5.0"]), Verdict::Holds);
    let halves = "mov.b16 %h, 0x3c00; mov.b16 %g, 0x4000;\nred.global.add.noftz.v2.f16 [%a], {%h, %g};";
    assert_eq!(both(halves, "p=f16[2]:0", &["p[0] == 2.0", "p[1] == 4.0"]), Verdict::Holds);
    let words = "mov.u32 %x, 0x3c003c00; mov.u32 %y, 0x40004000;\nred.global.add.noftz.v2.f16x2 [%a], {%x, %y};";
    assert_eq!(
        both(words, "p=f16[4]:0", &["p[0] == 2.0 && p[1] == 2.0", "p[2] == 4.0 && p[3] == 4.0"]),
        Verdict::Holds
    );
}

/// A plain load of what others add to races with each element.
#[test]
fn plain_loads_race() {
    let body = "setp.eq.u32 %p, %t, 0; mov.u32 %x, 0x3c003c00; @%p red.add.noftz.f16x2 [%a], %x;\n@!%p ld.global.u16 %h, [%a+2];";
    let found = both(body, "p=f16[2]:0", &[]);
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
}

#[test]
fn what_is_not_known_is_refused() {
    for (instruction, why) in [
        ("atom.global.max.noftz.f16 %g, [%a], %h", "of atomic operations on 16-bit floats '.add' is known here"),
        ("red.global.min.noftz.v2.f16 [%a], {%h, %g}", "of atomic operations on 16-bit floats '.add' is known here"),
        ("red.global.add.v2.f32 [%a], {%f, %e, %f}", "its operands are vectors of 2 registers"),
        ("red.global.add.noftz.f32 [%a], %f", "A modifier is missing"),
        ("red.global.add.f16 [%a], %h", ""),
    ] {
        let body = format!("{{ .reg .b16 %h, %g; .reg .f32 %f, %e;\n{instruction}; }}");
        let refused = refused(kernel(&body), None, launch(1, &["p=u32[4]:0"]));
        assert!(refused.contains(why) && refused.contains("k.ptx:"), "{instruction}: {refused}");
    }
    // Those of bfloat16 are for newer devices.
    let Source { file, text } = kernel("{ .reg .b16 %h; red.global.add.noftz.bf16 [%a], %h; }");
    let old = Source { file, text: text.replace("sm_90", "sm_80") };
    assert!(refused(old, None, launch(1, &["p=u32[4]:0"])).contains("sm_90"));
}

/// Of floats of 16 bits there are two kinds, so that an argument says which.
#[test]
fn an_argument_says_its_kind() {
    let text = format!("{HEAD}.entry k(.param .b16 n)\n{{ ret; }}");
    let source = || Source { file: "k.ptx".into(), text: text.clone() };
    for right in ["n=f16:1.5", "n=bf16:1.5", "n=7"] {
        assert!(World::new(source(), None, launch(1, &[right])).is_ok(), "{right}");
    }
    let refused = refused(source(), None, launch(1, &["n=1.5"]));
    assert!(refused.contains("write its type, `n=f16:1.5` or `n=bf16:1.5`"), "{refused}");
}
