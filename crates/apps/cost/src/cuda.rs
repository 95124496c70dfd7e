//! The same loops in CUDA C++, around CUDA's own fences and atomics: what Wattle's are measured beside on a device that
//! runs PTX.
//!
//! `peers/loops.cu` is the source, and says how `peers/loops.ptx` is made of it.

use std::sync::OnceLock;

use wattle::memory::Scope;
use wattle::{LaunchOptions, Module, Queue, Result, ThreadSpec};

use crate::kernels::{Buffers, Loop};
use crate::operation::{LoopCode, Operation};
use crate::operation_kind::OperationKind;

/// The name of the loops' module in errors.
const FILE: &str = "loops.ptx";
const TEXT: &str = include_str!("../peers/loops.ptx");

/// The loops of CUDA C++: the kernel's name in the module, how the operation is spelt, its kind, and its scope.
macro_rules! loops {
    ($($kernel:ident $spelling:literal $kind:ident $scope:ident)+) => {
        const LOOPS: &[(&str, &str, OperationKind, Scope)] =
            &[$((stringify!($kernel), $spelling, OperationKind::$kind, Scope::$scope)),+];
    };
}

loops! {
    threadfence_block "__threadfence_block()" Fence Block
    threadfence_device "__threadfence()" Fence Device
    threadfence_system "__threadfence_system()" Fence System
    fence_acquire_block "atomic_thread_fence acquire block" Fence Block
    fence_acquire_device "atomic_thread_fence acquire device" Fence Device
    fence_acquire_system "atomic_thread_fence acquire system" Fence System
    fence_release_block "atomic_thread_fence release block" Fence Block
    fence_release_device "atomic_thread_fence release device" Fence Device
    fence_release_system "atomic_thread_fence release system" Fence System
    fence_acq_rel_block "atomic_thread_fence acq_rel block" Fence Block
    fence_acq_rel_device "atomic_thread_fence acq_rel device" Fence Device
    fence_acq_rel_system "atomic_thread_fence acq_rel system" Fence System
    fence_seq_cst_block "atomic_thread_fence seq_cst block" Fence Block
    fence_seq_cst_device "atomic_thread_fence seq_cst device" Fence Device
    fence_seq_cst_system "atomic_thread_fence seq_cst system" Fence System
    load_relaxed "atomic_ref load relaxed device" Load Device
    load_acquire "atomic_ref load acquire device" Load Device
    load_seq_cst "atomic_ref load seq_cst device" Load Device
    store_relaxed "atomic_ref store relaxed device" Store Device
    store_release "atomic_ref store release device" Store Device
    store_seq_cst "atomic_ref store seq_cst device" Store Device
    exchange_relaxed "atomic_ref exchange relaxed device" Exchange Device
    exchange_acquire "atomic_ref exchange acquire device" Exchange Device
    exchange_release "atomic_ref exchange release device" Exchange Device
    exchange_acq_rel "atomic_ref exchange acq_rel device" Exchange Device
    exchange_seq_cst "atomic_ref exchange seq_cst device" Exchange Device
    compare_exchange_relaxed "atomic_ref compare_exchange relaxed device" CompareExchange Device
    compare_exchange_acquire "atomic_ref compare_exchange acquire device" CompareExchange Device
    compare_exchange_release "atomic_ref compare_exchange release device" CompareExchange Device
    compare_exchange_acq_rel "atomic_ref compare_exchange acq_rel device" CompareExchange Device
    compare_exchange_seq_cst "atomic_ref compare_exchange seq_cst device" CompareExchange Device
    fetch_add_relaxed "atomic_ref fetch_add relaxed device" Add Device
    fetch_add_acquire "atomic_ref fetch_add acquire device" Add Device
    fetch_add_release "atomic_ref fetch_add release device" Add Device
    fetch_add_acq_rel "atomic_ref fetch_add acq_rel device" Add Device
    fetch_add_seq_cst "atomic_ref fetch_add seq_cst device" Add Device
}

/// The loops without an operation, and without one in a chain.
pub const NOTHING: &str = "nothing";
pub const CHAIN: &str = "chain";

/// CUDA's own operations.
pub fn operations() -> impl Iterator<Item = Operation> {
    LOOPS.iter().map(|&(kernel, spelling, kind, scope)| Operation {
        kind,
        order: None,
        scope: Some(scope),
        spelling: Some(spelling),
        code: LoopCode::Cuda(kernel),
    })
}

