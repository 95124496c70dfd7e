//! A kernel given as data, with its arguments, for the devices that take the intermediate representation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wattle_core::{
    Arg, Argument, Atomic, Bound, Buffer, IntoArg, Kernel, KernelIdentity, KernelInfo, Launch, Result, Shared, Thread,
};
use wattle_ir::Site;

static INFO: KernelInfo =
    KernelInfo::new("oracle", Site { file: "case", line: 0, column: 0 }, &["data", "flags", "seen"]);

/// The representation of one launch's kernel, with an identifier that is unique in this process.
pub struct Code {
    kernel: wattle_ir::Kernel,
    number: u64,
}

impl Code {
    pub fn new(kernel: wattle_ir::Kernel) -> Code {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Code { kernel, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
    }
}

/// A kernel of three parameters.
#[derive(Clone)]
pub struct Given {
    code: Arc<Code>,
    data: Bound<Shared<u32>>,
    flags: Bound<Atomic<u32>>,
    seen: Bound<Shared<u32>>,
}

impl Given {
    pub fn new(code: &Arc<Code>, data: &Buffer<u32>, flags: &Buffer<u32>, seen: &Buffer<u32>) -> Given {
        Given {
            code: code.clone(),
            data: IntoArg::<Shared<u32>>::into_arg(data),
            flags: IntoArg::<Atomic<u32>>::into_arg(flags),
            seen: IntoArg::<Shared<u32>>::into_arg(seen),
        }
    }
}

// SAFETY: `run` touches nothing, and all arguments are visited.
unsafe impl Kernel for Given {
    fn info(&self) -> &'static KernelInfo {
        &INFO
    }

    fn rank(&self) -> usize {
        1
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        let name = INFO.parameters.get(number)?;
        Some(match number {
            0 => self.data.argument(name),
            1 => self.flags.argument(name),
            _ => self.seen.argument(name),
        })
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        thread.assert(false, "a kernel that is given as data has no function for the host");
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        wattle_ir::verify(&self.code.kernel)?;
        Ok(self.code.kernel.clone())
    }

    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<Given>(self.code.number)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(self.clone())
    }
}

// SAFETY: its rank is 1.
unsafe impl Launch<1> for Given {}
