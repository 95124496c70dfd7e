//! Launches: their checks, their execution, and the errors of their faults.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::allocate::MEMORY;
use super::config::Config;
use super::context::{self, Work};
use super::lock::lock;
use super::module::{self, Function};
use super::status::{Done, Status};
use crate::machine::grid::Launch;
use crate::machine::shape::Shape;
use crate::machine::{Failure, Fault};

/// The shape and the stream that a launch asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The threads per block in each dimension.
    pub block: [u32; 3],
    /// The dynamic shared memory in bytes.
    pub dynamic: u32,
    /// The stream's handle.
    pub stream: usize,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
}

static LAUNCHES: AtomicU64 = AtomicU64::new(0);
static INSTRUCTIONS: AtomicU64 = AtomicU64::new(0);
static LAST: Mutex<String> = Mutex::new(String::new());

/// How many PTX instructions the launches that have ended without a fault have executed.
pub fn instructions() -> u64 {
    INSTRUCTIONS.load(Ordering::Relaxed)
}

/// The message of the last failed launch; empty if none has failed.
pub fn last_failure() -> String {
    lock(&LAST).clone()
}

/// The driver's error code for a fault.
fn status(fault: &Fault) -> Status {
    match fault {
        Fault::Illegal { .. } => Status::ERROR_ILLEGAL_ADDRESS,
        Fault::Misaligned { .. } => Status::ERROR_MISALIGNED_ADDRESS,
        Fault::Trap | Fault::Unwritten { .. } | Fault::Stuck => Status::ERROR_LAUNCH_FAILED,
        Fault::Barrier | Fault::Mask { .. } => Status::ERROR_ILLEGAL_INSTRUCTION,
    }
}

fn report(failure: &Failure) {
    let text = failure.to_string();
    eprintln!("soft-cuda: {text}");
    *lock(&LAST) = text;
}

/// Checks a request against the limits of device and kernel; returns the number of places for blocks.
fn check(function: &Function, request: &Request) -> Done<u32> {
    let config = Config::get();
    let kernel = function.kernel();
    let [x, y, z] = request.grid;
    let grid = (1..=i32::MAX as u32).contains(&x) && (1..=65535).contains(&y) && (1..=65535).contains(&z);
    let [bx, by, bz] = request.block;
    let block = (1..=1024).contains(&bx) && (1..=1024).contains(&by) && (1..=64).contains(&bz);
    if !grid || !block || bx * by * bz > 1024 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let threads = bx * by * bz;
    if threads > module::most_threads(kernel) || kernel.exact_threads.is_some_and(|exact| exact != request.block) {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    if request.dynamic > function.most_dynamic.load(Ordering::Relaxed) {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let places = module::resident(function, threads, request.dynamic.into()) * config.sms;
    if places == 0 {
        return Err(Status::ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    if request.cooperative && u64::from(x) * u64::from(y) * u64::from(z) > u64::from(places) {
        return Err(Status::ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(places)
}

/// Launches a kernel with its parameter space.
///
/// # Errors
/// The request exceeds the limits of the device or the kernel, or the stream cannot be used.
pub fn launch(function: &Arc<Function>, request: Request, params: Vec<u8>) -> Done {
    let (stream, context) = context::resolve(request.stream)?;
    module::belongs(function, &context)?;
    let places = check(function, &request)?;
    let config = Config::get();
    let number = LAUNCHES.fetch_add(1, Ordering::Relaxed) + 1;
    let injected = config.launch_error.filter(|(launch, _)| *launch == number).map(|(_, error)| error);
    let function = function.clone();
    let devices = context.reaches.load(Ordering::Acquire);
    let work: Work = Box::new(move |_| {
        if let Some(error) = injected {
            return Err(error);
        }
        let Request { grid, block, dynamic, .. } = request;
        let launch = Launch {
            kernel: function.kernel(),
            constants: &function.module.image.constants,
            params: &params,
            shape: Shape { grid, block, dynamic, places },
            sms: config.sms,
            devices,
            pace: config.pace,
        };
        match launch.run(&MEMORY) {
            Ok(count) => {
                INSTRUCTIONS.fetch_add(count, Ordering::Relaxed);
                Ok(())
            }
            Err(failure) => {
                report(&failure);
                Err(status(&failure.fault))
            }
        }
    });
    context.enqueue(&stream, work);
    Ok(())
}
