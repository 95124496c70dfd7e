//! The implementation of `fence.*` and `membar.*`: threads of different launches run on different threads of the host.

use std::sync::atomic::{Ordering, fence};

/// Orders everything before it before everything behind it, as `fence.sc.sys` does, the strongest of them.
// One function of its own, so that a test can look at its machine code.
#[inline(never)]
pub fn full() {
    fence(Ordering::SeqCst);
    #[cfg(test)]
    tests::COUNT.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::machine::tools::Session;

    pub static COUNT: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn fences_of_a_kernel_are_fences_of_the_host() {
        let code = "fence.sc.gpu; fence.acq_rel.cta; fence.acquire.sys; fence.release.gpu; membar.gl;";
        let before = COUNT.load(Ordering::Relaxed);
        Session::new().run(code, 2, 3, &[0]).expect("it runs");
        assert_eq!(COUNT.load(Ordering::Relaxed) - before, 5 * 2 * 3);
    }

    /// Hardware shows store buffering, which a sequentially consistent fence prevents, only by chance.
    #[test]
    fn the_fence_is_an_instruction_of_the_processor() {
        let expected: &[&str] = match std::env::consts::ARCH {
            "x86_64" => &["mfence", "lock"],
            "aarch64" => &["dmb"],
            other => panic!("say here how a fence is written for {other}"),
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/machine/fence.rs");
        let output = std::env::temp_dir().join(format!("soft-cuda-fence-{}.s", std::process::id()));
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(compiler);
        command.args([
            "--edition",
            "2024",
            "-O",
            "--crate-type",
            "lib",
            "--crate-name",
            "fence",
            "--emit",
            "asm",
            "-o",
        ]);
        assert!(command.arg(&output).arg(&source).status().expect("the compiler of this build").success());
        let assembly = std::fs::read_to_string(&output).expect("what the compiler wrote");
        std::fs::remove_file(&output).expect("it is there");
        let instructions = || assembly.lines().filter_map(|line| line.split_whitespace().next());
        assert!(instructions().any(|word| expected.contains(&word)), "{assembly}");
    }
}
