//! Reports of launches, from the words of their control blocks.

use std::collections::HashMap;
use std::time::Duration;

use wattle::prelude::*;
use wattle_core::{ArgumentValue, ErrorKind, FaultKind, HostMemory, Kernel};
use wattle_gpu::{Reason, Report};
use wattle_ir::control;
use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::message::{Piece, Spec, Text};
use wattle_ir::{LaunchShape, ParamId, Place, SharedId, Site, Type};

#[kernel]
fn some(acc: &Acc<2>, x: Shared<u32, 2>, count: u32) {
    let known = acc.shared::<u32, 5>();
    let given = acc.shared_at_launch::<u32>();
    known[0] = count;
    given[0] = x[[0, 0]];
}

const SITE: Site = Site { file: "some.rs", line: 7, column: 3 };
const SHAPE: LaunchShape = LaunchShape {
    block_extent: [2, 8, 1, 1],
    grid_extent: [3, 4, 1, 1],
    frame_count: [1; 4],
    frame_extent: [1; 4],
    warp_size: 1,
};

/// The error of a launch whose control block has these words.
fn told(faults: &[Fault], words: &[(u32, u32)], reason: Option<Reason>) -> Option<ErrorKind> {
    let device = Device::host();
    let x = device.alloc_zeroed_nd::<u32, 2>([6, 10]).unwrap();
    let kernel = some(x.region([1, 2], [4, 9]).unwrap(), 9);
    let sites: Vec<_> = faults.iter().map(|fault| FaultSite { site: SITE, fault: fault.clone() }).collect();
    let told = Report { kernel: &kernel, ir: &kernel.build().unwrap(), sites: &sites, shape: &SHAPE, shared_len: 11 };
    let words: HashMap<_, _> = words.iter().copied().collect();
    let word = |word: u32| words.get(&word).copied().unwrap_or(0);
    assert_eq!(told.loop_cut(word), (faults == [Fault::LoopCut]).then_some(SITE));
    told.outcome(word, reason).map(|error| error.kind().clone())
}

