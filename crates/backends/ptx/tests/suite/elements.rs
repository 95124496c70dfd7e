//! Elements of several numbers: those of 8 and 16 bytes are one load and one store, in the text and in machine code.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ptx::PtxTarget;

/// What CUDA calls a `float4`.
#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair {
    key: u32,
    value: f32,
}

macro_rules! copies {
    ($($name:ident $ty:ty),+) => {$(
        #[kernel]
        fn $name(acc: &Acc, from: Read<$ty>, to: Shared<$ty>) {
            let i = acc.thread_in_grid();
            to[i] = from[i];
        }
    )+};
}
copies!(bodies Body, pairs Pair, quads [u32; 4], doubles [f64; 2], bytes [u8; 4], rows [[f32; 4]; 2], triples [f32; 3]);

#[kernel]
fn masses(acc: &Acc, bodies: PerItem<Body>) {
    for (_, body) in acc.items(&mut bodies) {
        body.mass += 1.0;
    }
}

macro_rules! turns {
    ($($name:ident $ty:ty),+) => {$(
        #[kernel]
        fn $name(acc: &Acc, from: Read<$ty>, to: Shared<$ty>) {
            let tile = acc.shared::<$ty, 64>();
            let thread = acc.thread_in_block();
            tile[thread] = from[thread];
            acc.sync_block();
            to[thread] = tile[63 - thread];
        }
    )+};
}
turns!(bodies_of_block Body, pairs_of_block Pair, triples_of_block [f32; 3], rows_of_block [[f32; 4]; 2]);

/// The text and the machine code of a kernel's entry.
fn machine_code(kernel: &wattle_ir::Kernel) -> Option<(String, String)> {
    let (ptxas, nvdisasm) = (crate::tools::assembler()?, crate::tools::disassembler()?);
    let text = crate::tools::module(kernel, &PtxTarget::new(90)).text();
    let (_, code) = crate::tools::assemble(&ptxas, &text, 90);
    Some((text, crate::tools::disassemble(&nvdisasm, &code)))
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

macro_rules! kernel {
    ($device:ident $name:ident $ty:ty) => {
        $name(&$device.alloc_zeroed::<$ty>(4).unwrap(), &$device.alloc_zeroed::<$ty>(4).unwrap()).build().unwrap()
    };
}

#[test]
fn elements_are_accessed_at_once() {
    let device = Device::host();
    let cases = [
        (kernel!(device bodies Body), "v4.f32", ".128", 1),
        (kernel!(device pairs Pair), "v2.b32", ".64", 1),
        (kernel!(device quads [u32; 4]), "v4.u32", ".128", 1),
        (kernel!(device doubles [f64; 2]), "v2.f64", ".128", 1),
        (kernel!(device bytes [u8; 4]), "v4.u8", "", 1),
        (kernel!(device rows [[f32; 4]; 2]), "v4.f32", ".128", 2),
        (kernel!(device triples [f32; 3]), "f32", "", 3),
    ];
    for (kernel, vector, width, accesses) in cases {
        let Some((text, code)) = machine_code(&kernel) else { return };
        let name = &kernel.name;
        // Once where the checks of load and store both hold, and once more behind the check of each.
        assert_eq!(count(&text, &format!("ld.global.nc.{vector} ")), 2 * accesses, "{text}");
        assert_eq!(count(&text, &format!("st.weak.global.{vector} ")), 2 * accesses, "{text}");
        // The launch's own words are read and written besides, by no more than 8 bytes.
        if width == ".128" {
            let wide = |what: &str| code.lines().filter(|line| line.contains(what) && line.contains(width)).count();
            assert!(wide("LDG.E") >= accesses && wide("STG.E") >= accesses, "{name}:\n{code}");
        } else {
            assert!(code.contains(&format!("LDG.E{width}")) && !code.contains("LDG.E.128"), "{name}:\n{code}");
        }
    }
}

#[test]
fn a_field_alone_is_accessed_alone() {
    let device = Device::host();
    let kernel = masses(&mut device.alloc_zeroed::<Body>(4).unwrap()).build().unwrap();
    let text = crate::tools::module(&kernel, &PtxTarget::new(90)).text();
    assert!(text.contains("ld.global.f32") && text.contains("+12]") && !text.contains(".v4"), "{text}");
}

/// A larger element, or one that is not aligned, has an array for each number.
#[test]
fn elements_of_a_block_are_accessed_at_once() {
    let device = Device::host();
    let cases = [
        (kernel!(device bodies_of_block Body), "v4.f32", ".128", 1),
        (kernel!(device pairs_of_block Pair), "v2.b32", ".64", 1),
        (kernel!(device triples_of_block [f32; 3]), "f32", "", 3),
        (kernel!(device rows_of_block [[f32; 4]; 2]), "f32", "", 8),
    ];
    for (kernel, vector, width, accesses) in cases {
        let Some((text, code)) = machine_code(&kernel) else { return };
        assert_eq!(count(&text, ".shared .align 16"), accesses, "{text}");
        for access in ["ld", "st"] {
            let accesses_of = |what: &str| count(&text, &format!("{access}.weak.shared.{what} "));
            assert_eq!(accesses_of(vector) % accesses, 0, "{text}");
            assert!(accesses_of(vector) > 0 && (width.is_empty() || accesses_of("f32") == 0), "{text}");
        }
        for access in ["LDS", "STS"] {
            assert!(code.contains(&format!("{access}{width} ")), "{}:\n{code}", kernel.name);
        }
    }
}
