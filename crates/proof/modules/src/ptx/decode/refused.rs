//! Instructions that are refused by name, and why.

/// Instructions, and why none of them is supported. A name that ends with `*` stands for all that begin so.
const REASONS: &[(&str, &str)] = &[
    ("elect", "which lane is elected is left open: let the lowest lane of the mask do it"),
    ("griddepcontrol", "launches that begin before the ones that they depend on have ended are not known here"),
    ("cp", "bulk and tensor copies, and those that a barrier object waits for, are not known here"),
    (
        "mbarrier",
        "barrier objects in shared memory are not known here: wait for the block by '__syncthreads()', or by 'bar.arrive' and 'bar.sync'",
    ),
    ("discard", "it leaves memory with values that nothing fixes"),
    ("brkpt", "a breakpoint is for a debugger"),
    ("alloca", "memory whose size is a value is not known here"),
    ("stack*", "memory whose size is a value is not known here"),
    ("tex", "textures are not known here"),
    ("tld4", "textures are not known here"),
    ("txq", "textures are not known here"),
    ("su*", "surfaces are not known here"),
    ("mma", "matrices of a warp are not known here"),
    ("wmma", "matrices of a warp are not known here"),
    ("wgmma", "matrices of a warp are not known here"),
    ("tcgen05", "matrices of a warp are not known here"),
    ("ldmatrix", "matrices of a warp are not known here"),
    ("stmatrix", "matrices of a warp are not known here"),
    ("movmatrix", "matrices of a warp are not known here"),
    ("mapa", "clusters of several blocks are not known here"),
    ("getctarank", "clusters of several blocks are not known here"),
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
