//! Who searches the documentation for a word of CUDA's finds it: as an alias of an item, or on the page for CUDA users.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../src/for_cuda_users.rs");

/// The words that people look for and that are no alias of an item: they stand on the page alone.
const WORDS: &[&str] = &[
    "__half",
    "__half2",
    "__nv_bfloat16",
    "cudaFree",
    "streams",
    "events",
    "cooperative groups",
    "template kernels",
    "functors",
    "tex2D",
    "surface",
    "tensor cores",
    "wmma",
    "cp.async",
    "memcpy_async",
    "dynamic parallelism",
    "managed memory",
    "-lineinfo",
    "-use_fast_math",
    "<<<grid, block>>>",
    "racecheck",
    "clusters",
    "__match_any_sync",
    "CUDA graphs",
];

/// What CUDA's own words for functions and types are that have an item here: rustdoc finds it by them.
const ALIASES: &[&str] = &[
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "__shared__",
    "extern __shared__",
    "__syncthreads",
    "__syncwarp",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_down_sync",
    "__shfl_xor_sync",
    "__ballot_sync",
    "__any_sync",
    "__all_sync",
    "__activemask",
    "__reduce_add_sync",
    "atomicAdd",
    "atomicSub",
    "atomicMin",
    "atomicMax",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
    "atomicInc",
    "atomicDec",
    "atomicExch",
    "atomicCAS",
    "__threadfence",
    "__threadfence_block",
    "__threadfence_system",
    "volatile",
    "float2",
    "float4",
    "make_float4",
    "__constant__",
    "printf",
    "assert",
    "clock64",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMalloc",
    "cudaMalloc3D",
    "cudaMallocPitch",
    "cudaMemset",
    "cudaStream_t",
    "cudaEvent_t",
    "cudaEventRecord",
    "cudaStreamWaitEvent",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventElapsedTime",
    "cudaLaunchHostFunc",
    "cudaLaunchCooperativeKernel",
    "grid.sync",
    "this_grid",
    "this_thread_block",
    "tiled_partition",
    "warpSize",
    "__global__",
    "__device__",
    "lambda",
    "functor",
    "__launch_bounds__",
    "texture",
    "cudaMallocManaged",
    "__managed__",
    "cudaHostAlloc",
    "cudaMallocHost",
    "__ldg",
    "__restrict__",
    "dim3",
    "cudaGetLastError",
    "cudaSetDevice",
    "cudaGetDeviceCount",
    "cudaDeviceProp",
    "__expf",
    "__logf",
    "__powf",
    "__sinf",
    "__cosf",
    "__fdividef",
    "rsqrtf",
    "fmodf",
    "fmaf",
    "__popc",
    "__clz",
    "__ffs",
    "__brev",
    "__umulhi",
    "grid-stride loop",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The words of all attributes `doc(alias …)`.
fn aliases() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    let mut files = Vec::new();
    for of in ["core", "ir", "macros", "operations", "wattle"] {
        sources(&crates.join(of).join("src"), &mut files);
    }
    let mut words = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a source file");
        for attribute in text.split("#[doc(alias").skip(1) {
            let attribute = attribute.split(")]").next().unwrap_or_default();
            words.extend(attribute.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    words
}

#[test]
fn the_page_has_each_word() {
    let missing: Vec<_> = WORDS.iter().chain(ALIASES).filter(|word| !PAGE.contains(**word)).collect();
    // An alias that is a part of another form stands on the page in that form.
    let missing: Vec<_> = missing.into_iter().filter(|word| !["functor"].contains(word)).collect();
    assert!(missing.is_empty(), "the page for CUDA users lacks {missing:?}");
}

#[test]
fn items_are_found_by_the_words() {
    let aliases = aliases();
    let missing: Vec<_> = ALIASES.iter().filter(|word| !aliases.iter().any(|alias| alias == *word)).collect();
    assert!(missing.is_empty(), "no item has the alias {missing:?}");
}

/// What is not there is said to be so, with what to do instead.
#[test]
fn what_is_not_there_is_said() {
    for word in [
        "texture",
        "wmma",
        "cp.async",
        "dynamic parallelism",
        "grid.sync",
        "clusters",
        "CUDA graphs",
        "__match_any_sync",
    ] {
        let row = PAGE.lines().find(|line| line.contains(word)).unwrap_or_default();
        assert!(row.contains("not there"), "{word}: {row}");
    }
}
