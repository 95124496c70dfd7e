//! What people who know CUDA look for and kernels do not have, by its name, and what stands for it.

/// The words that name a thing, what to say of it, and what to do instead. A name that ends in `*` begins so.
struct Absent {
    /// Names that nobody gives to something else: a call by such a name is refused too.
    names: &'static [&'static str],
    /// Names that a user's own function could have: they are refused as methods alone.
    methods: &'static [&'static str],
    /// Names that a user's type could well have: they are refused on the `Acc` alone.
    of_acc: &'static [&'static str],
    what: &'static str,
    instead: &'static str,
}

const ABSENT: &[Absent] = &[
    Absent {
        names: &["memcpy_async", "cp_async*", "__pipeline_*"],
        methods: &["copy_async", "async_copy", "bulk_copy"],
        of_acc: &["load_async", "store_async", "pipeline"],
        what: "kernels have no asynchronous copies to shared memory",
        instead: "copy in a loop, `for i in acc.indices(THREADS_IN_BLOCK, 0..n) { tile[i] = x[start + i]; }`, then \
                  `acc.sync_block()`; load the next tile into variables before the barrier where the latency matters",
    },
    Absent {
        names: &["wmma*", "mma_sync", "wgmma*", "ldmatrix", "load_matrix_sync", "store_matrix_sync"],
        methods: &["mma*", "load_matrix*", "store_matrix*"],
        of_acc: &["fragment", "tensor_core", "tensor"],
        what: "kernels have no tensor cores and matrix instructions",
        instead: "multiply tiles in block shared memory with `x.fma(y, z)`",
    },
    Absent {
        names: &["tex1D*", "tex2D*", "tex3D*", "surf1D*", "surf2D*", "surf3D*"],
        methods: &["texture*", "sample*", "image_load", "image_store", "fetch_texel"],
        of_acc: &[],
        what: "kernels have no textures, surfaces and samplers",
        instead: "take a `Read<T, 2>` view, clamp its index (`i.min(n - 1)`), and interpolate by hand",
    },
    Absent {
        names: &["cudaLaunch*"],
        methods: &["launch*", "spawn", "enqueue*"],
        of_acc: &[],
        what: "a kernel cannot launch another one (dynamic parallelism)",
        instead: "write the amount of work to a buffer and launch the next kernel from the host on the same queue, or loop \
                  over a list of work that the kernel itself extends with `fetch_add`",
    },
    Absent {
        names: &["__syncthreads_count", "__syncthreads_or", "__syncthreads_and"],
        methods: &["syncthreads_count", "syncthreads_or", "syncthreads_and"],
        of_acc: &[],
        what: "no barrier of the block counts votes",
        instead: "count them in an `acc.shared_atomic::<u32, 1>()` between two `acc.sync_block()`",
    },
    Absent {
        names: &["__syncthreads*", "this_thread_block"],
        methods: &["syncthreads", "sync_threads", "group_barrier", "workgroup_barrier"],
        of_acc: &["barrier", "sync", "block", "work_group", "sync_work_group"],
        what: "the block's barrier has another name here",
        instead: "write `acc.sync_block()`",
    },
    Absent {
        names: &["this_grid"],
        methods: &["sync_grid", "grid_sync"],
        of_acc: &["grid", "sync_device", "sync_all", "grid_barrier"],
        what: "there is no barrier of the whole grid",
        instead: "end the kernel and launch another, or count the blocks that have arrived in an `Atomic`, in a launch with \
                  `LaunchOptions::new().cooperative()`",
    },
    Absent {
        names: &[
            "__shfl*",
            "__ballot*",
            "__any_sync",
            "__all_sync",
            "__activemask",
            "__reduce_*",
            "__syncwarp",
            "__match_*",
            "tiled_partition",
            "coalesced_threads",
        ],
        methods: &["syncwarp", "sync_warp", "subgroup_*", "plane_*", "warp_*", "shfl*"],
        of_acc: &["sub_group", "wave", "wavefront"],
        what: "operations of a warp are methods of it here",
        instead: "write `let warp = acc.warp();` and `warp.shuffle(x, lane)`, `warp.shuffle_down(x, 1)`, `warp.ballot(condition)`, \
                  `warp.any(…)`, `warp.all(…)`, `warp.reduce_sum(x)`, `warp.inclusive_sum(x)`, `warp.sync()`",
    },
    Absent {
        names: &["__threadfence_block"],
        methods: &["threadfence_block"],
        of_acc: &[],
        what: "fences have another name here",
        instead: "write `acc.mem_fence(Scope::Block, Order::AcqRel)`, with the order that is needed",
    },
    Absent {
        names: &["__threadfence_system"],
        methods: &["threadfence_system"],
        of_acc: &[],
        what: "fences have another name here",
        instead: "write `acc.mem_fence(Scope::System, Order::AcqRel)`, with the order that is needed",
    },
    Absent {
        names: &["__threadfence*"],
        methods: &["threadfence", "memory_fence", "atomic_fence", "fence"],
        of_acc: &[],
        what: "fences have another name here",
        instead: "write `acc.mem_fence(Scope::Device, Order::AcqRel)`, with the scope and the order that are needed",
    },
    Absent {
        names: &[
            "atomicAdd*",
            "atomicCAS*",
            "atomicMin*",
            "atomicMax*",
            "atomicExch*",
            "atomicSub*",
            "atomicOr*",
            "atomicAnd*",
            "atomicXor*",
            "atomicInc*",
            "atomicDec*",
        ],
        methods: &["atomic_add"],
        of_acc: &[],
        what: "atomic operations have other names here",
        instead: "take an `Atomic<T>` view, and write `x.fetch_add(i, value)`, `x.compare_exchange(i, old, new)` and so on",
    },
    Absent {
        names: &["printf"],
        methods: &["printf", "print", "println"],
        of_acc: &[],
        what: "printing has another name here",
        instead: "write `println!(\"x[{i}] = {}\", x[i])`",
    },
    Absent {
        names: &["clock64", "clock", "globaltimer"],
        methods: &["clock64", "globaltimer", "now", "elapsed"],
        of_acc: &[],
        what: "the clock has another name here",
        instead: "write `acc.clock()`, which gives its ticks as `u64`",
    },
    Absent {
        names: &["__nanosleep"],
        methods: &["sleep", "spin_loop"],
        of_acc: &[],
        what: "kernels have no pause",
        instead: "a loop that loads from an `Atomic` view waits without one, `while ready.load(0) == 0 {}`",
    },
    Absent {
        names: &["malloc"],
        methods: &["alloc", "free"],
        of_acc: &[],
        what: "a kernel cannot allocate memory",
        instead: "allocate a buffer on the host, `device.alloc::<f32>(n)`, and give out parts of it with `fetch_add`",
    },
    Absent {
        names: &["this_cluster"],
        methods: &["sync_cluster", "cluster_sync"],
        of_acc: &["cluster", "block_in_cluster", "cluster_dim"],
        what: "there are no clusters of blocks, and no block reads another one's shared memory",
        instead: "share through a `Shared` or `Atomic` view between blocks, in a launch with `LaunchOptions::new().cooperative()` \
                  where they wait for each other",
    },
];

