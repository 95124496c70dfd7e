//! What a target lacks is reported; shared memory beyond what a module can have is given by the launch.

use wattle_ir::{
    Const, Expr, ExprId, Kernel, LaunchValue, Place, SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type,
};
use wattle_ptx::{Argument, Lacking, MOST_STATIC_SHARED, PtxTarget, build, least_version};

/// A kernel that stores into each of its shared arrays.
fn kernel(lens: &[SharedLen]) -> Kernel {
    let site = Site::caller();
    let array =
        |len: &SharedLen| SharedArray { name: "tile", element: Type::U32, len: *len, atomic: false, site, field: None };
    let store = |number: u32| Stmt::Store {
        place: Place::Shared(SharedId(number)),
        index: vec![ExprId(1)],
        value: ExprId(0),
        site,
    };
    Kernel {
        shared: lens.iter().map(array).collect(),
        slots: vec![Slot { ty: Type::U32, name: Some("at") }],
        exprs: vec![Expr::Const(Const::of(1u32)), Expr::Slot(SlotId(0))],
        body: (0..lens.len() as u32).map(store).collect(),
        ..Kernel::new("shared", site, 1)
    }
}

#[test]
fn capabilities_and_versions() {
    let kernel = kernel(&[]);
    let says = |target: PtxTarget| build(&kernel, &target).map(|_| ()).map_err(|lacking| lacking.to_string());
    assert_eq!(says(PtxTarget::new(90)), Ok(()));
    assert!(says(PtxTarget::new(61)).unwrap_err().contains("sm_61"));
    assert!(says(PtxTarget::new(130)).is_err());
    let old = says(PtxTarget::new(120).with_ptx(8, 6)).unwrap_err();
    assert_eq!(old, "kernel `shared` cannot be made for sm_120 in PTX 8.6: that begins with PTX 8.7");
    assert!(matches!(build(&kernel, &PtxTarget::new(90).with_ptx(7, 7)), Err(Lacking::Version { .. })));
}

/// ptxas accepts each capability from the version on that is said to be the first.
#[test]
fn least_versions() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let versions = [(6, 0), (6, 1), (6, 3), (7, 0), (7, 1), (7, 4), (7, 8), (8, 6), (8, 7), (8, 8)];
    let takes = |sm: u32, (major, minor): (u32, u32)| {
        let text =
            format!(".version {major}.{minor}\n.target sm_{sm}\n.address_size 64\n.visible .entry k() {{ ret; }}\n");
        crate::tools::accepts(&ptxas, &text, sm)
    };
    for sm in [70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120] {
        if !takes(sm, (8, 8)) {
            test_skips::skipped(format!("this ptxas does not know sm_{sm}"));
            continue;
        }
        for version in versions {
            assert_eq!(takes(sm, version), version >= least_version(sm), "sm_{sm}, {version:?}");
        }
    }
}

#[test]
fn shared_memory() {
    let fits = kernel(&[SharedLen::Static(MOST_STATIC_SHARED / 4), SharedLen::AtLaunch]);
    let beyond = kernel(&[SharedLen::Static(MOST_STATIC_SHARED / 4), SharedLen::Static(4), SharedLen::AtLaunch]);
    for (kernel, given) in [(fits, 0), (beyond, MOST_STATIC_SHARED + 16)] {
        let module = build(&kernel, &PtxTarget::new(90)).expect("nothing is lacking");
        assert_eq!(module.layout.shared_bytes_at_launch, given);
        assert_eq!(module.layout.launch_sized_element, Some(4));
        assert!(
            module.layout.arguments.iter().any(|parameter| parameter.what == Argument::Launch(LaunchValue::SharedLen))
        );
        if let Some(ptxas) = crate::tools::assembler() {
            let (said, _) = crate::tools::assemble(&ptxas, &module.text(), 90);
            assert!(crate::tools::complaints(&said, |_| false).is_empty(), "{said}");
        }
    }
}