fn fault(fault: Fault, words: &[(u32, u32)]) -> wattle_core::Fault {
    let words: Vec<_> = [(control::CLAIMED, 1)].iter().chain(words).copied().collect();
    match told(&[fault], &words, None) {
        Some(ErrorKind::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn launches_that_went_well_tell_nothing() {
    assert!(told(&[], &[], None).is_none());
    assert!(told(&[Fault::DivisionByZero], &[(control::BLOCK, 3)], None).is_none());
}

#[test]
fn faults_name_thread_and_place() {
    let found = fault(Fault::DivisionByZero, &[(control::BLOCK, 7), (control::THREAD, 9)]);
    assert_eq!((found.kernel.as_str(), found.site, found.what), ("some", SITE, FaultKind::DivisionByZero));
    assert_eq!((found.block.as_str(), found.thread.as_str()), ("[1, 3]", "[1, 1]"));
    let found = fault(Fault::Assertion { text: "so".into(), types: vec![] }, &[]);
    assert_eq!(found.what, FaultKind::Assertion("so".into()));
    let value = |number| Piece::Value(number, Spec::PLAIN);
    let text = Text(vec![value(1), Piece::Literal(" of ".into()), value(0)].into());
    let types = vec![Type::I64, Type::F32, Type::I8];
    let words = [(control::INDEX, u32::MAX - 2), (control::INDEX + 1, u32::MAX), (control::INDEX + 2, 0x3f00_0000)];
    assert_eq!(fault(Fault::Assertion { text, types }, &words).what, FaultKind::Assertion("0.5 of -3".into()));
    for (place, rank, wide, name, index, extent) in [
        (Place::Param(ParamId(0)), 2, false, "x", "[5, 6]", "[3, 7]"),
        (Place::Param(ParamId(0)), 2, true, "x", "[25769803781, 1]", "[3, 7]"),
        (Place::Shared(SharedId(0)), 1, false, "known", "5", "5"),
        (Place::Shared(SharedId(1)), 1, false, "given", "5", "11"),
    ] {
        let words = [(control::INDEX, 5), (control::INDEX + 1, 6), (control::INDEX + 2, 1)];
        let found = fault(Fault::OutOfBounds { place, rank, wide }, &words);
        let (view, index, extent) = (name.to_owned(), index.to_owned(), extent.to_owned());
        assert_eq!(found.what, FaultKind::OutOfBounds { view, index, extent });
    }
}

#[test]
fn numbers_that_nothing_has_are_no_panic() {
    let words = [(control::CLAIMED, 1), (control::SITE, 3)];
    assert!(matches!(told(&[Fault::DivisionByZero], &words, None), Some(ErrorKind::System { .. })));
    let words = [(control::CLAIMED, 1)];
    assert!(matches!(told(&[Fault::Loop], &words, None), Some(ErrorKind::System { .. })));
    assert!(matches!(told(&[Fault::LoopCut], &words, None), Some(ErrorKind::System { .. })));
    let far = [(control::BLOCK, u32::MAX), (control::THREAD, u32::MAX)];
    assert_eq!(fault(Fault::DivisionByZero, &far).thread, "[1, 7]");
}

#[test]
fn stopped_launches_name_each_line_once() {
    let limit = Duration::from_secs(3);
    let at = control::STOPPED_AT;
    let words = [
        (control::STOPPED, 4),
        // Blocks 5, 2, 2 again, and one at a site that does not exist.
        (at, 5),
        (at + 2, 2),
        (at + 4, 2),
        (at + 6, 1),
        (at + 7, 9),
    ];
    let Some(ErrorKind::TimeLimit { kernel, limit: of, lines }) =
        told(&[Fault::Loop], &words, Some(Reason::TimeLimit(limit)))
    else {
        panic!("no time limit");
    };
    assert_eq!((kernel.as_str(), of), ("some", limit));
    let lines: Vec<_> = lines.iter().map(|line| (line.block.as_str(), line.site)).collect();
    assert_eq!(lines, [("[0, 2]", SITE), ("[1, 1]", SITE)]);
    assert!(matches!(
        told(&[Fault::Loop], &[(control::STOPPED, u32::MAX)], Some(Reason::Interrupted)),
        Some(ErrorKind::Interrupted { lines, .. }) if lines.len() == 1
    ));
    // A launch that failed before it was requested to end has failed.
    let words = [(control::CLAIMED, 1), (control::STOPPED, 1)];
    let both = told(&[Fault::DivisionByZero], &words, Some(Reason::Interrupted));
    assert!(matches!(both, Some(ErrorKind::Fault(_))));
}

#[test]
fn arguments_say_all_that_a_driver_needs() {
    let device = Device::host();
    let x = device.alloc_zeroed_nd::<u32, 2>([6, 10]).unwrap();
    let kernel = some(x.region([1, 2], [4, 9]).unwrap(), 9);
    let kernel: &dyn Kernel = &kernel;
    let seen = kernel.arguments().map(|argument| match argument.value {
        ArgumentValue::Scalar { ty, bytes } => format!("{} = {bytes:?} as {ty}", argument.name),
        ArgumentValue::View(view) => {
            assert_eq!((view.extent(), view.strides()), ([3, 7, 1, 1], [10, 1, 1, 1]));
            format!("{} at {} over {} {}", argument.name, view.offset(), view.span(), view.element())
        }
    });
    assert_eq!(seen.collect::<Vec<_>>(), ["x at 12 over 27 u32", "count = [9, 0, 0, 0] as u32"]);
    let params: Vec<_> = (0..).zip(kernel.arguments()).map(|(id, argument)| argument.param(ParamId(id))).collect();
    assert_eq!(params, kernel.build().unwrap().params);
    assert!(kernel.view(ParamId(1)).is_err() && kernel.scalar(ParamId(0)).is_err() && kernel.argument(2).is_none());
    let view = kernel.view(ParamId(0)).unwrap();
    let other = |error: wattle_core::Error| error.to_string().contains("of another device");
    assert_eq!(view.place(|_: &HostMemory| Some(7)).unwrap(), 7);
    assert!(view.place(|_: &HostMemory| None::<()>).is_err_and(other));
    assert!(view.place(|_: &u32| Some(7)).is_err_and(other));
}
