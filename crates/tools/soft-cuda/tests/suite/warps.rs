//! What the lanes of a warp find out about each other.

use crate::tools::Session;

/// The word that each of four lanes gets from code that leaves it in `%w5`, with its number in `%w0`, and half of it in `%w1`.
fn lanes(code: &str) -> Vec<u64> {
    let body = format!(
        "mov.u32 %w0, %tid.x; shr.u32 %w1, %w0, 1; mov.u32 %w5, 0;\n{code}\n\
         cvt.u64.u32 %i1, %w5; mul.wide.u32 %i2, %w0, 8; add.u64 %i2, %io, %i2; st.global.u64 [%i2], %i1;"
    );
    Session::new().run(&body, 1, 4, &[9; 4]).expect("it runs")
}

#[test]
fn equal_values_are_found() {
    assert_eq!(lanes("match.any.sync.b32 %w5, %w1, 0xF;"), [0b0011, 0b0011, 0b1100, 0b1100]);
    assert_eq!(lanes("match.all.sync.b32 %w5|%p0, %w1, 0xF;"), [0; 4]);
    let holds = "mov.u32 %w2, 7; match.all.sync.b32 %w5|%p0, %w2, 0xF; @%p0 or.b32 %w5, %w5, 16;";
    assert_eq!(lanes(holds), [0b1_1111; 4]);
}

#[test]
fn votes_ask_whether_all_have_the_same() {
    for (bound, same) in [(4, 1), (2, 0)] {
        let vote = format!("setp.lt.u32 %p0, %w0, {bound}; vote.sync.uni.pred %p1, %p0, 0xF; selp.u32 %w5, 1, 0, %p1;");
        assert_eq!(lanes(&vote), [same; 4], "below {bound}");
    }
    let negated = "setp.lt.u32 %p0, %w0, 3; vote.sync.any.pred %p1, !%p0, 0xF; selp.u32 %w5, 1, 0, %p1;";
    assert_eq!(lanes(negated), [1; 4]);
}

#[test]
fn a_reduction_is_of_words() {
    assert_eq!(lanes("redux.sync.add.u32 %w5, %w0, 0xF;"), [6; 4]);
    assert_eq!(lanes("sub.u32 %w2, %w0, 2; redux.sync.min.s32 %w5, %w2, 0xF;"), [0xFFFF_FFFE; 4]);
}

#[test]
fn a_lane_of_the_mask_is_elected() {
    assert_eq!(lanes("elect.sync %w5|%p0, 0xF;"), [0; 4]);
    assert_eq!(lanes("elect.sync _|%p0, 0xF; selp.u32 %w5, 1, 0, %p0;"), [1, 0, 0, 0]);
    let of_others =
        "setp.lt.u32 %p1, %w0, 1; @%p1 elect.sync %w2|%p0, 1; @!%p1 elect.sync %w2|%p0, 14; selp.u32 %w5, 1, 0, %p0;";
    assert_eq!(lanes(of_others), [1, 1, 0, 0]);
}
