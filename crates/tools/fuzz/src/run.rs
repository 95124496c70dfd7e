//! Runs cases, and compares what comes out.

use std::fmt;
use std::time::Duration;

use wattle_check::Simulated;
use wattle_core::{Device, Error, ErrorKind, Fault, LaunchOptions, Queue, Result, ThreadSpec};
use wattle_ir::{Scalar, Type, UnaryOp, eval};

use crate::case::Case;
use crate::loose::LooseKernel;

/// The buffers and the fault that a launch leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The elements of each buffer, as raw words in row-major order, in the order of the case's views. Those that are
    /// no number are all the same NaN.
    pub buffers: Vec<Vec<u64>>,
    /// The fault of a thread that the device reports.
    pub fault: Option<Box<Fault>>,
    /// What the threads have printed.
    pub printed: Vec<String>,
}

/// The time limit of a launch: random kernels are small, so one that takes this long hangs.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Runs a case; a fault is part of the outcome.
///
/// # Errors
/// Whatever else went wrong; see [`cannot`] for a device that is not able to run it.
pub fn outcome(case: &Case, device: &Device) -> Result<Outcome> {
    outcome_within(case, device, TIME_LIMIT)
}

/// As [`outcome`], with a limit to the launch's time: for cases that may never end.
///
/// # Errors
/// It fails where [`outcome`] does.
pub fn outcome_within(case: &Case, device: &Device, limit: Duration) -> Result<Outcome> {
    let queue = device.queue()?;
    let (kernel, buffers) = LooseKernel::new(case, &queue)?;
    let (send, lines) = std::sync::mpsc::channel();
    queue.print_to(move |printed| {
        // The receiver lives as long as the queue.
        let _ = send.send(printed.to_string());
    });
    let fault = match launch(case, &queue, kernel, limit) {
        Ok(()) => None,
        Err(error) => match error.kind() {
            ErrorKind::Fault(fault) => Some(fault.clone()),
            _ => return Err(error),
        },
    };
    let buffers = buffers.iter().zip(case.views()).map(|(buffer, view)| {
        Ok({
            let types = view.numbers.iter().cycle();
            buffer.read(&queue)?.into_iter().zip(types).map(|(raw, &ty)| canonical(ty, raw)).collect()
        })
    });
    let buffers = buffers.collect::<Result<_>>()?;
    Ok(Outcome { buffers, fault, printed: lines.try_iter().collect() })
}

/// Runs a case and gives the bytes of each buffer that the kernel may write, in the order of the parameters. Elements
/// that are no number are all the same NaN.
///
/// # Errors
/// Whatever went wrong, a fault of a thread included.
pub fn run(case: &Case, device: &Device) -> Result<Vec<Vec<u8>>> {
    let outcome = outcome(case, device)?;
    if let Some(fault) = outcome.fault {
        return Err(ErrorKind::Fault(fault).into());
    }
    let written = case.views().zip(outcome.buffers).filter(|(view, _)| view.access != wattle_ir::Access::Read);
    let bytes = |(types, raws): (Vec<Type>, Vec<u64>)| {
        let all = raws.iter().zip(types.iter().cycle());
        all.flat_map(|(raw, ty)| raw.to_le_bytes()[..ty.size()].to_vec()).collect()
    };
    Ok(written.map(|(view, raws)| bytes((view.numbers, raws))).collect())
}

/// Whether the error says that a device is not able to do what was asked.
pub fn cannot(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Capability { .. })
}

/// Whether a case is as it should be: it runs without a finding on the simulated device, with each of these seeds, to
/// the same end. That is so for every case that [`generate`](crate::generate) makes. Faults are no findings.
///
/// # Errors
/// The finding, or the place where two interleavings differ.
pub fn is_clean(case: &Case, seeds: &[u64]) -> Result<()> {
    common_outcome(case, seeds, TIME_LIMIT).map(drop)
}

/// The outcome of a launch on the simulated device under each of the seeds; `None` if there are no seeds.
pub(crate) fn common_outcome(case: &Case, seeds: &[u64], limit: Duration) -> Result<Option<Outcome>> {
    let mut first: Option<Outcome> = None;
    for &seed in seeds {
        let found = outcome_within(case, &Device::simulated(seed), limit)?;
        let difference = first.as_ref().and_then(|first| compare(case, first, &found));
        if let Some(difference) = difference {
            return Err(Error::check(format!("two interleavings differ: {difference}")));
        }
        first.get_or_insert(found);
    }
    Ok(first)
}

