//! Random kernels: ptxas takes them without a warning. `cargo xtask assemble` runs more of them.

mod assembled;
mod tools;

fn assembles(sm: u32) {
    let Some(ptxas) = tools::assembler() else { return };
    for first in (0..500).step_by(assembled::AT_A_TIME as usize) {
        let complaints = assembled::complaints(&ptxas, first, sm);
        assert!(complaints.is_empty(), "sm_{sm}, seeds from {first}: {complaints:#?}");
    }
}

#[test]
fn sm_80() {
    assembles(80);
}

#[test]
fn sm_90() {
    assembles(90);
}
