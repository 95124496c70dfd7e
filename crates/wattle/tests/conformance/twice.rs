//! Bodies that are compiled twice: as kernels, and as plain Rust.

use std::ops::{Index, IndexMut};

/// The place of a kernel's `Shared<u32>` in plain Rust.
pub struct Plain(pub Vec<u32>);

impl Index<u32> for Plain {
    type Output = u32;
    fn index(&self, at: u32) -> &u32 {
        &self.0[at as usize]
    }
}

impl IndexMut<u32> for Plain {
    fn index_mut(&mut self, at: u32) -> &mut u32 {
        &mut self.0[at as usize]
    }
}

/// A body as a kernel of `n` and `out`, as plain Rust, and the case that compares the two for some `n`.
macro_rules! twice {
    ($($case:ident $kernel:ident $plain:ident($n:ident, $out:ident) $len:literal $body:block)+) => {$(
        #[kernel]
        fn $kernel(acc: &Acc, $n: u32, $out: Shared<u32>) $body

        #[allow(clippy::all, reason = "it is a kernel's body")]
        fn $plain($n: u32, $out: &mut crate::twice::Plain) $body

        fn $case(device: &Device) -> crate::harness::Outcome {
            let queue = device.queue()?;
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 42, 99, 100, 1000, 4_000_000] {
                let out = device.alloc_zeroed::<u32>($len)?;
                queue.launch(ThreadSpec::new(1, 1), $kernel(n, &out))?;
                let mut expected = crate::twice::Plain(vec![0; $len]);
                $plain(n, &mut expected);
                assert_eq!(out.read(&queue)?, expected.0, "for {n}");
            }
            Ok(())
        }
    )+};
}
pub(crate) use twice;