fn launch(case: &Case, queue: &Queue, kernel: LooseKernel, limit: Duration) -> Result<()> {
    fn extent<const D: usize>(all: &[u32]) -> [usize; D] {
        std::array::from_fn(|d| all.get(d).map_or(1, |&extent| extent as usize))
    }
    let mut options = LaunchOptions::new().shared_len(case.shared_len).time_limit(limit);
    if case.warp_size > 0 {
        options = options.warp_size(case.warp_size);
    }
    macro_rules! of_rank {
        ($($rank:literal)+) => {
            match case.kernel.rank {
                $($rank => {
                    let spec = ThreadSpec::<$rank>::new(extent::<$rank>(&case.blocks), extent::<$rank>(&case.threads));
                    queue.launch_with::<$rank>(options, spec, kernel)
                })+
                rank => Err(Error::check(format!("there are no launches of rank {rank}"))),
            }
        };
    }
    of_rank!(1 2 3 4)
}

/// The payload of a NaN is not promised.
fn canonical(ty: Type, raw: u64) -> u64 {
    if !ty.is_float() || eval::unary(UnaryOp::IsNan, ty, raw) == 0 {
        return raw;
    }
    eval::cast(Type::F64, ty, f64::NAN.to_raw())
}

/// A difference between the outcomes of two devices.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// An element of a buffer differs.
    Element {
        /// The view's name.
        view: &'static str,
        /// The number of the element in its buffer, in row-major order; of elements of several numbers, that number's.
        index: usize,
        /// The type of the element.
        ty: Type,
        /// The raw words of the first and of the second device.
        values: [u64; 2],
        /// How many elements differ.
        count: usize,
    },
    /// The lines that were printed differ.
    Printed([String; 2]),
    /// One device saw a fault and the other one did not.
    Fault([Option<Box<Fault>>; 2]),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Element { view, index, ty, values: [left, right], count } => {
                let (x, y) = (value_text(*ty, *left), value_text(*ty, *right));
                write!(f, "element {index} of `{view}` is {x} on the one and {y} on the other; {count} differ")
            }
            Difference::Printed([left, right]) => write!(f, "on the one was printed:\n{left}\non the other:\n{right}"),
            Difference::Fault(faults) => {
                let [left, right] =
                    faults.each_ref().map(|fault| fault.as_ref().map_or("no fault".to_owned(), ToString::to_string));
                write!(f, "on the one: {left}; on the other: {right}")
            }
        }
    }
}

fn value_text(ty: Type, raw: u64) -> String {
    format!("{} ({raw:#x} as {ty})", eval::debug(ty, raw))
}

/// Runs a case on two devices and finds where they differ. Of faults it counts only whether there was one: which of
/// several came first is not promised.
///
/// # Errors
/// Whatever went wrong on either but faults; see [`cannot`].
pub fn differs(case: &Case, a: &Device, b: &Device) -> Result<Option<Difference>> {
    let outcomes = (outcome(case, a)?, outcome(case, b)?);
    Ok(compare(case, &outcomes.0, &outcomes.1))
}

/// Finds where two outcomes of a case differ.
pub fn compare(case: &Case, a: &Outcome, b: &Outcome) -> Option<Difference> {
    let mut first = None;
    let mut count = 0;
    for (view, (left, right)) in case.views().zip(a.buffers.iter().zip(&b.buffers)) {
        for (index, (&x, &y)) in left.iter().zip(right).enumerate().filter(|(_, (x, y))| x != y) {
            count += 1;
            let ty = view.numbers[index % view.numbers.len()];
            first.get_or_insert((view.name, index, ty, [x, y]));
        }
    }
    match first {
        Some((view, index, ty, values)) => Some(Difference::Element { view, index, ty, values, count }),
        None if a.printed != b.printed => {
            Some(Difference::Printed([&a.printed, &b.printed].map(|printed| printed.concat())))
        }
        None if a.fault.is_some() != b.fault.is_some() => Some(Difference::Fault([a.fault.clone(), b.fault.clone()])),
        None => None,
    }
}
