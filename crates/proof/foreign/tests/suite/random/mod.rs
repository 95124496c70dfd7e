//! Random kernels, emitted and read back. `WATTLE_READBACK_KERNELS` says how many, and `cargo run --release -p xtask -- readback`
//! compares more of them.

mod campaign;

use campaign::{Language, campaign};

fn kernels() -> u64 {
    std::env::var("WATTLE_READBACK_KERNELS").ok().and_then(|count| count.parse().ok()).unwrap_or(30)
}

#[track_caller]
fn leave_the_same(language: Language) {
    let tally = campaign(0..kernels(), language, |_| ());
    if let Some((seed, found)) = tally.differ.first() {
        panic!("{language:?}, seed {seed}: {found}");
    }
    println!("{language:?}: {tally}");
    // On a machine that does much else, some searches do not end in their time.
    assert!(tally.same > kernels() / 2, "{tally}");
}

#[test]
fn as_ptx() {
    leave_the_same(Language::Ptx);
}

#[test]
fn as_spirv() {
    leave_the_same(Language::Spirv);
}
