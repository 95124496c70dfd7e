//! Random kernels: ptxas takes them without a warning. `cargo xtask assemble` runs more of them.

/// The targets have different kernels: what differs between their code has tests of its own.
fn assembles(sm: u32, seeds: std::ops::Range<u64>) {
    let Some(ptxas) = crate::tools::assembler() else { return };
    for first in seeds.step_by(crate::assembled::AT_A_TIME as usize) {
        let complaints = crate::assembled::complaints(&ptxas, first, sm);
        assert!(complaints.is_empty(), "sm_{sm}, seeds from {first}: {complaints:#?}");
    }
}

#[test]
fn sm_80() {
    assembles(80, 0..100);
}

#[test]
fn sm_90() {
    assembles(90, 100..200);
}
