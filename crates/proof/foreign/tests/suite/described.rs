//! Comments at the head of a PTX module say how to run it.

use wattle_foreign::{Described, Launch, Options, Source, Verdict, World, judge_claimed};

use crate::bad_input::HEAD;

/// A kernel that counts its threads, and halves a float in each.
fn module(comments: &str) -> Source {
    let text = format!(
        "{comments}\n{HEAD}.entry k(.param .u64 counter, .param .u64 halves, .param .u32 n)\n\
         {{ .reg .u64 %a, %b; .reg .u32 %x, %n, %i, %d; .reg .f32 %f;\n\
         ld.param.u64 %a, [counter];\n ld.param.u64 %b, [halves];\n ld.param.u32 %n, [n];\n\
         atom.relaxed.gpu.global.add.u32 %x, [%a], %n;\n\
         mov.u32 %i, %tid.x;\n mov.u32 %d, %ctaid.x;\n mad.lo.u32 %i, %d, 4, %i;\n mul.wide.u32 %a, %i, 4;\n\
         add.u64 %b, %b, %a;\n ld.global.f32 %f, [%b];\n mul.f32 %f, %f, 0f3F000000;\n st.global.f32 [%b], %f;\n\
         ret; // @not: a comment of the head\n}}"
    );
    Source { file: "k.ptx".into(), text }
}

fn judged(comments: &str) -> Result<Verdict, String> {
    let source = module(comments);
    let Described { grid, block, arguments, claim } =
        Described::of(&source, None).map_err(|error| error.to_string())?;
    let launch = Launch { grid: grid.unwrap_or([1; 3]), block: block.unwrap_or([1; 3]), arguments, dynamic_shared: 0 };
    let mut world = World::new(source, None, launch).map_err(|error| error.to_string())?;
    let report = judge_claimed(&mut world, claim.as_ref(), &[], &Options::default());
    report.map(|report| report.verdict).map_err(|error| error.to_string())
}

const INPUT: &str = "// @Config: 4, 1, 2\n// @Input: %c = u32[1]:0, %h = f32[8]:3.0\n// @Input: %n = 3\n";

#[test]
fn a_launch_is_as_its_comments_say() {
    for (claim, holds) in [
        ("forall (%c[0] == 24 and %h[7] == 1.5)", true),
        ("forall (%c == 24 or %h[0] == 1.0)", true),
        ("forall (not %c == 24)", false),
        ("forall (%h[1] == 3.0)", false),
        ("not exists (%c == 23 or (%h[0] == 1.5 and %h[1] > 2.0))", true),
        ("exists (%c == 24 and %h[3] < 2.0)", true),
        ("exists (%c == 25)", false),
    ] {
        let verdict = judged(&format!("// A comment.\n\n{INPUT}// @Output: {claim}\n")).expect(claim);
        assert_eq!(verdict == Verdict::Holds, holds, "{claim}: {verdict:?}");
        assert!(!matches!(verdict, Verdict::Unknown(_)), "{claim}: {verdict:?}");
    }
}

#[test]
fn inputs_go_by_parameters_or_their_numbers() {
    let config = "// @Config: 2, 1, 1\n";
    for inputs in [
        "%2 = 5, %counter = u32[1]:0, %h = f32[2]:1.0",
        "%halves = f32[2]:1.0, %0 = u32[1]:0, %2 = u32:5",
        "%h = f32[2]:1.0, %n = 5, %counter = u32[1]:0",
    ] {
        for counter in ["counter", "0"] {
            let comments = format!("{config}// @Input: {inputs}\n// @Output: forall (%{counter} == 10)\n");
            assert_eq!(judged(&comments), Ok(Verdict::Holds), "{comments}");
        }
    }
}

#[test]
fn wrong_comments() {
    for (comments, said) in [
        ("// @Input: %counter = {{0}}, %h = f32[8]:3.0, %n = 3", "write `%counter = u32[3]:0,1,2`"),
        ("// @Input: %c = u32[1]:0", "the number of arguments (--arg) is 1, and should be 3. The kernel is `k("),
        ("// @Input: %n = 1, %2 = 2", "`n` is given twice"),
        ("// @Input: %c = u33[1]:0", "k.ptx: line 1: `u33` is none of"),
        ("// @Config: 4, 2, 1", "a warp of PTX has 32 lanes"),
        ("\n// @Out: 1", "k.ptx: line 2: `@Out` is unknown"),
        (&format!("{INPUT}// @Output: forall (%d == 1)"), "`d` is none of `c`, `h`"),
    ] {
        let error = judged(comments).expect_err(comments);
        assert!(error.contains(said), "{comments}: {error}");
    }
}
