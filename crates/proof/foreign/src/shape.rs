//! Whether the shape of a launch fits its kernel, the devices that there are, and what is judged.

use wattle_modules::code::Kernel;

use crate::launch::Launch;
use crate::unsupported::Unsupported;

/// The most blocks of a grid in each dimension, and threads of a block (CUDA C++ Programming Guide 12.9, table
/// "Technical Specifications per Compute Capability"; the same for all that this reader knows).
const MOST_GRID: [u32; 3] = [0x7FFF_FFFF, 65_535, 65_535];
const MOST_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most shared memory of a block in bytes, of any device: those of compute capability 9.0 and 10.0.
const MOST_SHARED: u64 = 227 << 10;

/// Whether some CUDA device gives what a launch asks for.
pub(crate) fn is_given(kernel: &Kernel, launch: &Launch) -> Result<(), Unsupported> {
    let wrong = |why: String| Err(Unsupported::Shape(why));
    for (what, of, asked, most) in [
        ("a grid", "blocks", launch.grid, MOST_GRID),
        ("a block", "threads in its dimensions, and 1024 in all", launch.block, MOST_BLOCK),
    ] {
        if asked.iter().zip(most).any(|(&asked, most)| asked > most) {
            let [x, y, z] = most;
            return wrong(format!(
                "{what} of a CUDA device has at most {x} x {y} x {z} {of} (CUDA C++ Programming Guide, \"Technical Specifications per \
                 Compute Capability\"), not {} x {} x {}",
                asked[0], asked[1], asked[2]
            ));
        }
    }
    let shared = kernel.shared.saturating_add(launch.dynamic_shared);
    if shared > MOST_SHARED {
        return wrong(format!(
            "a block of a CUDA device has at most {MOST_SHARED} bytes of shared memory (227 KB with compute capability 9.0, CUDA C++ \
             Programming Guide, \"Technical Specifications per Compute Capability\"), not {shared}: {} that `{}` declares and {} \
             that are given at launch",
            kernel.shared, kernel.name, launch.dynamic_shared
        ));
    }
    Ok(())
}

/// The most threads of a launch that is judged.
pub(crate) const MOST_THREADS: u64 = 1 << 16;

/// Whether a launch has a shape that can be judged, and that its kernel permits.
pub(crate) fn shape_fits(kernel: &Kernel, launch: &Launch) -> Result<(), Unsupported> {
    let wrong = |why: String| Err(Unsupported::Shape(why));
    if launch.block_len() == 0 || launch.blocks() == 0 {
        return wrong("a launch has at least one block and one thread".into());
    }
    if launch.block_len() > 1024 {
        return wrong(format!("a block has at most 1024 threads, not {}", launch.block_len()));
    }
    if launch.block_len().saturating_mul(launch.blocks()) > MOST_THREADS {
        return wrong(format!("a launch that is judged has at most {MOST_THREADS} threads"));
    }
    let [x, y, z] = launch.block;
    match (kernel.exact_threads, kernel.most_threads) {
        (Some(exact), _) if exact != launch.block => {
            wrong(format!("`{}` requires blocks of {exact:?} threads (.reqntid), not {:?}", kernel.name, launch.block))
        }
        (_, Some([a, b, c])) if launch.block_len() > u64::from(a) * u64::from(b) * u64::from(c) => wrong(format!(
            "`{}` has at most {a} x {b} x {c} threads in a block (.maxntid), not {x} x {y} x {z}",
            kernel.name
        )),
        _ => Ok(()),
    }
}
