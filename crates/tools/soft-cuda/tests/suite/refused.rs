//! PTX that is refused, and the errors for it.

use crate::tools::{Session, module};
use soft_cuda::status::Status;

/// Lines that NVIDIA's assembler refuses too (of CUDA 12.9, for sm_90).
const REFUSED: &[&str] = &[
    "add.u32 %f0, %w0, %w1;",
    "add.u32 %w0, %f0, %w1;",
    "add.u32 %w0, %i0, %w1;",
    "add.f32 %f0, %u0, %f1;",
    "mov.u32 %f0, %w0;",
    "mov.f32 %f0, 5;",
    "mov.u32 %w0, 0f3F800000;",
    "atom.global.add.s64 %i0, [%io], %i1;",
    "red.global.exch.b32 [%io], %w0;",
    "atom.global.cas.u32 %w0, [%io], %w1, %w2;",
    "atom.global.add.f16 %h0, [%io], %h1;",
    "ld.global.u32 %w0, [%w1];",
    "ld.relaxed.global.u32 %w0, [%io];",
    "ld.global.v4.u64 {%i0,%i1,%i2,%i3}, [%io];",
    "ld.global.v3.u32 {%w0,%w1,%w2}, [%io];",
    "ld.global.f32 %d0, [%io];",
    "ld.global.u32 %f0, [%io];",
    "ld.global.u32 %h0, [%io];",
    "st.global.u32 [%io], %f0;",
    "st.global.f32 [%io], 5;",
    "st.param.u32 [buffer], 5;",
    "cvt.f32.u32 %f0, %w0;",
    "cvt.u32.f32 %w0, %f0;",
    "cvt.rn.u32.u64 %w0, %i0;",
    "cvt.rn.f64.f32 %d0, %f0;",
    "cvt.f32.f64 %f0, %d0;",
    "cvt.s32.s64 %w0, %w1;",
    "cvt.u32.u8 %h0, %w0;",
    "setp.lt.b32 %p0, %w0, %w1;",
    "setp.ltu.u32 %p0, %w0, %w1;",
    "setp.lo.s32 %p0, %w0, %w1;",
    "setp.lt.u32 %w0, %w0, %w1;",
    "setp.lt.and.u32 %p0, %w0, %w1;",
    "setp.eq.f32 %p0, %f0, 0;",
    "selp.u32 %w0, %w1, %f0, %p0;",
    "selp.pred %p0, %p1, %p2, %p3;",
    "mov.pred %p0, %w0;",
    "and.u32 %w0, %w1, %w2;",
    "shl.u32 %w0, %w1, %w2;",
    "shl.b64 %i0, %i1, %i2;",
    "mul.u32 %w0, %w1, %w2;",
    "mul.wide.u64 %i0, %i1, %i2;",
    "mad.f32 %f0, %f1, %f2, %f3;",
    "fma.f32 %f0, %f1, %f2, %f3;",
    "div.f32 %f0, %f1, %f2;",
    "sqrt.f32 %f0, %f1;",
    "neg.u32 %w0, %w1;",
    "abs.u32 %w0, %w1;",
    "add.u8 %w0, %w1, %w2;",
    "add.u32 %w0, %w1;",
    "add.u32 %w0, %w1, %w2, %w3;",
    "add.u32 %w0, %tid.x, 1;",
    "mov.u64 %i0, %tid.x;",
    "mov.u32 %w0, %clock64;",
    "mov.f32 %f0, tile;",
    "ld.global.u32 %w0, [tile];",
    "ld.shared.u32 %w0, [buffer];",
    "bar.sync 16;",
    "bar.sync 0, 33;",
    "bra nowhere;",
    "frob.u32 %w0, %w1;",
    "add.x.u32 %w0, %w1, %w2;",
    "fence.acq_rel;",
    "fence.sc;",
    "@%w0 ret;",
    "mov.u32 %q0, 1;",
    "min.sat.f32 %f0, %f1, %f2;",
    "bfe.b32 %w0, %w1, %w2, %w3;",
    "popc.b32 %i0, %w1;",
    "popc.u32 %w0, %w1;",
    "ex2.f32 %f0, %f1;",
    "rcp.approx.f64 %d0, %d1;",
    "mov.b32 _, %w0;",
    "add.u32 _, %w0, %w1;",
    "mov.s8 %w0, 1;",
    "cvta.global.u32 %w0, %w1;",
    "add.sat.u32 %w0, %w1, %w2;",
    "add.sat.s64 %i0, %i1, %i2;",
    "mov.b32 %w0, {%w1, %w2};",
    "mov.u64 %i0, {%w1, %w2};",
];