/// How a name is called.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Called {
    Function,
    Method,
    OnAcc,
}

/// The message about the name of a method or a function that kernels do not have.
pub(super) fn absent(name: &str, called: Called) -> Option<String> {
    let is = |known: &&str| match known.strip_suffix('*') {
        Some(first) => name.starts_with(first),
        None => *known == name,
    };
    let named = |absent: &&Absent| {
        let methods: &[&[&str]] = match called {
            Called::Function => &[],
            Called::Method => &[absent.methods],
            Called::OnAcc => &[absent.methods, absent.of_acc],
        };
        absent.names.iter().chain(methods.iter().copied().flatten()).any(is)
    };
    let Absent { what, instead, .. } = ABSENT.iter().find(named)?;
    Some(format!("`{name}`: {what}; {instead}"))
}

/// The message about a type that kernels do not have.
pub(super) fn absent_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "Texture" | "Texture1D" | "Texture2D" | "Texture3D" | "Surface" | "Sampler" | "Image" | "Image2D" => {
            "there are no textures, surfaces and samplers in kernels; take a `Read<T, 2>` view, clamp its index, and \
             interpolate by hand"
        }
        "Fragment" | "Matrix" | "WmmaFragment" => {
            "there are no tensor cores and matrix types in kernels; multiply tiles in block shared memory with `x.fma(y, z)`"
        }
        "Queue" | "Device" | "Stream" => {
            "a kernel cannot launch another one (dynamic parallelism); launch the next kernel from the host on the same queue"
        }
        _ => return None,
    })
}
