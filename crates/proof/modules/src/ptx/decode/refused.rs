//! Instructions that are refused by name, and why.

/// Instructions, and why none of them is supported. A name that ends with `*` stands for all that begin so.
const REASONS: &[(&str, &str)] = &[
    ("griddepcontrol", "launches that begin before the ones that they depend on have ended are not known here"),
    ("cp", "bulk and tensor copies are not known here"),
    ("setmaxnreg", "it changes how many registers a warp has, for kernels of matrices"),
    ("clusterlaunchcontrol", CLUSTERS),
    ("ldu", "use 'ld.global.nc', whose memory is read-only while the kernel runs"),
    ("discard", "it leaves memory with values that nothing fixes"),
    ("brkpt", "a breakpoint is for a debugger"),
    ("alloca", "memory whose size is a value is not known here"),
    ("stack*", "memory whose size is a value is not known here"),
    ("tex", TEXTURES),
    ("tld4", TEXTURES),
    ("txq", TEXTURES),
    ("su*", SURFACES),
    ("wmma", "matrices of a warp are not known here"),
    ("wgmma", "matrices of a warp are not known here"),
    ("tcgen05", "matrices of a warp are not known here"),
    ("movmatrix", "matrices of a warp are not known here"),
    ("mapa", CLUSTERS),
    ("getctarank", CLUSTERS),
    ("multimem", "memory of several devices at one address is not known here"),
    ("vabsdiff*", "the video instructions are not known here"),
    ("vadd*", "the video instructions are not known here"),
    ("vavrg*", "the video instructions are not known here"),
    ("vmad*", "the video instructions are not known here"),
    ("vmax*", "the video instructions are not known here"),
    ("vmin*", "the video instructions are not known here"),
    ("vset*", "the video instructions are not known here"),
    ("vsh*", "the video instructions are not known here"),
    ("vsub*", "the video instructions are not known here"),
];

/// What to do instead of a texture or a surface.
const TEXTURES: &str = "textures are not known here: pass a pointer to the array, and index it";
const SURFACES: &str = "surfaces are not known here: pass a pointer to the array, and index it";
/// What to do instead of a cluster.
pub const CLUSTERS: &str = "clusters of several blocks are not known here: judge the kernel with blocks that share global memory, or \
                            with clusters of one block (__cluster_dims__(1))";

/// The reason why the forms without a member mask are not supported.
const WITHOUT_MASK: &str =
    "the form without '.sync' and a member mask is of devices before sm_70, whose warps run in step: use '.sync'";

/// What to do instead of an atomic operation on 128 bits, and of a register that has as many.
const ATOMIC_128: &str = "atomic operations on 128 bits are not known here, since a location has at most 64 bits: use two of 64 bits \
                          and a lock, or put what changes together into 64 bits";
const REGISTER_128: &str = "a register has at most 64 bits here: use two of .b64; atomic operations on 128 bits are not known, use two of \
                            64 bits and a lock, or put what changes together into 64 bits";

/// Modifiers that the ISA has: the instructions that take them (`*` for all), and why none of them is supported. A word
/// that ends with `*` stands for all that begin so.
const MODIFIERS: &[(&str, &str, &str)] = &[
    ("atom", "b128", ATOMIC_128),
    ("reg", "b128", REGISTER_128),
    ("*", "b128", "a location has at most 64 bits here: use a vector, '.v2.b64'"),
    (
        "fence",
        "proxy",
        "memory is accessed by the generic proxy alone here: what asynchronous bulk copies, tensor maps, textures and aliases of \
         an address access is not known",
    ),
    ("membar", "proxy", "memory is accessed by the generic proxy alone here: aliases of an address are not known"),
    ("fence", "mbarrier_init", "clusters of several blocks, for which it is, are not known here"),
    ("fence", "sync_restrict*", CLUSTERS),
    ("*", "e4m3*", "floats of 8 bits and less are not known here"),
    ("*", "e5m2*", "floats of 8 bits and less are not known here"),
    ("*", "e2m*", "floats of 8 bits and less are not known here"),
    ("*", "e3m2*", "floats of 8 bits and less are not known here"),
    ("*", "ue8m0*", "floats of 8 bits and less are not known here"),
    ("*", "tf32", "the floats of matrices are not known here"),
    ("*", "v8", "a vector has at most four items here, of 128 bits in all: use two"),
    ("red", "async", "operations that a barrier object waits for are not known here"),
    ("st", "async", "stores that a barrier object waits for are not known here"),
    ("st", "bulk", "bulk stores are not known here"),
    ("barrier", "cluster", CLUSTERS),
    ("vote", "all", WITHOUT_MASK),
    ("vote", "any", WITHOUT_MASK),
    ("vote", "uni", WITHOUT_MASK),
    ("vote", "ballot", WITHOUT_MASK),
    ("shfl", "up", WITHOUT_MASK),
    ("shfl", "down", WITHOUT_MASK),
    ("shfl", "bfly", WITHOUT_MASK),
    ("shfl", "idx", WITHOUT_MASK),
    (
        "cvt",
        "satfinite",
        "the formats that it is for, floats of 8 bits and less and those of matrices, are not known here",
    ),
    ("cvt", "rs", "rounding by given bits is not known here"),
];

/// Why a modifier of an instruction is not supported, if the ISA has it.
pub fn why_not(instruction: &str, word: &str) -> Option<&'static str> {
    let is = |of: &str, name: &str| match of.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == of,
    };
    let row = MODIFIERS.iter().find(|(of, modifier, _)| is(of, instruction) && is(modifier, word));
    row.map(|(.., why)| *why)
}

/// The refusal of an instruction of that name.
pub fn why(name: &str) -> String {
    let is = |row: &&(&str, &str)| match row.0.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == row.0,
    };
    match REASONS.iter().find(is) {
        Some((_, why)) => format!("The instruction '{name}' is not supported: {why}"),
        None => format!("The instruction '{name}' is not supported"),
    }
}