/// The module of all loops, which any device that runs PTX may run.
fn module() -> Result<&'static Module> {
    static MODULE: OnceLock<Module> = OnceLock::new();
    if let Some(module) = MODULE.get() {
        return Ok(module);
    }
    let module = Module::ptx_file(FILE, TEXT)?;
    // SAFETY: a loop touches its buffers at the indices at which the loop of `kernels.rs` touches them, where each is
    // checked, and the launch's shared memory at those for which `launch` makes room.
    Ok(MODULE.get_or_init(|| unsafe { module.vouched() }))
}

/// Launches a loop on a queue; `shared` is the number of words of the launch's shared memory.
///
/// # Errors
/// The device does not run PTX, or refuses the launch.
pub fn launch(kernel: &str, queue: &Queue, shared: u32, spec: ThreadSpec<1>, l: &Loop, b: &Buffers) -> Result<()> {
    let kernel = module()?.kernel(kernel)?;
    let (words, arrived, ticks) = (b.words.view(), b.arrived.view(), b.ticks.view());
    let zero = 0u32;
    let arguments = kernel.args((
        l.turns,
        l.in_shared,
        l.in_data,
        l.work,
        l.slots,
        l.step,
        l.pitch,
        zero,
        l.goal,
        l.patience,
        &b.data,
        &words,
        &arrived,
        &ticks,
    ));
    let bytes = shared * size_of::<u32>() as u32;
    queue.launch_with(LaunchOptions::new().shared_len(bytes), spec, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fences and the accesses of a loop's kernel, in order of their names.
    fn instructions(kernel: &str) -> Vec<&'static str> {
        let begin = TEXT.find(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no `{kernel}` in {FILE}"));
        let body = &TEXT[begin..];
        let body = &body[..body.find("\n}").expect("a kernel ends")];
        let words = body.split(|c: char| c.is_whitespace() || c == ';');
        let kinds = ["fence.", "membar.", "atom.", "ld.", "st."];
        let mut all: Vec<_> = words.filter(|word| kinds.iter().any(|kind| word.starts_with(kind))).collect();
        all.sort_unstable();
        all
    }

    /// What nvcc 13.5 makes of a loop's operation, by the name of its kernel (PTX ISA 8.8: `membar.gl` is of a device).
    fn expected(kernel: &str) -> Vec<String> {
        let words: Vec<&str> = kernel.split('_').collect();
        let scope = |word: &str| match word {
            "block" => "cta",
            "device" => "gpu",
            "system" => "sys",
            other => panic!("a scope `{other}`"),
        };
        let access = |of: &str, ty: &str, order: &str| match (of, order) {
            // A sequentially consistent access is a fence and a weaker access.
            ("st", "seq_cst") => vec!["fence.sc.gpu".to_owned(), format!("st.relaxed.gpu.{ty}")],
            (of, "seq_cst") => vec![format!("{of}.acquire.gpu.{ty}"), "fence.sc.gpu".to_owned()],
            (of, order) => vec![format!("{of}.{order}.gpu.{ty}")],
        };
        let of = |prefix: &str| kernel.strip_prefix(prefix);
        match words[0] {
            "threadfence" => vec![format!("membar.{}", scope(words[1]).replace("gpu", "gl"))],
            "fence" => {
                let order = if kernel.contains("seq_cst") { "sc" } else { "acq_rel" };
                vec![format!("fence.{order}.{}", scope(words[words.len() - 1]))]
            }
            "load" => access("ld", "b32", of("load_").expect("an order")),
            "store" => access("st", "b32", of("store_").expect("an order")),
            "exchange" => access("atom.exch", "b32", of("exchange_").expect("an order")),
            "compare" => access("atom.cas", "b32", of("compare_exchange_").expect("an order")),
            "fetch" => access("atom.add", "u32", of("fetch_add_").expect("an order")),
            other => panic!("an operation `{other}`"),
        }
    }

    #[test]
    fn each_loop_has_its_operation_and_else_what_the_loop_without_has() {
        for operation in operations() {
            let LoopCode::Cuda(kernel) = operation.code else { panic!("{operation}") };
            let mut with = instructions(kernel);
            for word in instructions(if operation.kind.is_chain() { CHAIN } else { NOTHING }) {
                let at = with.iter().position(|known| *known == word);
                with.remove(at.unwrap_or_else(|| panic!("{operation} lacks `{word}`")));
            }
            let mut expected = expected(kernel);
            expected.sort_unstable();
            assert_eq!(with, expected, "{operation}");
        }
    }
}