/// A module with this line of code in its kernel, as line 12.
fn line(version: &str, target: &str, code: &str) -> String {
    module(version, target, &format!(".reg .u32 %u<5>; .reg .s32 %s<5>; .shared .align 4 .b8 tile[16];\n{code}"))
}

#[test]
fn wrong_instructions_are_refused_with_their_line() {
    let session = Session::new();
    for code in REFUSED {
        match session.load(&line("8.6", "sm_90", code)) {
            Ok(_) => panic!("taken: {code}"),
            Err((status, log)) => {
                assert_eq!(status, Status::ERROR_INVALID_PTX, "{code}");
                assert!(log.starts_with("ptxas application ptx input, line 12; error"), "{code}: {log}");
            }
        }
    }
}

#[test]
fn what_is_not_known_is_named() {
    let session = Session::new();
    for (code, name) in [
        ("vadd.s32.s32.s32 %w0, %w1, %w2;", "'vadd'"),
        ("max.xorsign.abs.f32 %f0, %f1, %f2;", "'.xorsign.abs'"),
        ("wgmma.fence.sync.aligned;", "'wgmma'"),
        ("call foo;", "'foo'"),
    ] {
        let (status, log) = session.load(&line("8.6", "sm_90", code)).expect_err(code);
        assert_eq!(status, Status::ERROR_INVALID_PTX);
        assert!(log.contains(name), "{log}");
    }
}

#[test]
fn fences_and_orders_need_their_target_and_version() {
    let session = Session::new();
    let taken = |version: &str, target: &str, code: &str| session.load(&line(version, target, code)).is_ok();
    for code in ["fence.acquire.gpu;", "fence.release.sys;"] {
        assert!(taken("8.6", "sm_90", code));
        assert!(!taken("8.5", "sm_90", code), "before PTX 8.6: {code}");
        assert!(!taken("8.6", "sm_80", code), "before sm_90: {code}");
    }
    assert!(taken("7.0", "sm_70", "fence.acq_rel.gpu;"));
    assert!(!taken("7.0", "sm_61", "fence.acq_rel.gpu;"));
    assert!(!taken("6.0", "sm_60", "ld.acquire.gpu.global.u32 %w0, [%io];"));
}

#[test]
fn versions_and_targets_beyond_the_driver_and_the_device_are_refused() {
    let session = Session::new();
    let load = |version: &str, target: &str| session.load(&line(version, target, "ret;")).map_err(|(status, _)| status);
    // The driver is 12.9, which knows PTX 8.8, and the device is sm_90.
    assert!(load("8.8", "sm_90").is_ok());
    assert_eq!(load("8.9", "sm_90"), Err(Status::ERROR_UNSUPPORTED_PTX_VERSION));
    assert_eq!(load("8.8", "sm_100"), Err(Status::ERROR_INVALID_PTX));
}

#[test]
fn duplicates_and_what_is_no_module_are_refused() {
    let session = Session::new();
    let log = |text: &str| session.load(text).expect_err(text).1;
    assert!(log(&line("8.6", "sm_90", ".reg .u32 %u1;")).contains("Duplicate definition of variable '%u1'"));
    assert!(log(&line("8.6", "sm_90", "$a: $a: ret;")).contains("Duplicate definition of label '$a'"));
    assert!(log(".version 8.6\n.target sm_90\n.func (.reg .u32 r) f() {}").contains("line 3"));
    assert!(log("no .version").contains("Missing .version directive"));
    assert_eq!(session.load("\x7fELF").map_err(|(status, _)| status), Err(Status::ERROR_INVALID_IMAGE));
    assert_eq!(session.load("nothing").map_err(|(status, _)| status), Err(Status::ERROR_INVALID_IMAGE));
    let large = line("8.6", "sm_90", ".shared .b8 large[50000]; ret;");
    assert!(log(&large).contains("too much shared data"));
}
